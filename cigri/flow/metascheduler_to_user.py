"""The metascheduler says what keeps each campaign from more jobs on a cluster; users read it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, Text, case, delete, select
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import insert

from cigri.database import clock, rows
from cigri.states import CutReason
from cigri.tables.clusters import Cluster
from cigri.tables.policy import Cut as CutRow


class Cut(NamedTuple):
    """Why a campaign with tasks waiting was offered no more there: `used` of `most`; `name` as the reason has it."""

    campaign_id: int
    cluster_id: int
    reason: CutReason
    name: str
    used: int
    most: int


class CutView(NamedTuple):
    """`since`: when this reason began to be the first one."""

    cluster: str
    reason: CutReason
    name: str
    used: int
    most: int
    since: datetime


KEY = (CutRow.c.campaign_id, CutRow.c.cluster_id)


def put_cuts(conn: Connection, cuts: Sequence[Cut], now: datetime | None = None) -> int:
    """Replace those of the last cycle, writing what has changed only; give the number written."""
    reason = as_type(CutRow.c.reason, Text)  # as it is written: to make a CutReason of each costs as much as to read it
    present = conn.execute(select(*KEY, reason, CutRow.c.name, CutRow.c.used, CutRow.c.most)).all()
    known = {(campaign_id, cluster_id): about for campaign_id, cluster_id, *about in present}
    new = {(cut.campaign_id, cut.cluster_id) for cut in cuts}
    if gone := known.keys() - new:
        kinds = {"campaign_id": CutRow.c.campaign_id.type, "cluster_id": CutRow.c.cluster_id.type}
        over = rows("over", kinds, sorted(gone))
        conn.execute(
            delete(CutRow).where(CutRow.c.campaign_id == over.c.campaign_id, CutRow.c.cluster_id == over.c.cluster_id)
        )
    changed = [
        cut
        for cut in cuts
        if known.get((cut.campaign_id, cut.cluster_id)) != [cut.reason, cut.name, cut.used, cut.most]
    ]
    if changed:
        _write(conn, changed, now)
    return len(changed)


def list_cuts(conn: Connection, campaign_id: int) -> list[CutView]:
    """Of one campaign, by cluster."""
    found = conn.execute(
        select(Cluster.c.name, *_ABOUT, CutRow.c.since)
        .join(Cluster, Cluster.c.id == CutRow.c.cluster_id)
        .where(CutRow.c.campaign_id == campaign_id)
        .order_by(Cluster.c.name)
    )
    return [CutView._make(row) for row in found]


def _write(conn: Connection, cuts: Sequence[Cut], now: datetime | None) -> None:
    kinds = {name: Text() if name == "reason" else CutRow.c[name].type for name in Cut._fields}
    new = rows("new", kinds, cuts)
    values = [as_type(new.c[name], CutRow.c[name].type) if name == "reason" else new.c[name] for name in Cut._fields]
    statement = insert(CutRow).from_select([*Cut._fields, "since"], select(*values, clock(now)))
    fresh = {name: statement.excluded[name] for name in ("reason", "name", "used", "most")}
    began = case((CutRow.c.reason == statement.excluded.reason, CutRow.c.since), else_=statement.excluded.since)
    conn.execute(statement.on_conflict_do_update(index_elements=list(KEY), set_=fresh | {"since": began}))


_ABOUT = (CutRow.c.reason, CutRow.c.name, CutRow.c.used, CutRow.c.most)
