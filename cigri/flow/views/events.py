"""What happened, as a user reads it: the events of their campaigns, and those that concern everybody.
Read by: users.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, literal, literal_column, or_, select, text
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import IDS, rows
from cigri.database.typed_rows import read_all
from cigri.errors import NotFound
from cigri.flow.archive import PURGE
from cigri.states import EventLevel, Outcome
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task


class SeenEvent(NamedTuple):
    """An event; `parameter` is that of the task it is about, `closed_at` None while it is open.

    `outcome` and `exit_code` are those of the attempt at its task, or of its job.
    """

    id: int
    code: str
    level: EventLevel
    subject: str
    message: str
    campaign_id: int | None
    cluster: str | None
    job_id: int | None
    task: int | None
    parameter: object | None
    times: int
    opened_at: datetime
    last_at: datetime
    closed_at: datetime | None
    closed_by: str | None
    outcome: Outcome | None
    exit_code: int | None


class EventChoice(NamedTuple):
    """Which events: of the `user`'s campaigns (of these only, when given), or those that concern no campaign."""

    user: str
    campaign_ids: Sequence[int] = ()
    event_ids: Sequence[int] = ()
    is_global: bool = False
    closed_too: bool = False


def list_events(conn: Connection, choice: EventChoice, limit: int | None = None) -> list[SeenEvent]:
    """The latest ones at most, in the order in which they were opened."""
    statement = (
        select(
            Event.c.id,
            Event.c.code,
            Event.c.level,
            Event.c.subject,
            Event.c.message,
            Event.c.campaign_id,
            Cluster.c.name.label("cluster"),
            Event.c.job_id,
            Task.c.number.label("task"),
            Task.c.parameter,
            Event.c.count.label("times"),
            Event.c.opened_at,
            Event.c.last_at,
            Event.c.closed_at,
            Event.c.closed_by,
            func.coalesce(Attempt.c.outcome, Job.c.outcome).label("outcome"),
            func.coalesce(Attempt.c.exit_code, Job.c.exit_code).label("exit_code"),
        )
        .outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id)
        .outerjoin(Cluster, Cluster.c.id == Event.c.cluster_id)
        .outerjoin(Task, Task.c.id == Event.c.task_id)
        .outerjoin(Attempt, and_(Attempt.c.task_id == Event.c.task_id, Attempt.c.job_id == Event.c.job_id))
        .outerjoin(Job, and_(Job.c.id == Event.c.job_id, Event.c.task_id.is_(None)))
        .where(*_chosen(choice))
        .order_by(Event.c.id.desc())
        .limit(limit)
    )
    return read_all(conn, SeenEvent, statement)[::-1]


def count_events(conn: Connection, choice: EventChoice) -> int:
    statement = select(func.count()).select_from(Event).outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id)
    return conn.execute(statement.where(*_chosen(choice))).scalar_one()


def list_fixable(conn: Connection, choice: EventChoice) -> list[int]:
    """Open events; the wish to purge a campaign is none of them, unless it is named."""
    statement = select(Event.c.id).outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id)
    statement = statement.where(*_chosen(choice), Event.c.closed_at.is_(None))
    if not choice.event_ids:
        statement = statement.where(Event.c.code != PURGE)
    return list(conn.scalars(statement.order_by(Event.c.id)))


def require_own(conn: Connection, campaign_ids: Iterable[int], user: str) -> None:
    """Raise NotFound unless all these campaigns are the user's."""
    wanted = rows("wanted", IDS, [(campaign_id,) for campaign_id in campaign_ids])
    mine = select(Campaign.c.id).where(_is_owner(user))
    strange = conn.scalars(select(wanted.c.id).where(wanted.c.id.not_in(mine)).order_by(wanted.c.id)).all()
    if strange:
        raise NotFound(f"you have no campaign {', '.join(map(str, strange))}; `gridstat` lists yours")


def database_owner(conn: Connection) -> str:
    """The role that owns this database."""
    owner = select(func.pg_get_userbyid(literal_column("datdba"))).select_from(text("pg_database"))
    return str(conn.execute(owner.where(literal_column("datname") == func.current_database())).scalar_one())


def _chosen(choice: EventChoice) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if choice.is_global:
        found.append(Event.c.campaign_id.is_(None))
    else:
        found.append(Event.c.campaign_id.is_not(None))
        found.append(_is_owner(choice.user))
    for column, ids in ((Event.c.campaign_id, choice.campaign_ids), (Event.c.id, choice.event_ids)):
        if ids:
            wanted = rows("wanted", IDS, [(one,) for one in ids])
            found.append(column.in_(select(wanted.c.id)))
    if not choice.closed_too:
        found.append(Event.c.closed_at.is_(None))
    return found


def _is_owner(user: str) -> ColumnElement[bool]:
    return or_(Campaign.c.grid_user == user, literal(user == "root"))
