"""When a task would be done on a cluster, as far as it is known; pure."""

from math import exp, expm1, inf, isnan, log1p
from sys import float_info

LARGEST_EXPOSURE = 50.0  # of duration times hazard; beyond, a task never ends there, whatever the figures


def expected_seconds(mean: float, delay: float, hazard: float) -> float:
    """Seconds from being sent to the end: a task waits, runs, and begins again whenever it is killed.

    mean: seconds that it runs undisturbed; delay: seconds in the queue, each time; hazard: kills per second of running.

    It is assumed that kills come at random, at the same rate whatever the age of a run, and that a killed run leaves
    nothing behind. A run then comes to its end with probability e^(-hazard mean), so that e^(hazard mean) of them are
    begun; each lasts (1 - e^(-hazard mean)) / hazard in the mean, all together (e^(hazard mean) - 1) / hazard.
    """
    exposure = hazard * mean
    if exposure >= 1e-9:  # not so where it is nan: 0 kills in a task without end are 0
        exposure = min(LARGEST_EXPOSURE, exposure)
        seconds = exp(exposure) * delay + expm1(exposure) / hazard
    else:
        seconds = delay + mean
    return inf if isnan(seconds) else seconds


def longest_within(seconds: float, delay: float, hazard: float) -> float:
    """The longest task (mean) of which `expected_seconds` are no more than that; below 0: none.

    The inverse: e^(hazard mean) (delay + 1 / hazard) = seconds + 1 / hazard, solved for the mean.
    """
    if seconds == inf:
        return inf
    left = seconds - delay
    if isnan(left):
        return -inf
    if not hazard * max(left, 0.0) >= 1e-9:
        return left
    if hazard == inf:
        return 0.0
    begun = max(0.0, min(float_info.max, hazard * left / (1.0 + hazard * max(delay, 0.0))))
    return log1p(begun) / hazard
