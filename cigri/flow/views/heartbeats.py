"""Whether the grid is at work.
Read by: operator, portal, users.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, select, text, true
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import id_list
from cigri.database.typed_rows import read_all
from cigri.flow.processes import StalledProcess, list_stalled
from cigri.flow.views.campaigns import grid_time
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event, ModuleState

_HOLDERS = text(
    "SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32) | objid::bigint = hashtextextended('cigri.almighty', 0)"
)


class ModuleHeartbeat(NamedTuple):
    """When its last pass was noted, and by whom; `failing_since`: none has succeeded since."""

    name: str
    at: datetime
    by_almighty: bool
    failing_since: datetime | None
    error: str | None


class GridHeartbeat(NamedTuple):
    """`has_almighty`: one is connected to the database now, and has not stalled; those that have are in `stalled`."""

    has_almighty: bool
    modules: Sequence[ModuleHeartbeat]
    now: datetime
    stalled: Sequence[StalledProcess] = ()


class UnreachableCluster(NamedTuple):
    """A cluster that has failed `since` then, `why` as far as an event tells; it is tried again at `until`."""

    name: str
    since: datetime | None
    until: datetime
    why: str | None


def read_heartbeats(conn: Connection) -> GridHeartbeat:
    """Of each module that ever noted a pass, and whether an almighty at work holds its lock at this moment."""
    stalled = list_stalled(conn)
    idle = sum(process.has_lock for process in stalled)
    has_almighty = (conn.scalar(_HOLDERS) or 0) > idle
    return GridHeartbeat(has_almighty, read_all(conn, ModuleHeartbeat, _modules()), grid_time(conn), stalled)


@cache
def _modules() -> Select[*tuple[Any, ...]]:
    row = ModuleState.c
    return select(row.name, row.started_at.label("at"), row.by_almighty, row.failing_since, row.error)


def list_unreachable_clusters(conn: Connection, campaign_ids: Collection[int]) -> list[UnreachableCluster]:
    """Clusters of these campaigns that are set aside because they fail."""
    part = CampaignCluster.c
    return _list_away(
        conn, Cluster.c.id.in_(select(part.cluster_id).where(part.campaign_id.in_(id_list(campaign_ids))))
    )


def list_all_away(conn: Connection) -> list[UnreachableCluster]:
    """Clusters of the whole grid that are set aside because they fail."""
    return _list_away(conn, true())


def _list_away(conn: Connection, which: ColumnElement[bool]) -> list[UnreachableCluster]:
    event = Event.c
    is_told = and_(
        event.cluster_id == Cluster.c.id,
        event.closed_at.is_(None),
        event.code.in_(("CLUSTER_UNREACHABLE", "CLUSTER_ANSWER")),
    )
    failing = conn.execute(
        select(Cluster.c.name, event.opened_at, Cluster.c.blocked_until, event.message)
        .outerjoin(Event, is_told)
        .where(Cluster.c.failures > 0, which)
        .order_by(Cluster.c.name, event.last_at)
    )
    latest = {
        name: UnreachableCluster(name, since, until, why) for name, since, until, why in failing if until is not None
    }
    return list(latest.values())
