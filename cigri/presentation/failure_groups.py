"""Failures of tasks, alike ones together; pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cigri.api_models.failures import FailureGroup
from cigri.lifecycle.task_failures import VARYING, TaskFailure
from cigri.presentation.exit_codes import explain
from cigri.states import Outcome


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
