"""When a task would be done on a cluster, as far as it is known; pure."""

from math import expm1, log1p

LONGEST = 50.0  # of duration times hazard; beyond, a task never ends there, whatever the figures


def expected_seconds(mean: float, delay: float, hazard: float) -> float:
    """From being sent to its end: it waits, runs, and begins again whenever it is killed.

    mean: seconds that it runs undisturbed; delay: seconds in the queue, each time; hazard: kills per second of running.
    With kills at random, all runs together last (e^(hazard mean) - 1) / hazard, and e^(hazard mean) of them are begun.
    """
    exposure = min(hazard * mean, LONGEST)
    if exposure < 1e-9:
        return delay + mean
    return (1 + expm1(exposure)) * delay + expm1(exposure) / hazard


def longest_within(seconds: float, delay: float, hazard: float) -> float:
    """The longest task (mean) of which `expected_seconds` are no more than that; below 0: none."""
    left = seconds - delay
    if hazard * max(left, 0.0) < 1e-9:
        return left
    return log1p(hazard * left / (1.0 + hazard * delay)) / hazard
