"""How fast a campaign goes and in which interval it ends, from successful tasks' real durations; pure."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from cigri.durations import added, quantile
from cigri.flow.anyone_to_predictor import Progress

SHORTEST_WINDOW = 1.0  # seconds; a rate over less says nothing
DEVIATIONS = 1.645  # of a normal variable, on each side of an interval that holds it with a probability of 90 %
LITTLE_KNOWN = 0.35  # relative deviation of an end before the throughput has been seen: cores come and go
DRIFT = 0.1  # relative deviation of a steady throughput in what is left of the window's length; more beyond
MOST_DRIFT = 0.5
MINUTE = 60.0
SURE = 0.95  # that what is still to run does not last longer


class Interval(NamedTuple):
    """Seconds from now: the expected end, and what it lies between with a probability of 90 %."""

    low: float
    expected: float
    high: float


def together(parts: Sequence[Progress]) -> Progress:
    """A campaign on all its clusters; what they do per minute varies independently."""
    seconds = max(part.window_seconds for part in parts)
    tasks = sum(part.window_tasks for part in parts)
    minutes = max(seconds / MINUTE, 1.0)
    squares = sum(_variance(part) for part in parts) * minutes + tasks**2 / minutes
    return Progress(
        parts[0].campaign_id,
        0,
        max(part.width for part in parts),
        sum(part.done for part in parts),
        sum(part.seconds for part in parts),
        sum(part.squares for part in parts),
        tasks,
        seconds,
        sum(part.running for part in parts),
        sum(part.waiting for part in parts),
        parts[0].remaining,
        squares,
        added(part.durations for part in parts),
        average=_average(parts),
        known=parts[0].known,
        expected=parts[0].expected,
        longest=parts[0].longest,
        guess=fmean(guesses) if (guesses := [part.guess for part in parts if part.guess]) else None,
    )


def _average(parts: Sequence[Progress]) -> float | None:
    """Each counts for the tasks that it has done."""
    known = [(part.average, part.done) for part in parts if part.average is not None and part.done]
    done = sum(number for _, number in known)
    return sum(average * number for average, number in known) / done if done else None


def throughput(part: Progress) -> float | None:
    """Successful tasks per hour in the window; None before the first."""
    if not part.window_tasks:
        return None
    return part.window_tasks * 3600.0 / max(part.window_seconds, SHORTEST_WINDOW)


def mean(part: Progress) -> float | None:
    """Seconds of a successful task, those of late counting for more; None before the first."""
    if part.average is not None or not part.done:
        return part.average
    return part.seconds / part.done


def estimate(part: Progress) -> float | None:
    """Seconds that one of the remaining tasks is expected to take, on the mean.

    As it took when it last succeeded, else as those of its campaign do, else as its user thinks.
    """
    others = usual(part)
    if not part.known or not part.remaining:
        return others
    last = part.expected / part.known
    share = min(part.known / part.remaining, 1.0)
    return share * last + (1.0 - share) * (last if others is None else others)


def usual(part: Progress) -> float | None:
    """The same of a task of which nothing is known by itself."""
    average = mean(part)
    return part.guess if average is None else average


def deviation(part: Progress) -> float | None:
    """Standard deviation of the duration, in seconds; None before the second success."""
    if part.done < 2:
        return None
    variance = (part.squares - part.seconds**2 / part.done) / (part.done - 1)
    return math.sqrt(max(variance, 0.0))


def remaining_seconds(part: Progress, rate: float | None) -> float | None:
    """Until the last task ends: by the average duration at the start, by the throughput after two durations.

    A running task is half done on average. None while nothing is known: of how many run at a time, before any does.
    """
    if not part.remaining:
        return 0.0
    average = estimate(part)
    if average is None or not (part.done or part.running):
        return None
    left = _left(part)
    if _is_steady(part, rate) and rate:
        return left * 3600.0 / rate * average / (mean(part) or average)
    return left * average / max(part.running, 1)


def interval(part: Progress, rate: float | None, hazard: float = 0.0) -> Interval | None:
    """The end with its uncertainty: the less is known, the wider; None while nothing is known.

    The time until all are done is uncertain by a factor (log-normal). The end is that of the longest of the last tasks:
    n run side by side, so it is the n-th part of the longest that lasts longer than it. hazard: kills per second of a
    task; the longest of those that are killed begins again.
    """
    done = remaining_seconds(part, rate)
    if done is None or not part.remaining:
        return None if done is None else Interval(0.0, 0.0, 0.0)
    breadth = math.exp(DEVIATIONS * _relative(part, rate, done))
    average = estimate(part) or 0.0
    last = max(min(part.running, part.remaining), 1)
    again = last * -math.expm1(-hazard * average)
    expected = max(done + max(longest(part, last, 0.5) - average, 0.0), average / 2)
    low = done / breadth - (quantile(part.durations, 0.95) or 0.0) / 2
    high = max(done * breadth, expected) + longest(part, last, SURE) + longest(part, again, SURE)
    return Interval(max(low, 0.0), expected, high)


def longest(part: Progress, tasks: float, chance: float) -> float:
    """Seconds that the longest of so many tasks does not exceed with this chance."""
    return (quantile(part.durations, chance ** (1.0 / tasks)) or 0.0) if tasks > 1e-3 else 0.0


def _relative(part: Progress, rate: float | None, expected: float) -> float:
    """Relative deviation of the expected time: what was seen is a sample, and what is left is another one."""
    spread = ((deviation(part) or 0.0) / max(mean(part) or 0.0, 1e-9)) ** 2
    if _is_steady(part, rate):
        drift = min(DRIFT * math.sqrt(1.0 + expected / part.window_seconds), MOST_DRIFT)
        sampled = 1.0 / part.window_tasks + spread / _left(part)
        return math.sqrt(_of_throughput(part, expected) ** 2 + drift**2 + sampled)
    return math.sqrt(LITTLE_KNOWN**2 + (1.0 + spread) / max(part.done, 1) + spread / _left(part))


def _of_throughput(part: Progress, expected: float) -> float:
    """Of the mean of what is done per minute: as it was seen in the window, and as it will vary until the end."""
    minutes = max(part.window_seconds / MINUTE, 1.0)
    ahead = max(expected / MINUTE, 1.0)
    return math.sqrt(_variance(part) * (1.0 / minutes + 1.0 / ahead)) * minutes / part.window_tasks


def _variance(part: Progress) -> float:
    """Of the number of tasks done in a minute of the window."""
    minutes = max(part.window_seconds / MINUTE, 1.0)
    return max(part.window_squares / minutes - (part.window_tasks / minutes) ** 2, 0.0)


def _left(part: Progress) -> float:
    return max(part.remaining - part.running / 2, 0.5)


def _is_steady(part: Progress, rate: float | None) -> bool:
    return bool(rate and part.window_tasks) and part.window_seconds >= 2 * (mean(part) or math.inf)
