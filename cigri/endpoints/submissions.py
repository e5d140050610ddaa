"""Campaigns are submitted, looked at without being submitted, and get more tasks.

What is sent is one JSON value a line: first the description (an object, or a text in DIRAC's language), then the
parameters, if they do not stand in it: those of its `params`, or the lines of its `param_file`, blank ones too.
"""

from typing import TYPE_CHECKING, Literal

from cigri.answers.simulations import Simulation
from cigri.answers.submissions import AddedTasks, BackendTableView, CheckedCampaign, SubmittedCampaign
from cigri.endpoints import Calculation, May, calculates, reads, receives
from cigri.endpoints.bodies import Body, BodyLines
from cigri.errors import DescriptionError, Problem, UsageError
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database

LONGEST_KEY = 200
MOST_SIMULATED = 100  # campaigns at once
CampaignKind = Literal["default", "test"]


@receives("/campaigns", May.EVERYBODY)
def submit_campaign(
    database: "Database",
    caller: Caller,
    body: Body,
    *,
    type: CampaignKind | None = None,
    priority: int | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    key: str = "",
) -> SubmittedCampaign:
    """Store the campaign that is described, under your name; sent again with the same key within a day, once."""
    from cigri.flow.submissions import SentKey
    from cigri.submission.examining import examine, wishes_of
    from cigri.submission.remarks import Remarks
    from cigri.submission.storing import find_stored, store

    if len(key) > LONGEST_KEY:
        raise UsageError(f"key: has more than {LONGEST_KEY} characters")
    sent = SentKey(key, body.digest(type, priority, local, backend)) if key else None
    remarks, wishes = Remarks(), wishes_of(type, priority, local, backend)
    examined = examine(database, caller.user, body.first(), BodyLines(body, 1), wishes, remarks)
    if remarks.problems or examined.description is None:
        if (stored := find_stored(database, caller.user, sent)) is not None:
            return stored
        raise DescriptionError(remarks.problems)
    return store(database, caller, examined, remarks.notes, sent)


@receives("/campaigns/check", May.EVERYBODY)
def check_campaign(
    database: "Database",
    caller: Caller,
    body: Body,
    *,
    type: CampaignKind | None = None,
    priority: int | None = None,
    local: bool = False,
    backend: list[str] | None = None,
) -> CheckedCampaign:
    """What would be stored, and all for which it would be refused."""
    from cigri.submission.examining import examine, wishes_of
    from cigri.submission.outline import checked
    from cigri.submission.remarks import Remarks

    remarks, wishes = Remarks(), wishes_of(type, priority, local, backend)
    examined = examine(database, caller.user, body.first(), BodyLines(body, 1), wishes, remarks)
    return checked(examined, remarks, caller.user)


@calculates("/campaigns/simulate", May.EVERYBODY, Simulation)
def simulate_campaigns(
    database: "Database",
    caller: Caller,
    body: Body,
    *,
    type: CampaignKind | None = None,
    priority: int | None = None,
    local: bool = False,
    backend: list[str] | None = None,
    lines: list[int] | None = None,
) -> Calculation[Simulation]:
    """When it would end if it were submitted now, or several would; nothing is."""
    from cigri.submission.examining import examine, wishes_of
    from cigri.submission.laboratory import Laboratory
    from cigri.submission.remarks import Remarks
    from cigri.submission.simulating import question_about

    counts = lines or [body.count]
    if len(counts) > MOST_SIMULATED or min(counts) < 1 or sum(counts) != body.count:
        at_most = f"at most {MOST_SIMULATED} numbers from 1 on"
        raise UsageError(f"lines: {body.count} lines were sent; say how many each campaign has, {at_most}")
    wishes, first = wishes_of(type, priority, local, backend), 0
    descriptions, problems, notes = [], list[Problem](), []
    for count in counts:
        remarks, beside = Remarks(), BodyLines(body, first + 1, first + count)
        examined = examine(database, caller.user, body.first(first), beside, wishes, remarks)
        problems += remarks.problems
        descriptions += [examined.description] if examined.description else []
        notes.append(remarks.notes)
        first += count
    if problems:
        raise DescriptionError(problems)
    laboratory = Laboratory(question_about(database, descriptions, caller.user), notes)
    return Calculation(caller.user, laboratory.answer, laboratory.end)


@receives("/campaigns/{campaign_id}/tasks", May.OWNER)
def add_tasks(database: "Database", caller: Caller, body: Body, *, campaign_id: int, check: bool = False) -> AddedTasks:
    """Tasks with these parameters, one a line, unless it is only to be checked whether they could be added."""
    from cigri.submission.adding import add

    return AddedTasks(campaign_id, add(database, caller, campaign_id, BodyLines(body, 0), is_check=check))


@reads("/backend-options", May.EVERYBODY)
def backend_options(
    conn: "Connection", _caller: Caller, *, clusters: list[str] | None = None
) -> list[BackendTableView]:
    """What the batch systems of these clusters take in their own spelling, or those of all."""
    from cigri.flow.clusters import list_every_cluster
    from cigri.submission.backend_options import tables

    return tables({cluster.name: cluster.config for cluster in list_every_cluster(conn)}, clusters or [])
