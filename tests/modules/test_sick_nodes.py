"""Which nodes are black holes: by the same campaign's tasks on other nodes, and never by chance."""

from math import comb
from random import Random

import pytest

from cigri.estimates.durations import counted
from modules.updator.sick_nodes import NodeTally, find_holes
from modules.updator.sink_clusters import chernoff_bound


def a_tally(
    node: str, done: int, bad: int = 0, *, seconds: float = 100.0, campaign: int = 1, trial: bool = False
) -> NodeTally:
    return NodeTally(campaign, node, counted([seconds] * done), bad, (), trial)


GOOD = [a_tally(f"n{number}", 10) for number in range(4)]
CASES = {
    "all fail on one": ([*GOOD, a_tally("sick", 0, 6)], ["sick"]),
    "most fail on one": ([*GOOD, a_tally("sick", 3, 9)], ["sick"]),
    "some fail on one": ([*GOOD, a_tally("sick", 10, 8)], []),
    "two failures are bad luck": ([*GOOD, a_tally("sick", 0, 2)], []),
    "all end at once on one": ([*GOOD, a_tally("sick", 40, seconds=0.1)], ["sick"]),
    "all nodes fail": ([a_tally(f"n{number}", 2, 20) for number in range(5)], []),
    "one node is all there is": ([a_tally("sick", 0, 50)], []),
    "nobody knows how it is elsewhere": ([a_tally("sick", 0, 50), a_tally("n1", 9)], []),
    "of several campaigns a little each": (
        [a_tally(f"n{node}", 4, campaign=campaign) for campaign in range(4) for node in range(3)]
        + [a_tally("sick", 0, 3, campaign=campaign) for campaign in range(4)],
        ["sick"],
    ),
    "the worse goes first": ([*GOOD, a_tally("a", 0, 6), a_tally("b", 0, 60)], ["b", "a"]),
    "on trial one failure is too much": ([*GOOD, a_tally("sick", 0, 1, trial=True)], ["sick"]),
    "on trial, in a campaign that fails everywhere": (
        [a_tally("n1", 1, 40), a_tally("sick", 0, 1, trial=True)],
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_node_that_is_far_worse_than_the_others_is_accused(case: str) -> None:
    tallies, holes = CASES[case]
    assert [hole.node for hole in find_holes(tallies, {}).holes] == holes


def test_other_clusters_tell_how_long_tasks_last() -> None:
    alone = [a_tally("sick", 40, seconds=0.1)]
    (hole,) = find_holes(alone, {1: [counted([300.0] * 20)]}).holes
    assert (hole.quick, hole.ended, hole.bad) == (40, 40, 0)
    assert hole.doubted[1] == pytest.approx(10.0, rel=0.2)
    assert str(hole) == "of 40 tasks 40 ended at once, 1.8 would as on the other nodes"
    assert find_holes(alone, {2: [counted([300.0] * 20)]}).holes == []


def test_a_trusted_campaign_may_end_its_tasks_at_once() -> None:
    tallies = [*GOOD, a_tally("sick", 40, seconds=0.1)]
    assert find_holes(tallies, {}, trusted=[1]).holes == []
    assert find_holes([*tallies, a_tally("sick", 0, 90)], {}, trusted=[1]).holes != []


def test_a_node_on_trial_is_healed_by_a_task_that_lasts() -> None:
    found = find_holes([*GOOD, a_tally("was", 1, trial=True)], {})
    assert (found.holes, found.healed) == ([], ["was"])
    assert find_holes(GOOD, {}).healed == []


def test_equal_nodes_are_not_accused_by_chance() -> None:
    """A thousand clusters of ten nodes, where three in ten tasks fail anywhere."""
    luck, accused = Random(1), 0
    for _ in range(1000):
        bad = [sum(luck.random() < 0.3 for _ in range(10)) for _ in range(10)]
        accused += len(find_holes([a_tally(f"n{node}", 10 - many, many) for node, many in enumerate(bad)], {}).holes)
    assert accused == 0


def test_the_bound_of_the_tail_is_one() -> None:
    assert chernoff_bound(2, 10, 0.2) == 1.0
    assert chernoff_bound(5, 5, 0.1) == pytest.approx(1e-5)
    exactly = sum(comb(20, count) * 0.1**count * 0.9 ** (20 - count) for count in range(10, 21))
    assert exactly < chernoff_bound(10, 20, 0.1) < 10 * exactly
    assert chernoff_bound(3000, 6000, 0.1) < 1e-300


def test_tasks_that_still_run_tell_how_long_tasks_last_and_nothing_of_failures() -> None:
    running = [NodeTally(1, f"n{number}", (), 0, counted([60.0] * 3)) for number in range(4)]
    assert [hole.node for hole in find_holes([*running, a_tally("sick", 9, seconds=0.1)], {}).holes] == ["sick"]
    assert find_holes([*running, a_tally("first", 0, 9)], {}).holes == []
