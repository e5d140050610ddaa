"""Black holes: nodes on which tasks fail, vanish or end at once far more than on the other nodes of a cluster; pure.

Tasks are compared with those of the same campaign on the other nodes, so that a campaign that fails everywhere accuses
nobody: of a node that is no worse than the others so many bad ends would be seen less often than once in a million.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cigri.estimates.durations import added, bin_of
from modules.updator.sink_clusters import LONGEST_SWALLOWED, PART_HERE, TOO_RARE, chernoff_bound, compare

LEAST_ON_OTHER_NODES = 10  # ended tasks of the campaign on other nodes
MOST_SUSPECTS = 20


class NodeTally(NamedTuple):
    """The latest tasks of a campaign that ended on a node: how long the successful ones took, and how many were bad.

    `bad` failed, vanished, or died with the node. `running`: how long others have run so far. `on_trial`: the node's
    exclusion has expired, and these are of later.
    """

    campaign_id: int
    node: str
    durations: Sequence[int]
    bad: int
    running: Sequence[int] = ()
    on_trial: bool = False

    @property
    def is_quick(self) -> bool:
        """May some have ended at once?"""
        return any(self.durations[: bin_of(LONGEST_SWALLOWED)])


class SickNode(NamedTuple):
    """Of `ended` tasks there `bad` failed and `quick` ended at once; `expected` of them as elsewhere.

    `doubted`: by campaign, the seconds in which they did so.
    """

    node: str
    ended: int
    bad: int
    quick: int
    expected: float
    doubted: Mapping[int, float]

    def __str__(self) -> str:
        words = [f"{self.bad} failed or vanished"] if self.bad else []
        words += [f"{self.quick} ended at once"] if self.quick else []
        return f"of {self.ended} tasks {' and '.join(words)}, {self.expected:.1f} would as on the other nodes"


class NodeVerdicts(NamedTuple):
    """The accused, the worst first; and of those on trial the ones where tasks are done as they should be."""

    holes: list[SickNode]
    healed: list[str]


def find_holes(
    tallies: Sequence[NodeTally], elsewhere: Mapping[int, Sequence[Sequence[int]]], trusted: Iterable[int] = ()
) -> NodeVerdicts:
    """`elsewhere`: durations on other clusters of campaigns that have tallies that are quick or on trial.

    In `trusted` campaigns tasks may end at once.
    """
    trusting = frozenset(trusted)
    on_trial = {tally.node for tally in tallies if tally.on_trial}
    holes: list[SickNode] = []
    while True:  # one by one, since each is compared with the nodes that are not accused
        left = [tally for tally in tallies if tally.node not in {hole.node for hole in holes}]
        suspects = [_add_up(node, left, elsewhere, trusting) for node in _suspects(left)]
        accused = [hole for hole in suspects if _is_hole(hole, is_known=hole.node in on_trial)]
        if not accused:
            return NodeVerdicts(holes, [hole.node for hole in suspects if hole.node in on_trial and hole.ended > 0])
        holes.append(max(accused, key=lambda hole: hole.bad + hole.quick))


def _suspects(tallies: Sequence[NodeTally]) -> list[str]:
    """Nodes worth a look: those with the most bad and quick ends, and those on trial."""
    worse: Counter[str] = Counter()
    for tally in tallies:
        worse[tally.node] += tally.bad + sum(tally.durations[: bin_of(LONGEST_SWALLOWED)])
    on_trial = {tally.node for tally in tallies if tally.on_trial}
    return sorted(on_trial | {node for node, number in worse.most_common(MOST_SUSPECTS) if number})


def _add_up(
    node: str, tallies: Sequence[NodeTally], elsewhere: Mapping[int, Sequence[Sequence[int]]], trusted: frozenset[int]
) -> SickNode:
    """What ended on the node, of the campaigns that have enough elsewhere to be compared with.

    `expected`, if the node were as others: of its ended tasks the part that is bad on other nodes, (bad + 1) / (ended
    + 2) by Laplace's rule so that it is never 0; of its successful ones the chance to be quick (swallowing_clusters).
    """
    ended = bad = quick = 0
    expected, doubted = 0.0, {}
    for here in (tally for tally in tallies if tally.node == node):
        campaign = here.campaign_id
        others = [tally for tally in tallies if tally.campaign_id == campaign and tally.node != node]
        doubt = None
        if (here.is_quick or here.on_trial) and campaign not in trusted:
            lasting = [added([tally.durations, tally.running]) for tally in others] + list(elsewhere.get(campaign, ()))
            doubt = compare(here.durations, lasting)
        ended_elsewhere = sum(map(_ended, others))
        if doubt is None and ended_elsewhere < LEAST_ON_OTHER_NODES:
            continue
        ended += _ended(here)
        if ended_elsewhere >= LEAST_ON_OTHER_NODES:
            bad += here.bad
            expected += _ended(here) * (sum(tally.bad for tally in others) + 1) / (ended_elsewhere + 2)
        if doubt is not None and doubt.quick:
            quick += doubt.quick
            expected += sum(here.durations) * doubt.chance
            doubted[campaign] = doubt.below
    return SickNode(node, ended, bad, quick, min(expected, float(ended)), doubted)


def _ended(tally: NodeTally) -> int:
    return sum(tally.durations) + tally.bad


def _is_hole(hole: SickNode, *, is_known: bool) -> bool:
    """A node that was excluded before has to do better at once."""
    worse = hole.bad + hole.quick
    if worse < PART_HERE * hole.ended or not worse:
        return False
    return (is_known and worse >= 2 * hole.expected) or chernoff_bound(
        worse, hole.ended, hole.expected / hole.ended
    ) < TOO_RARE
