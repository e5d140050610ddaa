"""Failures as people read of them: events and errors that are many and alike in one entry."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.api_models.failures import ErrorView
from cigri.formats.id_ranges import as_ranges
from cigri.lifecycle.task_failures import TASK_FAILED, TaskFailure, last_stderr_line
from cigri.presentation.exit_codes import explain
from cigri.presentation.failure_groups import failure_group, group_failures, headline
from cigri.presentation.formatting import format_time
from cigri.states import Outcome

if TYPE_CHECKING:
    from cigri.api_models.events import EventView

ENDED = re.compile(rf"({'|'.join(Outcome)}), exit code (\d+|None)")
MOST_RANGES = 10
GATHERED_FROM = 3  # events that are alike


def group_events(events: "Sequence[EventView]") -> "list[list[EventView]]":
    """In the order of events; failures of tasks that are many and alike together, where the last of them stands."""
    by_id = {event.id: event for event in events}
    failed = [event for event in events if event.code == TASK_FAILED]
    places: dict[int, list[EventView]] = {}
    for is_open in (True, False):
        failures = [_failure_of_event(event) for event in failed if (event.closed_at is None) is is_open]
        for kind in group_failures(failures):
            together = [by_id[failure.event_id or 0] for failure in kind]
            together.sort(key=_id)
            entries = [together] if len(together) >= GATHERED_FROM else [[event] for event in together]
            places |= {entry[-1].id: entry for entry in entries}
    others = {event.id: [event] for event in events if event.code != TASK_FAILED}
    return [entry for _, entry in sorted((places | others).items())]


def gather_errors(errors: Sequence[ErrorView]) -> list[list[ErrorView]]:
    """The same of errors to fix, which tell in their messages how tasks ended."""
    by_id = {error.id: error for error in errors}
    entries = [[error] for error in errors if error.code != TASK_FAILED]
    for kind in group_failures(_failure_of_error(error) for error in errors if error.code == TASK_FAILED):
        together = sorted((by_id[failure.event_id or 0] for failure in kind), key=_id)
        entries += [together] if len(together) >= GATHERED_FROM else [[error] for error in together]
    return sorted(entries, key=lambda together: together[-1].id)


def _failure_of_error(error: ErrorView) -> TaskFailure:
    ended = ENDED.match(error.message)
    outcome = Outcome(ended[1]) if ended else None
    exit_code = int(ended[2]) if ended and ended[2] != "None" else None
    task, words = error.task_id or -1, last_stderr_line(error.message)
    return TaskFailure(error.campaign_id, task, error.cluster, outcome, exit_code, words, error.job_id, error.id)


def gathered_text(events: "Sequence[EventView]") -> str:
    """Several failures that are alike: their headline, then which events, tasks and jobs they are."""
    failures = [_failure_of_event(event) for event in events]
    last = events[-1]
    means = explain(last.exit_code)
    tasks = as_ranges(sorted(failure.task for failure in failures), MOST_RANGES)
    state = f"closed by {last.closed_by}" if last.closed_at else "open"
    return "\n".join(
        [
            headline(failure_group(failures)),
            *([f"    exit code {last.exit_code}: {means}"] if means else []),
            f"    campaign {last.campaign_id}, tasks {tasks}; {state}, the last at {format_time(last.last_at)}",
            f"    events {as_ranges([event.id for event in events], MOST_RANGES)}",
            f"    `gridevents -e {last.id}` shows the last one, `gridstat -j {last.job_id} -E` all that its job wrote",
        ]
    )


def _failure_of_event(event: "EventView") -> TaskFailure:
    task = -1 if event.task is None else event.task
    ended = (event.outcome, event.exit_code, last_stderr_line(event.message))
    return TaskFailure(event.campaign_id or 0, task, event.cluster, *ended, event.job_id, event.id)


def _id(event: "EventView | ErrorView") -> int:
    return event.id
