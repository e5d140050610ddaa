"""How fast bytes may go."""

from cigri.gateway.bandwidth_limits import BandwidthLimiter, piece_of


def test_each_waits_for_those_before_it() -> None:
    pace = BandwidthLimiter()
    assert [pace.due(100, 50.0, 10.0) for _ in range(3)] == [0.0, 2.0, 4.0]
    assert pace.due(100, 50.0, 100.0) == 0.0, "what was not used is no credit"
    assert pace.due(100, 50.0, 101.0) == 1.0


def test_pieces_are_small_where_the_line_is_slow() -> None:
    assert piece_of(1000, []) == 1000
    assert piece_of(1000, [(BandwidthLimiter(), 5000.0), (BandwidthLimiter(), 200.0)]) == 200
    assert piece_of(1000, [(BandwidthLimiter(), 0.1)]) == 1
