"""How long the tasks of a campaign last, as far as anybody knows; pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

CV = 0.3  # of tasks of which only a mean is known
GUESS = 0.15  # deviation of the logarithm of what a user expects: 90 % are within a quarter of the truth
DRIFT = 0.05  # the same of what was measured, however many tasks there were
SPREAD = 20.0  # when nothing is known, 90 % of campaigns last from a twentieth of the walltime to all of it
NORMAL = 1.645  # deviations on each side of 90 %
FEWEST_FOR_MEAN = 3  # tasks on a cluster, from which its own mean is known
FULLEST = 0.95  # of the walltime: a longer task is none that a user would send


@dataclass(frozen=True)
class DurationTotals:
    """Tasks that succeeded, their seconds, and the squares of these."""

    done: int = 0
    seconds: float = 0.0
    squares: float = 0.0

    def __add__(self, other: "DurationTotals") -> "DurationTotals":
        return DurationTotals(self.done + other.done, self.seconds + other.seconds, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """Seconds of a task, a hundredth at least; ZeroDivisionError: none has succeeded."""
        return max(self.seconds / self.done, 0.01)

    @property
    def cv(self) -> float:
        """The coefficient of variation; CV as long as fewer than FEWEST_FOR_MEAN have succeeded."""
        if self.done < FEWEST_FOR_MEAN:
            return CV
        return math.sqrt(max(self.squares / self.done - self.mean**2, 0.0)) / self.mean


NO_TASKS = DurationTotals()


@dataclass(frozen=True)
class TaskDurationModel:
    """Seconds of a task by cluster, their coefficient of variation, and how far the mean may be off.

    `doubt`: deviation of the mean's logarithm; `longest` seconds fit the walltime; `source`: who says so.
    """

    means: Mapping[int, float]
    longest: Mapping[int, float]
    cv: float
    doubt: float
    source: str

    @property
    def mean(self) -> float:
        """Seconds, over all clusters alike."""
        return sum(self.means.values()) / len(self.means)

    def draw(self, cluster_id: int, luck: Random, error: float, together: int = 1) -> float:
        """Seconds of `together` tasks one after the other; `error`: deviations by which the mean is off.

        The mean of so many is drawn, log-normal with the square of the variation divided by their number.
        """
        mean = min(self.means[cluster_id] * math.exp(self.doubt * error), self.longest[cluster_id])
        variance = math.log1p(self.cv**2 / together)
        drawn = luck.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))
        return together * min(drawn, self.longest[cluster_id])


def durations(
    past: Mapping[int, DurationTotals],
    said: Mapping[int, int | None],
    walltimes: Mapping[int, int],
    same: DurationTotals = NO_TASKS,
    share: float = 0.0,
) -> TaskDurationModel:
    """For the clusters of `walltimes`: what was measured, else what the user said, else what the walltime tells.

    `same`: what these very tasks took, a `share` of all, wherever they ran; clusters are as fast as they were measured.
    """
    longest = {cluster: FULLEST * seconds for cluster, seconds in walltimes.items()}
    every = sum(past.values(), DurationTotals())
    if same.done:
        mean = share * same.mean + (1 - share) * every.mean if every.done else same.mean
        speeds = {
            cluster: _mean(past.get(cluster, DurationTotals()), every) / every.mean
            for cluster in walltimes
            if every.done
        }
        means = {cluster: mean * speeds.get(cluster, 1.0) for cluster in walltimes}
        doubt = math.hypot(max(same.cv, 0.1) / math.sqrt(same.done), DRIFT)
        return TaskDurationModel(means, longest, same.cv, doubt, f"{same.done} of these tasks, which ran before")
    if every.done:
        means = {cluster: _mean(past.get(cluster, DurationTotals()), every) for cluster in walltimes}
        doubt = math.hypot(max(every.cv, 0.1) / math.sqrt(every.done), DRIFT)
        return TaskDurationModel(means, longest, every.cv, doubt, f"{every.done} earlier tasks of the same command")
    if guesses := [seconds for seconds in said.values() if seconds]:
        typical = sum(guesses) / len(guesses)
        means = {cluster: float(said.get(cluster) or typical) for cluster in walltimes}
        return TaskDurationModel(means, longest, CV, GUESS, "the duration in the description")
    means = {cluster: seconds / math.sqrt(SPREAD) for cluster, seconds in walltimes.items()}
    return TaskDurationModel(means, longest, CV, math.log(SPREAD) / 2 / NORMAL, "the walltime alone")


def _mean(here: DurationTotals, every: DurationTotals) -> float:
    return here.mean if here.done >= FEWEST_FOR_MEAN else every.mean
