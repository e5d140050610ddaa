"""What people see of failed tasks: those that failed alike in one entry, and how to have them done again."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.failures import ErrorView, FailureGroup
from cigri.cli.command import DONE, escape_text, print_error, print_json
from cigri.formats.id_ranges import as_ranges
from cigri.formats.json_values import to_json_value
from cigri.lifecycle.task_failures import TASK_FAILED, TaskFailure, last_stderr_line
from cigri.presentation.exit_codes import explain
from cigri.presentation.failure_groups import failure_group, group_failures, headline
from cigri.presentation.formatting import format_time
from cigri.states import Outcome

if TYPE_CHECKING:
    from cigri.api_models.events import EventView

ENDED = re.compile(rf"({'|'.join(Outcome)}), exit code (\d+|None)")
MOST_READ = 10_000  # events
MOST_KINDS = 5  # under a campaign
MOST_RANGES = 10
GATHERED_FROM = 3  # events that are alike


def show_failed(campaign: CampaignView, kinds: Sequence[FailureGroup], *, as_json: bool) -> int:
    """All kinds, and what may be done."""
    if as_json:
        print_json(to_json_value(kinds))
    elif kinds:
        for line in _lines(campaign, kinds):
            print(escape_text(line))
    else:
        print_error(f"no task of campaign {campaign.id} has failed")
    return DONE


def print_kinds(campaign: CampaignView, kinds: Sequence[FailureGroup]) -> None:
    """The most frequent kinds, under a campaign."""
    print()
    for kind in kinds[:MOST_KINDS]:
        print(escape_text(headline(kind)))
    left = f"{len(kinds) - MOST_KINDS} other kinds of failures; " if len(kinds) > MOST_KINDS else ""
    seen = sum(kind.number for kind in kinds)
    cut = f"the last {seen} of {campaign.failed} were looked at; " if campaign.failed > seen else ""
    print(
        f"{cut}{left}`gridstat --failed {campaign.id}` shows the tasks, `gridsub --resubmit {campaign.id}` redoes them"
    )


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


def _lines(campaign: CampaignView, kinds: Sequence[FailureGroup]) -> Iterator[str]:
    for kind in kinds:
        yield headline(kind)
        if kind.means:
            yield f"    exit code {kind.exit_code}: {kind.means}"
        job = f"; `gridstat -j {kind.last_job} -E` shows all that the last one wrote" if kind.last_job else ""
        yield f"    task{'s' if kind.number > 1 else ''} {as_ranges(kind.tasks, MOST_RANGES)}{job}"
    seen, first = sum(kind.number for kind in kinds), min(kind.tasks[0] for kind in kinds)
    if campaign.failed > seen:
        yield f"the last {seen} of {campaign.failed} failed tasks were looked at"
    yield f"`gridsub --resubmit {campaign.id}` does them again, with --tasks {first} only that one"
