"""What users wanted and got of an interval."""

from collections.abc import Mapping

import pytest

from cigri.flow.views.laboratory import CoreDemand
from modules.laboratory.evaluation.metrics import ServiceInterval
from modules.laboratory.evaluation.run_recorder import service


def demand(campaign: int, user: str, wanted: int) -> CoreDemand:
    return CoreDemand(campaign, user, 5, wanted, ("dahu",))


BOB = demand(2, "bob", 0)


@pytest.mark.parametrize(
    ("before", "after", "received", "expected"),
    [
        pytest.param([demand(1, "al", 8)], [demand(1, "al", 4)], {"al": 70}, 70 + 6 * 10, id="the mean of what waits"),
        pytest.param([demand(1, "al", 8)], [], {"al": 70}, 70 + 4 * 10, id="it ended"),
        pytest.param([demand(1, "al", 0)], [demand(1, "al", 0)], {"al": 7}, 7, id="its last task ended early"),
        pytest.param([demand(1, "al", 8)], [demand(1, "al", 8)], {}, 80, id="it got nothing"),
        pytest.param([demand(1, "al", 2), demand(3, "al", 4)], [], {"al": 7}, 7 + 30, id="two campaigns of one"),
        pytest.param([demand(1, "al", 2)], [demand(1, "al", 2), demand(3, "al", 9)], {}, 20, id="one that came late"),
    ],
)
def test_one_wants_what_one_gets_and_cores_for_what_waits(
    before: list[CoreDemand], after: list[CoreDemand], received: Mapping[str, float], expected: float
) -> None:
    (found,) = service(10.0, [*before, BOB], [*after, BOB], received)
    assert found == ServiceInterval({"al": received.get("al", 0.0), "bob": 0.0}, {"al": expected, "bob": 0.0})


def test_who_wanted_nothing_when_it_began_does_not_count() -> None:
    assert service(10.0, [BOB], [BOB, demand(1, "al", 8)], {"al": 50, "bob": 10}) == []
