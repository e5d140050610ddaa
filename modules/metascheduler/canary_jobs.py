"""How many jobs of a new campaign try a cluster before it is known that its tasks succeed there; pure.

Long form: docs/explanation/scheduling.md#how-much, under Scouts.
"""

from math import inf
from typing import NamedTuple

from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.flow.views.cluster_demands import ClusterDemand

DOUBLINGS_OF_TRUST = 20  # at most; a million times as many jobs
FEW_ENDS = 3  # times the scouts are tried at once, where that is cheap, before anything is seen to run
SHORTEST_TASK = 1e-3  # seconds that a task is thought to take at least


class CanaryLimit(NamedTuple):
    """How many jobs try a cluster for a new campaign: `jobs`, and more where they cost less than `stake` core-seconds.

    What fails after `seconds` is found by no scout, as jobs that run then count as proven. As long as no task has
    succeeded anywhere, most failures come at once: besides the first few no more than run. No `jobs`: any number try.
    """

    jobs: int = 0
    stake: float = 0.0
    seconds: float = inf

    def most(self, want: ClusterDemand) -> int:
        """Live jobs that the campaign may have there: the larger of two.

        By trust: jobs * 2^proven. By cost: stake / (width * seconds of a job), for so many core-seconds are lost if all
        fail; a job counts for the mean duration there, or for `seconds` if that is less or nothing is known. As long as
        nothing is known no more by cost than FEW_ENDS * jobs and one for each that was seen to run.
        """
        if not self.jobs:
            return LARGEST_INTEGER
        seconds = self.seconds if want.mean is None else min(self.seconds, want.mean)
        cheap = min(LARGEST_INTEGER, self.stake / (max(seconds, SHORTEST_TASK) * want.width))
        if want.mean is None:
            cheap = min(cheap, FEW_ENDS * self.jobs + max(0, want.live - want.queued))
        return max(self.jobs << min(want.successes, DOUBLINGS_OF_TRUST), int(cheap))


ANY_NUMBER = CanaryLimit()
