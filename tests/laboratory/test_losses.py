"""Which lost work counts as avoidable."""

import pytest

from modules.laboratory.cluster.meters import LostRun, WasteKind
from modules.laboratory.evaluation.avoidable_losses import ClusterHistory, avoidable, held, lowest

FULL = [(0.0, 0.0)]
FULL_OF_OURS = [(0.0, 8.0)]
QUIET = ClusterHistory([], FULL, FULL_OF_OURS)


def loss(
    kind: WasteKind = WasteKind.PREEMPTED, since: float = 1000.0, until: float = 1100.0, cores: int = 2
) -> LostRun:
    return LostRun(kind, since, until, cores, cores * (until - since))


@pytest.mark.parametrize("kind", [WasteKind.KILLED, WasteKind.TIMEOUT])
def test_what_we_kill_ourselves_is_avoidable(kind: WasteKind) -> None:
    assert avoidable({"here": ClusterHistory([loss(kind)], FULL, FULL_OF_OURS)}) == {"here": 200.0}


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [
        ([(0.0, 0.0)], 0.0),
        ([(0.0, 2.0)], 200.0),
        ([(0.0, 1.0)], 0.0),
        ([(0.0, 2.0), (1050.0, 1.0), (1060.0, 2.0)], 0.0),
        ([(0.0, 0.0), (1000.0, 2.0), (1100.0, 0.0)], 200.0),
    ],
)
def test_a_job_for_which_another_cluster_had_room_all_the_time_need_not_have_died(
    elsewhere: list[tuple[float, float]], expected: float
) -> None:
    found = avoidable(
        {"here": ClusterHistory([loss()], [(0.0, 9.0)], FULL_OF_OURS), "there": ClusterHistory([], elsewhere, FULL)}
    )
    assert found == {"here": expected, "there": 0.0}


def test_a_kill_is_foreseen_where_most_was_lost_before() -> None:
    """Ours held 8 cores for 900 s: 7,200 core-seconds; what ended before that, or after the start, is no warning."""
    before = LostRun(WasteKind.NODE_FAILED, 0.0, 500.0, 8, 3601.0)
    assert avoidable({"here": ClusterHistory([before, loss()], FULL, FULL_OF_OURS), "there": QUIET})["here"] == 200.0
    for harmless in (before._replace(work=3600.0), before._replace(until=100.0), before._replace(until=1001.0)):
        assert avoidable({"here": ClusterHistory([harmless, loss()], FULL, FULL_OF_OURS)})["here"] == 0.0


def test_the_least_and_the_integral_of_a_figure() -> None:
    points = [(0.0, 4.0), (10.0, 1.0), (20.0, 6.0)]
    assert [lowest(points, since, until) for since, until in ((0, 5), (5, 15), (15, 30), (20, 21), (0, 10))] == [
        *(4.0, 1.0, 1.0, 6.0, 4.0)
    ]
    assert [held(points, since, until) for since, until in ((0, 5), (5, 15), (15, 30))] == [20.0, 25.0, 65.0]
