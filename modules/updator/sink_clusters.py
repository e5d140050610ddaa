"""Sinks: clusters where tasks end in nearly no time, without an error, while they last elsewhere; pure.

A cluster, or a node, is compared with the others of the same campaign, and only accused when
- the median elsewhere is at least SHORTEST_USUAL: of short tasks nothing can be said;
- at least half of its tasks, and LEAST of them, ended RATIO times sooner than that, and within LONGEST seconds: what
  lasts longer is work, however fast the machine;
- elsewhere, where most tasks last, hardly any did: a program may have tasks with nothing to do;
- by chance so many would be seen less often than once in a million.
Elsewhere is a vote in which each has as many voices as tasks, VOICES at the most; a tie accuses nobody.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import exp, log
from typing import NamedTuple, TypeVar

from cigri.estimates.durations import added, bin_of, edge, quantile

SHORTEST_USUAL = 10.0  # seconds
RATIO = 20.0
LONGEST_SWALLOWED = 10.0  # seconds
LEAST_ENDED = 10  # tasks that ended so soon here
LEAST_ELSEWHERE = 10  # voices
VOICES = 20
PART_HERE = 0.5
PART_ELSEWHERE = 0.1
NEARLY_HALF = 0.4999  # the lower of two middles
TOO_RARE = 1e-6

Key = TypeVar("Key", bound=Hashable)


class QuickEndEvidence(NamedTuple):
    """`quick` of the `ended` tasks took less than `below` seconds; the median elsewhere is `usual` seconds.

    `chance`: how probable it is for one task to be so quick, by those elsewhere.
    """

    below: float
    quick: int
    ended: int
    usual: float
    chance: float


def find_sinks(durations: Mapping[Key, Sequence[int]], on_trial: Collection[Key] = ()) -> dict[Key, QuickEndEvidence]:
    """The accused among clusters; `durations` of their tasks, in the bins of cigri/estimates/durations.py.

    Of those `on_trial`, which were sinks before, one task is enough.
    """
    return {
        key: doubt
        for key, counts in durations.items()
        if (doubt := compare(counts, [other for name, other in durations.items() if name != key]))
        and _is_sink(doubt, is_known=key in on_trial)
    }


def compare(here: Sequence[int], others: Sequence[Sequence[int]]) -> QuickEndEvidence | None:
    """How many ended in nearly no time; None when the others do not last, or are too few to say."""
    elsewhere = added([_voices(counts) for counts in others if any(counts)])
    usual = quantile(elsewhere, NEARLY_HALF)
    if usual is None or sum(elsewhere) < LEAST_ELSEWHERE - 1e-6 or usual < SHORTEST_USUAL:
        return None
    place = bin_of(min(usual / RATIO, LONGEST_SWALLOWED))
    lasting = added([_voices(counts) for counts in others if sum(counts[:place]) < PART_HERE * sum(counts)])
    chance = (sum(lasting[:place]) + 1) / (sum(lasting) + 2)
    return QuickEndEvidence(edge(place), sum(here[:place]), sum(here), usual, chance)


def chernoff_bound(least: int, tries: int, probability: float) -> float:
    """At most so probable are `least` or more of so many tries, when each has this probability, by itself.

    Chernoff's bound e^(-tries D) with D = q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)), q = least / tries.
    """
    part = least / tries
    if part <= probability:
        return 1.0
    distance = part * log(part / probability)
    if part < 1:
        distance += (1 - part) * log((1 - part) / (1 - probability))
    return exp(-tries * distance)


def _is_sink(doubt: QuickEndEvidence, *, is_known: bool) -> bool:
    if not doubt.quick or doubt.quick < PART_HERE * doubt.ended or doubt.chance > PART_ELSEWHERE:
        return False
    return is_known or (
        doubt.quick >= LEAST_ENDED and chernoff_bound(doubt.quick, doubt.ended, doubt.chance) < TOO_RARE
    )


def _voices(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [min(1.0, VOICES / total) * count for count in counts]
