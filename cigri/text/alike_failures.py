"""Failures of tasks, alike ones together; pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cigri.states import Outcome
from cigri.text.harmless import NEWLINE

TASK_FAILED = "TASK_FAILED"
STDERR = "; stderr ends: "
"""In the message of an event, before what the task has written last."""
VARYING_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")


class TaskFailure(NamedTuple):
    """How a task, by its number, failed last. `said`: the last line of its standard error, "" when nobody read it."""

    campaign_id: int
    task: int
    cluster: str | None
    outcome: Outcome | None
    exit_code: int | None
    said: str
    job_id: int | None = None
    event_id: int | None = None

    @property
    def how(self) -> str:
        if self.outcome in (Outcome.FAILURE, None):
            return f"exit {self.exit_code}" if self.exit_code is not None else "failure"
        return self.outcome.replace("_", " ") + (f", exit {self.exit_code}" if self.exit_code else "")


def last_said(message: str) -> str:
    """The last line of standard error that an event's message holds."""
    _, _, said = message.partition(STDERR)
    return next((line.strip() for line in reversed(said.replace(NEWLINE, "\n").splitlines()) if line.strip()), "")


def alike(failures: Iterable[TaskFailure]) -> list[list[TaskFailure]]:
    """Of one campaign, one cluster, one exit code, and one last line but for its numbers; the most first.

    Standard error of a few only is read in each visit: the others are counted with most of those that ended as they.
    """
    kinds: dict[tuple[object, ...], dict[str, list[TaskFailure]]] = defaultdict(lambda: defaultdict(list))
    for failure in failures:
        ended_so = kinds[failure.campaign_id, failure.cluster, failure.how]
        ended_so[VARYING_NUMBERS.sub("#", failure.said)].append(failure)
    for ended_so in kinds.values():
        silent = ended_so.pop("", [])
        if silent:
            ended_so[max(ended_so, key=lambda said: len(ended_so[said]), default="")] += silent
    together = [sorted(some, key=_task) for ended_so in kinds.values() for some in ended_so.values()]
    return sorted(together, key=lambda some: (-len(some), some[0].campaign_id, some[0].task))


def headline(some: Sequence[TaskFailure]) -> str:
    """As "30 x exit 5 on localhost: boom", of failures that are alike."""
    where = f" on {some[0].cluster}" if some[0].cluster else ""
    said = next((failure.said for failure in reversed(some) if failure.said), "")
    return f"{len(some)} x {some[0].how}{where}" + (f": {said}" if said else "")


def as_ranges(numbers: Iterable[int], most: int | None = None) -> str:
    """As "0-2,5", of numbers in order; of more than `most` ranges the rest is counted."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = ranges[:most]
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in shown)
    left = sum(last - first + 1 for first, last in ranges[len(shown) :])
    return f"{text} and {left} more" if left else text


def _task(failure: TaskFailure) -> int:
    return failure.task
