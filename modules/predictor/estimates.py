"""How fast a campaign goes and how long it still takes, from successful tasks' real durations; pure."""

import math

from cigri.flow.updator_to_predictor import Progress

SHORTEST_WINDOW = 1.0  # seconds; a rate over less says nothing


def throughput(part: Progress) -> float | None:
    """Successful tasks per hour in the window; None before the first."""
    if not part.window_tasks:
        return None
    return part.window_tasks * 3600.0 / max(part.window_seconds, SHORTEST_WINDOW)


def deviation(part: Progress) -> float | None:
    """Standard deviation of the duration, in seconds; None before the second success."""
    if part.done < 2:
        return None
    variance = (part.squares - part.seconds**2 / part.done) / (part.done - 1)
    return math.sqrt(max(variance, 0.0))


def remaining_seconds(part: Progress, rate: float | None) -> float | None:
    """Until the last task ends: by the average duration at the start, by the throughput after two durations.

    A running task is half done on average. None while nothing is known.
    """
    if not part.remaining:
        return 0.0
    if not part.done:
        return None
    mean = part.seconds / part.done
    left = max(part.remaining - part.running / 2, 0.5)
    if part.window_seconds >= 2 * mean and rate:
        return left * 3600.0 / rate
    return left * mean / max(part.running, 1)
