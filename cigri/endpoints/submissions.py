"""Campaigns are submitted, looked at without being submitted, and get more tasks.

What is sent is one JSON value a line: first the description (an object, or a text in DIRAC's language), then the
parameters, if they do not stand in it: those of its `params`, or the lines of its `param_file`, blank ones too.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from cigri.api_models.simulations import SimulationView
from cigri.api_models.submissions import AddedTasks, BackendOptionTableView, CheckedCampaign, SubmittedCampaign
from cigri.endpoints import (
    Access,
    BackgroundCalculation,
    calculation_endpoint,
    read_endpoint,
    upload_endpoint,
    with_settings,
)
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import USUAL_ROWS, PageLimit
from cigri.endpoints.parameters import OwnPriority, about
from cigri.endpoints.request_bodies import SpooledBody, SpooledLines
from cigri.errors import DescriptionError, UsageError
from cigri.identity.callers import Caller
from cigri.states import AfterWhen

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.settings.sections import Settings
    from cigri.submission.dry_run import ExaminedDescription, SubmissionOptions
    from cigri.submission.feedback import SubmissionFeedback

LONGEST_KEY = 200
LONGEST_PLACE = 4096  # characters of a path
MOST_CAMPAIGNS_SENT = 100  # campaigns at once
FAILS = "no task fails in a simulation: it is played as if what it waits for had failed"
CampaignKind = Literal["default", "test"]
BACKEND_OPTIONS_BY = KeyPagination("backend_options", {"driver": str})


def _campaign_place(made: SubmittedCampaign, _asked: "Mapping[str, Any]") -> str:
    return f"campaigns/{made.id}"


def _stages_place(made: list[SubmittedCampaign], _asked: "Mapping[str, Any]") -> str:
    return f"../campaigns?ids={','.join(str(one.id) for one in made)}"


@upload_endpoint("/campaigns", Access.EVERYBODY, created=_campaign_place, sends_description=True)
@with_settings
def submit_campaign(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    type: CampaignKind | None = None,
    priority: OwnPriority | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    behind: list[str] | None = None,
    key: str = "",
    sent_from: str = "",
) -> SubmittedCampaign:
    """Store the campaign that is described, under your name; sent again with the same key within a day, once."""
    from cigri.flow.submissions import IdempotencyKey
    from cigri.submission.dry_run import check_submission, wishes_of
    from cigri.submission.feedback import SubmissionFeedback
    from cigri.submission.storing import list_stored, store

    _require_key(key)
    _require_place(sent_from)
    sent = IdempotencyKey(key, body.digest(type, priority, local, backend, *(behind or ()))) if key else None
    remarks, wishes = SubmissionFeedback(), wishes_of(type, priority, local, backend, behind)
    examined = check_submission(database, settings, caller, body.first(), SpooledLines(body, 1), wishes, remarks)
    if remarks.problems or examined.description is None:
        if stored := list_stored(database, caller.user, sent):
            return stored[0]
        raise DescriptionError(remarks.problems)
    return store(database, settings, caller, examined, remarks.notes, sent, sent_from)


@upload_endpoint("/campaigns/check", Access.EVERYBODY, sends_description=True)
@with_settings
def check_campaign(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    type: CampaignKind | None = None,
    priority: OwnPriority | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    behind: list[str] | None = None,
) -> CheckedCampaign:
    """What would be stored, and all for which it would be refused."""
    from cigri.submission.dry_run import check_submission, wishes_of
    from cigri.submission.feedback import SubmissionFeedback
    from cigri.submission.preview import checked

    remarks, wishes = SubmissionFeedback(), wishes_of(type, priority, local, backend, behind)
    examined = check_submission(database, settings, caller, body.first(), SpooledLines(body, 1), wishes, remarks)
    return checked(examined, remarks, caller.user)


@upload_endpoint(
    "/campaigns/stages", Access.EVERYBODY, created=_stages_place, most_rows=MOST_CAMPAIGNS_SENT, sends_description=True
)
@with_settings
def submit_stages(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    type: CampaignKind | None = None,
    priority: OwnPriority | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    behind: list[str] | None = None,
    lines: list[int] | None = None,
    key: str = "",
    sent_from: str = "",
) -> list[SubmittedCampaign]:
    """Store campaigns of which later ones wait for earlier ones, by their names: all of them, or none."""
    from cigri.flow.submissions import IdempotencyKey
    from cigri.submission.dry_run import wishes_of
    from cigri.submission.storing import list_stored, store_stages

    _require_key(key)
    _require_place(sent_from)
    sent = IdempotencyKey(key, body.digest(type, priority, local, backend, behind, lines)) if key else None
    stages = _examine(database, settings, caller, body, lines, wishes_of(type, priority, local, backend, behind))
    if problems := [problem for _, remarks in stages for problem in remarks.problems]:
        if stored := list_stored(database, caller.user, sent):
            return stored
        raise DescriptionError(problems)
    return store_stages(
        database, settings, caller, [(examined, remarks.notes) for examined, remarks in stages], sent, sent_from
    )


@upload_endpoint("/campaigns/stages/check", Access.EVERYBODY, most_rows=MOST_CAMPAIGNS_SENT, sends_description=True)
@with_settings
def check_stages(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    type: CampaignKind | None = None,
    priority: OwnPriority | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    behind: list[str] | None = None,
    lines: list[int] | None = None,
) -> list[CheckedCampaign]:
    """What would be stored of them, and all for which they would be refused."""
    from cigri.submission.dry_run import wishes_of
    from cigri.submission.preview import checked

    stages = _examine(database, settings, caller, body, lines, wishes_of(type, priority, local, backend, behind))
    return [checked(examined, remarks, caller.user) for examined, remarks in stages]


@calculation_endpoint("/campaigns/simulate", Access.EVERYBODY, SimulationView)
@with_settings
def simulate_campaigns(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    type: CampaignKind | None = None,
    priority: OwnPriority | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    behind: list[str] | None = None,
    lines: list[int] | None = None,
) -> BackgroundCalculation[SimulationView]:
    """When it would end if it were submitted now, or several would, stages too; nothing is."""
    from cigri.submission.dry_run import wishes_of
    from cigri.submission.simulation_process import LaboratoryProcess
    from cigri.submission.simulation_request import question_about

    campaigns = _examine(database, settings, caller, body, lines, wishes_of(type, priority, local, backend, behind))
    if problems := [problem for _, remarks in campaigns for problem in remarks.problems]:
        raise DescriptionError(problems)
    descriptions = [examined.description for examined, _ in campaigns if examined.description]
    for description, (_, remarks) in zip(descriptions, campaigns, strict=True):
        remarks.notes += [FAILS] if any(each.when is AfterWhen.FAILURE for each in description.after) else []
    notes = [remarks.notes for _, remarks in campaigns]
    laboratory = LaboratoryProcess(question_about(database, settings, descriptions, caller), notes)
    return BackgroundCalculation(caller.user, laboratory.answer, laboratory.end)


def _require_key(key: str) -> None:
    if len(key) > LONGEST_KEY:
        raise UsageError(f"key: has more than {LONGEST_KEY} characters", "key")


def _require_place(sent_from: str) -> None:
    if len(sent_from) > LONGEST_PLACE or not (sent_from or "/").startswith("/"):
        raise UsageError(f"sent_from: expected an absolute path of at most {LONGEST_PLACE} characters", "sent_from")


def _examine(
    database: "Database",
    settings: "Settings",
    caller: Caller,
    body: SpooledBody,
    lines: list[int] | None,
    wishes: "SubmissionOptions",
) -> "list[tuple[ExaminedDescription, SubmissionFeedback]]":
    """Several campaigns one behind the other; what is said beside a description of what it waits for holds where it
    says nothing."""
    from cigri.submission.dry_run import check_submission
    from cigri.submission.feedback import SubmissionFeedback

    counts = lines or [body.count]
    if len(counts) > MOST_CAMPAIGNS_SENT or min(counts) < 1 or sum(counts) != body.count:
        at_most = f"at most {MOST_CAMPAIGNS_SENT} numbers from 1 on"
        raise UsageError(f"lines: {body.count} lines were sent; say how many each campaign has, {at_most}", "lines")
    first, stages, campaigns = 0, dict[str, int](), []
    for count in counts:
        remarks, beside, described = (
            SubmissionFeedback(),
            SpooledLines(body, first + 1, first + count),
            body.first(first),
        )
        says_itself = len(counts) > 1 and isinstance(described, dict) and described.get("after") is not None
        asked = wishes.without("after") if says_itself else wishes
        examined = check_submission(database, settings, caller, described, beside, asked, remarks, stages)
        if (description := examined.description) is not None:
            stages[description.name] = description.count
        campaigns.append((examined, remarks))
        first += count
    return campaigns


@upload_endpoint("/campaigns/{campaign_id}/tasks", Access.OWNER)
@with_settings
def add_tasks(
    database: "Database",
    caller: Caller,
    settings: "Settings",
    body: SpooledBody,
    *,
    campaign_id: int,
    check: bool = False,
    task_inputs: str = "",
) -> AddedTasks:
    """Tasks with these parameters, one a line, unless it is only to be checked whether they could be added."""
    from cigri.submission.more_tasks import add

    lines = SpooledLines(body, 0)
    return AddedTasks(
        campaign_id, add(database, settings, caller, campaign_id, lines, is_check=check, task_inputs=task_inputs)
    )


@read_endpoint("/backend-options", Access.EVERYBODY, BACKEND_OPTIONS_BY)
def backend_options(
    conn: "Connection",
    _caller: Caller,
    *,
    clusters: list[str] | None = None,
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[BackendOptionTableView]:
    """What the batch systems of these clusters take in their own spelling, or those of all."""
    from cigri.flow.clusters import list_every_cluster
    from cigri.submission.backend_options import tables

    with about("clusters"):
        found = tables({cluster.name: cluster.config for cluster in list_every_cluster(conn)}, clusters or [])
    return page_of(found, BACKEND_OPTIONS_BY, after, limit)
