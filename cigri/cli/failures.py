"""What people see of failed tasks: those that failed alike in one entry, and how to have them done again."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cigri.cli.command import DONE, complain, print_json, safe
from cigri.cli.wording import moment
from cigri.states import Outcome
from cigri.text.alike_failures import TASK_FAILED, TaskFailure, alike, as_ranges, headline, last_said
from cigri.text.exit_codes import explain

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.campaigns import CampaignView, ErrorView
    from cigri.flow.views.events import SeenEvent

ENDED = re.compile(rf"({'|'.join(Outcome)}), exit code (\d+|None)")
MOST_READ = 10_000
MOST_KINDS = 5  # under a campaign
MOST_RANGES = 10
GATHERED_FROM = 3  # events that are alike


def read_failures(conn: "Connection", campaign: "CampaignView") -> list[TaskFailure]:
    """The last ones, in order."""
    from cigri.flow.views.failures import list_failures

    return list_failures(conn, campaign.id, MOST_READ) if campaign.failed else []


def show_failed(conn: "Connection", campaign: "CampaignView", *, as_json: bool) -> int:
    """All kinds, and what may be done."""
    failures = read_failures(conn, campaign)
    if as_json:
        print_json(plain_kinds(failures))
    elif failures:
        for line in _lines(failures, campaign.failed):
            print(safe(line))
    else:
        complain(f"no task of campaign {campaign.id} has failed")
    return DONE


def print_kinds(failures: Sequence[TaskFailure], failed: int) -> None:
    """The most frequent kinds, under a campaign."""
    campaign_id = failures[0].campaign_id
    kinds = alike(failures)
    print()
    for some in kinds[:MOST_KINDS]:
        print(safe(headline(some)))
    left = f"{len(kinds) - MOST_KINDS} other kinds of failures; " if len(kinds) > MOST_KINDS else ""
    cut = f"the last {len(failures)} of {failed} were looked at; " if failed > len(failures) else ""
    print(
        f"{cut}{left}`gridstat --failed {campaign_id}` shows the tasks, `gridsub --resubmit {campaign_id}` redoes them"
    )


def plain_kinds(failures: Sequence[TaskFailure]) -> list[dict[str, Any]]:
    """For programs; `means` is what the exit code says, null where it is the program's own business."""
    return [
        {
            "number": len(some),
            "cluster": some[0].cluster,
            "outcome": some[0].outcome,
            "exit_code": some[0].exit_code,
            "means": explain(some[0].exit_code),
            "stderr_ends": next((failure.said for failure in reversed(some) if failure.said), None),
            "tasks": [failure.task for failure in some],
            "last_job": some[-1].job_id,
        }
        for some in alike(failures)
    ]


def gather(events: "Sequence[SeenEvent]") -> "list[list[SeenEvent]]":
    """In the order of events; failures of tasks that are many and alike together, where the last of them stands."""
    by_id = {event.id: event for event in events}
    failed = [event for event in events if event.code == TASK_FAILED]
    places: dict[int, list[SeenEvent]] = {}
    for is_open in (True, False):
        told = [_failure(event) for event in failed if (event.closed_at is None) is is_open]
        for some in alike(told):
            together = [by_id[failure.event_id or 0] for failure in some]
            together.sort(key=_id)
            entries = [together] if len(together) >= GATHERED_FROM else [[event] for event in together]
            places |= {entry[-1].id: entry for entry in entries}
    others = {event.id: [event] for event in events if event.code != TASK_FAILED}
    return [entry for _, entry in sorted((places | others).items())]


def gather_errors(errors: "Sequence[ErrorView]") -> "list[list[ErrorView]]":
    """The same of errors to fix, which tell in their messages how tasks ended."""
    by_id = {error.id: error for error in errors}
    entries = [[error] for error in errors if error.code != TASK_FAILED]
    for some in alike(_told(error) for error in errors if error.code == TASK_FAILED):
        together = sorted((by_id[failure.event_id or 0] for failure in some), key=_id)
        entries += [together] if len(together) >= GATHERED_FROM else [[error] for error in together]
    return sorted(entries, key=lambda together: together[-1].id)


def _told(error: "ErrorView") -> TaskFailure:
    ended = ENDED.match(error.message)
    outcome = Outcome(ended[1]) if ended else None
    exit_code = int(ended[2]) if ended and ended[2] != "None" else None
    about = (error.campaign_id, error.task_id or -1, error.cluster, outcome, exit_code)
    return TaskFailure(*about, last_said(error.message), error.job_id, error.id)


def gathered_text(events: "Sequence[SeenEvent]") -> str:
    """Several failures that are alike: their headline, then which events, tasks and jobs they are."""
    failures = [_failure(event) for event in events]
    last = events[-1]
    means = explain(last.exit_code)
    tasks = as_ranges(sorted(failure.task for failure in failures), MOST_RANGES)
    state = f"closed by {last.closed_by}" if last.closed_at else "open"
    return "\n".join(
        [
            headline(failures),
            *([f"    exit code {last.exit_code}: {means}"] if means else []),
            f"    campaign {last.campaign_id}, tasks {tasks}; {state}, the last at {moment(last.last_at)}",
            f"    events {as_ranges([event.id for event in events], MOST_RANGES)}",
            f"    `gridevents -e {last.id}` shows the last one, `gridstat -j {last.job_id} -E` all that its job wrote",
        ]
    )


def _failure(event: "SeenEvent") -> TaskFailure:
    task = -1 if event.task is None else event.task
    about = (event.campaign_id or 0, task, event.cluster, event.outcome, event.exit_code)
    return TaskFailure(*about, last_said(event.message), event.job_id, event.id)


def _id(event: "SeenEvent | ErrorView") -> int:
    return event.id


def _lines(failures: Sequence[TaskFailure], failed: int) -> Iterator[str]:
    for some in alike(failures):
        yield headline(some)
        if means := explain(some[0].exit_code):
            yield f"    exit code {some[0].exit_code}: {means}"
        job = f"; `gridstat -j {some[-1].job_id} -E` shows all that the last one wrote" if some[-1].job_id else ""
        tasks = as_ranges((failure.task for failure in some), MOST_RANGES)
        yield f"    task{'s' if len(some) > 1 else ''} {tasks}{job}"
    if failed > len(failures):
        yield f"the last {len(failures)} of {failed} failed tasks were looked at"
    campaign_id = failures[0].campaign_id
    yield f"`gridsub --resubmit {campaign_id}` does them again, with --tasks {failures[0].task} only that one"
