"""Which clusters swallow tasks: those that end them at once while they last elsewhere, and no others."""

import pytest

from cigri.estimates.durations import counted
from modules.updator.sink_clusters import find_sinks


def lasting(seconds: float, number: int) -> list[int]:
    """Durations spread by a half around this."""
    return counted(seconds * (0.75 + 0.5 * place / max(1, number - 1)) for place in range(number))


def mixed(*groups: tuple[float, int]) -> list[int]:
    return counted(seconds for seconds, number in groups for _ in range(number))


LONG = lasting(500, 30)
CASES = {
    "one swallows": ({"sink": lasting(0.1, 12), "good": LONG}, {"sink"}),
    "one swallows most": ({"sink": mixed((0.1, 20), (500, 10)), "good": LONG}, {"sink"}),
    "two swallow, two do not": (
        {"a": lasting(0.1, 12), "b": lasting(0.3, 40), "c": LONG, "d": lasting(300, 25)},
        {"a", "b"},
    ),
    "nothing to compare with": ({"sink": lasting(0.1, 1000)}, set()),
    "too few here": ({"sink": lasting(0.1, 9), "good": LONG}, set()),
    "too few elsewhere": ({"sink": lasting(0.1, 1000), "good": lasting(500, 9)}, set()),
    "a merely faster cluster": ({"fast": lasting(26, 1000), "slow": LONG}, set()),
    "a very much faster cluster": ({"fast": lasting(11, 1000), "slow": lasting(5000, 1000)}, set()),
    "fifteen times faster": ({"fast": lasting(5, 1000), "slow": lasting(60, 1000)}, set()),
    "a third have nothing to do elsewhere, and here all": (
        {"a": mixed((0.1, 60)), "b": mixed((0.1, 10), (500, 20))},
        set(),
    ),
    "short tasks": ({"a": lasting(0.01, 1000), "b": lasting(9, 1000)}, set()),
    "a third have nothing to do, everywhere": (
        {"a": mixed((0.1, 300), (500, 600)), "b": mixed((0.1, 30), (500, 60))},
        set(),
    ),
    "some have nothing to do, and here most": (
        {"a": mixed((0.1, 90), (500, 10)), "b": mixed((0.1, 2), (500, 50))},
        {"a"},
    ),
    "fewer than half": ({"a": mixed((0.1, 49), (500, 51)), "b": LONG}, set()),
    "one against one against one": ({"a": lasting(0.1, 40), "b": lasting(0.1, 40), "c": lasting(500, 40)}, set()),
    "a thousand voices count no more than twenty": (
        {"a": lasting(0.1, 40), "b": lasting(0.1, 5000), "c": LONG, "d": LONG, "e": LONG},
        {"a", "b"},
    ),
    "half of a few": ({"a": mixed((0.1, 10), (500, 10)), "b": lasting(500, 10)}, set()),
    "nothing ended": ({"a": [], "b": LONG}, set()),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_cluster_that_swallows_is_accused(case: str) -> None:
    durations, sinks = CASES[case]
    assert set(find_sinks(durations)) == sinks


def test_the_figures_are_told() -> None:
    (doubt,) = find_sinks({"sink": mixed((0.1, 20), (480, 5)), "good": LONG}).values()
    assert (doubt.quick, doubt.ended) == (20, 25)
    assert doubt.chance == pytest.approx(1 / 22)
    assert doubt.below == pytest.approx(8.0, rel=0.3)  # not above 10 s, at the edge of a bin
    assert doubt.usual == pytest.approx(500, rel=0.1)


def test_one_task_is_enough_for_a_cluster_that_was_a_sink_before() -> None:
    durations = {"was": mixed((0.1, 1)), "good": LONG}
    assert find_sinks(durations) == {}
    assert set(find_sinks(durations, on_trial={"was"})) == {"was"}
    assert find_sinks({"was": mixed((0.1, 1), (500, 2)), "good": LONG}, on_trial={"was"}) == {}
