"""A campaign's page: how far it is, what keeps it, how tasks failed; and what its owner may do about that."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Query, Request
from pydantic import BaseModel, BeforeValidator
from starlette.responses import Response

from cigri.api_models.campaigns import CampaignClusterStatus, CampaignDetail
from cigri.api_models.dependencies import BlockedTasks
from cigri.api_models.failures import FailureGroup
from cigri.api_models.files import InputVersionView
from cigri.api_models.pending_reasons import ClusterExplanation
from cigri.api_models.tasks import FoundTasks
from cigri.endpoints import Endpoint
from cigri.endpoints.campaign_changes import (
    cancel_campaign,
    forget_campaign,
    hold_campaign,
    release_campaign,
    resubmit_tasks,
    set_priority,
)
from cigri.endpoints.campaigns import campaign, failures, strip
from cigri.endpoints.descriptions import description
from cigri.endpoints.dispatch import InProcessClient, SnapshotClient
from cigri.endpoints.events import events, fix_events
from cigri.endpoints.histories import cores, progress
from cigri.endpoints.inputs import campaign_inputs
from cigri.endpoints.paging import walk
from cigri.endpoints.pending_reasons import why
from cigri.endpoints.tasks import found_tasks, latest_tasks
from cigri.errors import CigriError, NotFound, UsageError
from cigri.formats.id_ranges import as_ranges, format_ids
from cigri.identity.callers import AccessScope, Caller
from cigri.lifecycle.dependency_gates import sentences
from cigri.lifecycle.task_failures import TASK_FAILED, VARYING
from cigri.presentation.failure_groups import describe_outcome
from cigri.presentation.inputs import SHOWN_DIGITS, were_replaced
from cigri.presentation.memory_use import memory_use
from cigri.states import TaskState
from modules.portal.change_stream import stamp_of
from modules.portal.output_archive import is_offered
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.campaign_row import TaskStrip, bar, expected_end, strip_of, undecided_failures
from modules.portal.rendering.description_text import LONGEST_DESCRIPTION, as_text, what_runs
from modules.portal.rendering.page_renderer import see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site
from modules.portal.rendering.progress_chart import cores_chart, ends_chart, progress_chart

SHOWN_TASKS, SHOWN_FAILURES = 50, 20
UNFOLDED_FAILURES = 2  # kinds that stand above the clusters, so that both are on the first screen
STRIP_AT_ONCE = 50_000  # tasks; with more, each of which is looked at, the strip comes behind the page
LONGEST_TOLD = 300  # characters of what a task wrote last
MOST_SHOWN_RANGES = 8
CHANGES_OF_CAMPAIGN: Mapping[str, Endpoint[..., Any]] = {
    "hold": hold_campaign,
    "release": release_campaign,
    "cancel": cancel_campaign,
    "forget": forget_campaign,
}
NONE_WHERE_EMPTY = BeforeValidator(lambda value: None if value == "" else value)


class TaskQuery(BaseModel):
    """Which of its tasks a campaign's page lists, as its address says; a form sends empty fields, too."""

    state: PlainText = ""
    cluster: PlainText = ""
    exit_code: Annotated[PlainNumber | None, NONE_WHERE_EMPTY] = None
    node: PlainText = ""
    parameter: PlainText = ""
    first: Annotated[PlainNumber | None, NONE_WHERE_EMPTY] = None
    last: Annotated[PlainNumber | None, NONE_WHERE_EMPTY] = None
    after: Annotated[PlainNumber | None, NONE_WHERE_EMPTY] = None
    order: PlainText = ""

    def asked(self) -> dict[str, Any]:
        """All that is said in it."""
        return self.model_dump(exclude_defaults=True)

    def address(self, **changed: object) -> str:
        """The same query with something changed."""
        return "?" + urlencode({**self.asked(), **changed})


class FailureRow(NamedTuple):
    """Tasks that failed alike; `key` names them in a form."""

    kind: FailureGroup
    key: str
    how: str
    said: str
    tasks: str
    address: str


class CampaignClusterRow(NamedTuple):
    """The campaign on one of its clusters."""

    share: CampaignClusterStatus
    why: str


class NumberRange(NamedTuple):
    """Tasks by their numbers, both ends are in it."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many tasks there are in it."""
        return self.last - self.first + 1


campaign_pages = PageRouter()


@campaign_pages.page("/campaigns/{campaign_id}")
def campaign_page(
    site: Site, request: Request, campaign_id: PlainNumber, query: Annotated[TaskQuery, Query()]
) -> Response:
    """Show a campaign: a range of its tasks with `first` and `last`, some of them with the filters of TaskQuery."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        whole = grid.call(campaign, campaign_id=campaign_id)
        zoom = _range(query.first, query.last, whole)
        found = _tasks(grid, campaign_id, query, zoom)
        described = _described(grid, caller, whole)
        reasons = walk(grid, why, campaign_id=campaign_id)
        inputs = _inputs(grid, caller, whole)
        cells = _strip(grid, campaign_id, zoom) if (zoom or all_tasks(whole)).size <= STRIP_AT_ONCE else None
        now = grid.now()
    kinds = whole.failures[:SHOWN_FAILURES]
    return site.show(
        request,
        "campaign.html",
        caller,
        clock=lambda: now,
        whole=whole,
        campaign=whole.campaign,
        stamp=stamp_of([whole.campaign]),
        parts=bar(whole.campaign),
        strip=cells,
        end=expected_end(whole.campaign),
        undecided=undecided_failures(whole.campaign) if whole.campaign.is_open else 0,
        after_others=sentences(whole.after, BlockedTasks(whole.campaign.blocked, whole.campaign.total)),
        shares=_shares(whole, reasons),
        memory=memory_use([share.part for share in whole.clusters]),
        described=as_text(described)[:LONGEST_DESCRIPTION] if described else "",
        what_runs=what_runs(described),
        inputs=inputs,
        digits=SHOWN_DIGITS,
        may_submit=bool(described) and caller.scope.allows(AccessScope.SUBMIT),
        failures=[shown_failure(kind) for kind in kinds],
        shown_tasks=SHOWN_TASKS,
        shown_first=UNFOLDED_FAILURES,
        left_out=len(whole.failures) - len(kinds),
        may_change=_may_change(caller, whole),
        tasks=found.tasks,
        how=describe_outcome,
        query=query,
        states=list(TaskState),
        sees=caller.sees(whole.campaign.user),
        has_archive=is_offered(site, caller, whole.campaign),
        zoom=zoom,
        strip_query=f"?{urlencode(zoom._asdict())}" if zoom else "",
        next=None if found.next is None else query.address(after=found.next),
    )


@campaign_pages.page("/campaigns/{campaign_id}/strip")
def strip_page(
    site: Site,
    request: Request,
    campaign_id: PlainNumber,
    first: PlainNumber | None = None,
    last: PlainNumber | None = None,
) -> Response:
    """Show all tasks of a campaign, or of a range, as one strip of colours."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        whole = grid.call(campaign, campaign_id=campaign_id)
        cells = _strip(grid, campaign_id, _range(first, last, whole))
    return site.show(request, "strip.html", caller, campaign=whole.campaign, strip=cells)


@campaign_pages.page("/campaigns/{campaign_id}/course")
def course_page(site: Site, request: Request, campaign_id: PlainNumber) -> Response:
    """Show how a campaign went on: its charts, without the page around them."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        whole, told = grid.call(campaign, campaign_id=campaign_id), grid.call(progress, campaign_id=campaign_id)
        had = grid.call(cores, campaign_id=campaign_id)
    found = whole.campaign
    charts = (progress_chart(told, found), ends_chart(told, found), cores_chart(had, found))
    return site.show(request, "course.html", caller, campaign=found, charts=[chart for chart in charts if chart])


@campaign_pages.form("/campaigns/{campaign_id}/priority")
def change_priority(site: Site, request: Request, campaign_id: PlainNumber, form: PageForm) -> Response:
    """Set the priority of a campaign among those of its owner."""
    grid = site.grid(site.changing(request, form))
    grid.call(set_priority, campaign_id=campaign_id, priority=_number(form.get("priority", "")))
    return see(f"/campaigns/{campaign_id}")


@campaign_pages.form("/campaigns/{campaign_id}/{action}")
def change_campaign(site: Site, request: Request, campaign_id: PlainNumber, action: str, form: PageForm) -> Response:
    """Hold, release, pause, resume or cancel a campaign."""
    grid = site.grid(site.changing(request, form))
    if action not in CHANGES_OF_CAMPAIGN:
        raise NotFound(f"nothing is called {action} that may be done to a campaign")
    grid.call(CHANGES_OF_CAMPAIGN[action], campaign_id=campaign_id)
    return see(f"/campaigns/{campaign_id}")


@campaign_pages.form("/campaigns/{campaign_id}/failures/{key}/{action}")
def change_failures(
    site: Site, request: Request, campaign_id: PlainNumber, key: str, action: str, form: PageForm
) -> Response:
    """Retry or ignore the tasks that failed alike, which `key` names."""
    grid = site.grid(site.changing(request, form))
    if action not in CHANGES_OF_FAILURES:
        raise NotFound(f"nothing is called {action} that may be done about failures")
    alike = [kind for kind in grid.call(failures, campaign_id=campaign_id) if key_of(kind) == key]
    if not alike:
        raise CigriError(f"no task of campaign {campaign_id} fails like this any more; look at it anew")
    CHANGES_OF_FAILURES[action](grid, campaign_id, alike[0], form)
    return see(f"/campaigns/{campaign_id}#failures")


def all_tasks(whole: CampaignDetail) -> NumberRange:
    return NumberRange(0, whole.campaign.total - 1)


def _range(first: int | None, last: int | None, whole: CampaignDetail) -> NumberRange | None:
    """The tasks that are looked at; None: all of them."""
    if first is None and last is None:
        return None
    end = all_tasks(whole).last
    chosen = NumberRange(first or 0, end if last is None else min(last, end))
    if chosen.first < 0 or chosen.size < 1:
        raise UsageError(f"there are no tasks from {first} to {last}: this campaign has the tasks 0 to {end}")
    return chosen


def _strip(grid: SnapshotClient, campaign_id: int, zoom: NumberRange | None) -> TaskStrip:
    return strip_of(grid.call(strip, campaign_id=campaign_id, **(zoom._asdict() if zoom else {})))


def shown_failure(kind: FailureGroup) -> FailureRow:
    """What a page tells of it, of bounded length."""
    said, ranges = kind.stderr_ends or "", as_ranges(kind.tasks, MOST_SHOWN_RANGES)
    listing = TaskQuery(state=TaskState.FAILED, cluster=kind.cluster or "", exit_code=kind.exit_code).address()
    how = describe_outcome(kind.outcome, kind.exit_code)
    return FailureRow(kind, key_of(kind), how, said[-LONGEST_TOLD:], ranges, listing)


def key_of(kind: FailureGroup) -> str:
    """By which it is found again, though more tasks may have failed like it meanwhile."""
    said = VARYING.sub("#", kind.stderr_ends or "")
    return sha256(repr((kind.cluster, kind.outcome, kind.exit_code, said)).encode()).hexdigest()[:16]


def _retry(grid: InProcessClient, campaign_id: int, kind: FailureGroup, form: Mapping[str, str]) -> None:
    """With the amounts that are typed, or with those that they had."""
    spans = [part.partition("-") for part in as_ranges(kind.tasks).split(",")]
    chosen = [(int(first), int(last or first)) for first, _, last in spans]
    mem, walltime = (form.get(name, "").strip() for name in ("mem", "walltime"))
    grid.call(resubmit_tasks, campaign_id=campaign_id, tasks=chosen, mem=mem, walltime=walltime)


def _ignore(grid: InProcessClient, campaign_id: int, kind: FailureGroup, _form: Mapping[str, str]) -> None:
    """Their events are closed: the campaign may end with them as they are."""
    failed, still_open = set(kind.tasks), walk(grid, events, campaigns=str(campaign_id))
    ids = [event.id for event in still_open if event.code == TASK_FAILED and event.task in failed]
    if not ids:
        raise CigriError("these failures were ignored before")
    grid.call(fix_events, ids=format_ids(ids))


CHANGES_OF_FAILURES: Mapping[str, Callable[[InProcessClient, int, FailureGroup, Mapping[str, str]], None]] = {
    "retry": _retry,
    "ignore": _ignore,
}


def _tasks(grid: SnapshotClient, campaign_id: int, query: TaskQuery, zoom: NumberRange | None) -> FoundTasks:
    """Those launched last, where nothing else is asked for."""
    asked = query.asked()
    if not asked:
        return FoundTasks(grid.call(latest_tasks, campaign_id=campaign_id, limit=SHOWN_TASKS), None)
    within = zoom._asdict() if zoom else {}
    return grid.call(found_tasks, campaign_id=campaign_id, limit=SHOWN_TASKS, **asked | within)


def _shares(whole: CampaignDetail, reasons: list[ClusterExplanation]) -> list[CampaignClusterRow]:
    by_cluster = {reason.cluster: reason.why for reason in reasons}
    return [
        CampaignClusterRow(share, by_cluster.get(share.part.cluster) or share.obstacle.explanation)
        for share in whole.clusters
    ]


def _described(grid: SnapshotClient, caller: Caller, whole: CampaignDetail) -> dict[str, Any]:
    """Nothing of it for others than its owner."""
    if not caller.sees(whole.campaign.user):
        return {}
    return grid.call(description, campaign_id=whole.campaign.id).described


def _inputs(grid: SnapshotClient, caller: Caller, whole: CampaignDetail) -> list[InputVersionView]:
    """All versions of them, for its owner, where there is more than one."""
    if not caller.sees(whole.campaign.user):
        return []
    inputs = grid.call(campaign_inputs, campaign_id=whole.campaign.id).inputs
    return inputs if were_replaced(inputs) else []


def _may_change(caller: Caller, whole: CampaignDetail) -> bool:
    return caller.owns(whole.campaign.user) and caller.scope.allows(AccessScope.SUBMIT)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"priority: {text!r} is no number") from None
