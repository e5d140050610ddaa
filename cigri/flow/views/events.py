"""What happened, as a user reads it: the events of their campaigns, and those that concern everybody.
Read by: users.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, literal_column, select, text
from sqlalchemy.sql.elements import ColumnElement

from cigri.api_models.events import EventView
from cigri.database import IDS, values_table
from cigri.database.typed_rows import read_all
from cigri.errors import NotFound
from cigri.flow.archive import PURGE
from cigri.flow.views.ownership import is_own, is_seen
from cigri.identity.callers import Caller
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task


class EventFilter(NamedTuple):
    """Which events: of campaigns that the `caller` sees as their owners do (of these only, when given), or may change;
    or those that concern no campaign."""

    caller: Caller
    campaign_ids: Sequence[int] = ()
    event_ids: Sequence[int] = ()
    is_global: bool = False
    closed_too: bool = False
    is_to_change: bool = False


def list_events(
    conn: Connection, choice: EventFilter, limit: int | None = None, before: int | None = None
) -> list[EventView]:
    """The latest `limit` of those before another, the one that was opened first at the beginning; None: all."""
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
    if before is not None:
        statement = statement.where(Event.c.id < before)
    return read_all(conn, EventView, statement)[::-1]


def count_events(conn: Connection, choice: EventFilter) -> int:
    """As many as `list_events` gives without a limit."""
    statement = select(func.count()).select_from(Event).outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id)
    return conn.execute(statement.where(*_chosen(choice))).scalar_one()


def list_fixable(conn: Connection, choice: EventFilter) -> list[int]:
    """Ids of open events; a wish to purge a campaign is none of them, unless it is named."""
    statement = select(Event.c.id).outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id)
    statement = statement.where(*_chosen(choice), Event.c.closed_at.is_(None))
    if not choice.event_ids:
        statement = statement.where(Event.c.code != PURGE)
    return list(conn.scalars(statement.order_by(Event.c.id)))


def list_missing(conn: Connection, choice: EventFilter) -> list[int]:
    """Those of the numbered events that are not there, or not to be seen so."""
    wanted = values_table("wanted", IDS, [(event_id,) for event_id in choice.event_ids])
    seen = select(Event.c.id).outerjoin(Campaign, Campaign.c.id == Event.c.campaign_id).where(*_chosen(choice))
    return list(conn.scalars(select(wanted.c.id).where(wanted.c.id.not_in(seen)).order_by(wanted.c.id)))


def require_own(conn: Connection, campaign_ids: Iterable[int], caller: Caller) -> None:
    """Raise NotFound unless all these campaigns are the caller's."""
    _require(conn, campaign_ids, is_own(caller))


def require_seen(conn: Connection, campaign_ids: Iterable[int], caller: Caller) -> None:
    """Raise NotFound unless the caller sees all these campaigns as their owners do."""
    _require(conn, campaign_ids, is_seen(caller))


def _require(conn: Connection, campaign_ids: Iterable[int], which: ColumnElement[bool]) -> None:
    wanted = values_table("wanted", IDS, [(campaign_id,) for campaign_id in campaign_ids])
    known = select(Campaign.c.id).where(which)
    strange = conn.scalars(select(wanted.c.id).where(wanted.c.id.not_in(known)).order_by(wanted.c.id)).all()
    if strange:
        raise NotFound(f"you have no campaign {', '.join(map(str, strange))}; `gridstat` lists yours")


def database_owner(conn: Connection) -> str:
    """The role that owns this database."""
    owner = select(func.pg_get_userbyid(literal_column("datdba"))).select_from(text("pg_database"))
    return str(conn.execute(owner.where(literal_column("datname") == func.current_database())).scalar_one())


def _chosen(choice: EventFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if choice.is_global:
        conditions.append(Event.c.campaign_id.is_(None))
    else:
        conditions.append(Event.c.campaign_id.is_not(None))
        conditions.append(is_own(choice.caller) if choice.is_to_change else is_seen(choice.caller))
    for column, ids in ((Event.c.campaign_id, choice.campaign_ids), (Event.c.id, choice.event_ids)):
        if ids:
            wanted = values_table("wanted", IDS, [(id,) for id in ids])
            conditions.append(column.in_(select(wanted.c.id)))
    if not choice.closed_too:
        conditions.append(Event.c.closed_at.is_(None))
    return conditions
