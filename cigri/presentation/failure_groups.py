"""Failures of tasks, alike ones together; pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cigri.api_models.failures import FailureGroup
from cigri.formats.untrusted_text import NEWLINE
from cigri.presentation.exit_codes import explain
from cigri.states import Outcome

TASK_FAILED = "TASK_FAILED"
STDERR = "; stderr ends: "
"""In the message of an event, before what the task has written last."""
VARYING = re.compile(
    r"(?<![\w/.])(?:~|\.{1,2})?(?:/[^\s/:;,'\"()<>\[\]]+)+/?"  # paths
    r"|0x[0-9a-f]+|\b(?=[a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\b"  # addresses, digests, UUIDs
    r"|\d+(?:\.\d+)?(?:e[+-]?\d+)?",
    re.IGNORECASE,
)
"""What differs between messages that mean the same."""


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


def last_stderr_line(message: str) -> str:
    """The last line of standard error that an event's message holds."""
    _, _, said = message.partition(STDERR)
    return next((line.strip() for line in reversed(said.replace(NEWLINE, "\n").splitlines()) if line.strip()), "")


def group_failures(failures: Iterable[TaskFailure]) -> list[list[TaskFailure]]:
    """Groups of one campaign, one cluster, one exit code, and one last line but for its numbers and paths; the
    largest first.

    Standard error of a few only is read in each visit: the others are counted with most of those that ended as they.
    """
    kinds: dict[tuple[object, ...], dict[str, list[TaskFailure]]] = defaultdict(lambda: defaultdict(list))
    for failure in failures:
        ended_so = kinds[failure.campaign_id, failure.cluster, describe_outcome(failure.outcome, failure.exit_code)]
        ended_so[VARYING.sub("#", failure.said)].append(failure)
    for ended_so in kinds.values():
        silent = ended_so.pop("", [])
        if silent:
            ended_so[max(ended_so, key=lambda said: len(ended_so[said]), default="")] += silent
    together = [sorted(failures, key=_task) for ended_so in kinds.values() for failures in ended_so.values()]
    return sorted(together, key=lambda group: (-len(group), group[0].campaign_id, group[0].task))


def failure_group(failures: Sequence[TaskFailure]) -> FailureGroup:
    """What is told of failures that are alike, sorted by their tasks."""
    first, last = failures[0], failures[-1]
    return FailureGroup(
        number=len(failures),
        cluster=first.cluster,
        outcome=first.outcome,
        exit_code=first.exit_code,
        means=explain(first.exit_code),
        stderr_ends=next((failure.said for failure in reversed(failures) if failure.said), None),
        tasks=[failure.task for failure in failures],
        last_job=last.job_id,
    )


def headline(kind: FailureGroup) -> str:
    """As "30 x exit 5 on localhost: boom"."""
    where = f" on {kind.cluster}" if kind.cluster else ""
    said = f": {kind.stderr_ends}" if kind.stderr_ends else ""
    return f"{kind.number} x {describe_outcome(kind.outcome, kind.exit_code)}{where}{said}"


def describe_outcome(outcome: Outcome | None, exit_code: int | None) -> str:
    """As `exit 5`, or the outcome where it was no plain failure."""
    if outcome in (Outcome.FAILURE, None):
        return f"exit {exit_code}" if exit_code is not None else "failure"
    return outcome.replace("_", " ") + (f", exit {exit_code}" if exit_code else "")


def _task(failure: TaskFailure) -> int:
    return failure.task
