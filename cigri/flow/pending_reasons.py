"""Cuts: what keeps a campaign from more jobs on a cluster.
Given by: metascheduler; taken by: users.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ARRAY, BigInteger, Connection, Select, Text, bindparam, case, cast, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.types import TypeEngine

from cigri.database import values_table
from cigri.database.typed_rows import read_all
from cigri.states import PendingReasonCode
from cigri.tables.clusters import Cluster
from cigri.tables.sharing import PendingReason as CutRow

NO_CAMPAIGNS: AbstractSet[int] = frozenset()

CUT_COLUMNS: Mapping[str, TypeEngine[Any]] = {
    "cluster_id": BigInteger(),
    "reason": Text(),
    "name": Text(),
    "used": BigInteger(),
    "most": BigInteger(),
    "campaign_ids": ARRAY(BigInteger),
}
CUT_KEY = (CutRow.c.campaign_id, CutRow.c.cluster_id)
_CUT_VALUES = (CutRow.c.reason, CutRow.c.name, CutRow.c.used, CutRow.c.most)

PendingReasonKey = tuple[int, str, str, int, int]
"""All of a cut but the campaign, of which most often many are cut alike: they are read and written as one."""


class NewPendingReason(NamedTuple):
    """Why a campaign with tasks waiting was offered no more there: `used` of `most`; `name` as the reason has it."""

    campaign_id: int
    cluster_id: int
    reason: PendingReasonCode
    name: str
    used: int
    most: int


class PendingReasonView(NamedTuple):
    """`since`: when this reason began to be the first one."""

    cluster: str
    reason: PendingReasonCode
    name: str
    used: int
    most: int
    since: datetime


def put_cuts(conn: Connection, cuts: Iterable[NewPendingReason]) -> int:
    """Replace those of the last cycle, writing what has changed only; give the number written."""
    new: dict[PendingReasonKey, set[int]] = defaultdict(set)
    for cut in cuts:
        new[cut.cluster_id, cut.reason, cut.name, cut.used, cut.most].add(cut.campaign_id)
    stored = _stored(conn)
    changed = _besides(new, stored)
    if gone := sorted(_shares(_besides(stored, new)) - _shares(changed)):
        kinds = {"campaign_id": CutRow.c.campaign_id.type, "cluster_id": CutRow.c.cluster_id.type}
        over = values_table("over", kinds, gone)
        conn.execute(
            delete(CutRow).where(CutRow.c.campaign_id == over.c.campaign_id, CutRow.c.cluster_id == over.c.cluster_id)
        )
    if changed:
        _write(conn, changed)
    return sum(map(len, changed.values()))


def list_cuts(conn: Connection, campaign_id: int) -> list[PendingReasonView]:
    """Of one campaign, sorted by the cluster's name."""
    return read_all(conn, PendingReasonView, _of_campaign(), {"id": campaign_id})


@cache
def _of_campaign() -> Select[*tuple[Any, ...]]:
    """Built once: it takes longer to build than to answer."""
    return (
        select(Cluster.c.name.label("cluster"), *_CUT_VALUES, CutRow.c.since)
        .join(Cluster, Cluster.c.id == CutRow.c.cluster_id)
        .where(CutRow.c.campaign_id == bindparam("id"))
        .order_by(Cluster.c.name)
    )


def _stored(conn: Connection) -> dict[PendingReasonKey, frozenset[int]]:
    columns = (CutRow.c.cluster_id, cast(CutRow.c.reason, Text), CutRow.c.name, CutRow.c.used, CutRow.c.most)
    cuts = conn.execute(select(*columns, func.array_agg(CutRow.c.campaign_id)).group_by(*columns))
    return {(cluster, reason, name, used, most): frozenset(ids) for cluster, reason, name, used, most, ids in cuts}


def _besides(
    cuts: Mapping[PendingReasonKey, AbstractSet[int]], others: Mapping[PendingReasonKey, AbstractSet[int]]
) -> dict[PendingReasonKey, AbstractSet[int]]:
    return {why: campaign_ids for why, ids in cuts.items() if (campaign_ids := ids - others.get(why, NO_CAMPAIGNS))}


def _shares(cuts: Mapping[PendingReasonKey, AbstractSet[int]]) -> set[tuple[int, int]]:
    return {(campaign_id, why[0]) for why, ids in cuts.items() for campaign_id in ids}


def _write(conn: Connection, cuts: Mapping[PendingReasonKey, AbstractSet[int]]) -> None:
    new = values_table("new", CUT_COLUMNS, [(*why, sorted(ids)) for why, ids in cuts.items()])
    values = [
        func.unnest(new.c.campaign_ids),
        new.c.cluster_id,
        cast(new.c.reason, CutRow.c.reason.type),
        *(new.c[name] for name in ("name", "used", "most")),
        func.now(),
    ]
    statement = insert(CutRow).from_select([*NewPendingReason._fields, "since"], select(*values))
    fresh = {name: statement.excluded[name] for name in ("reason", "name", "used", "most")}
    began = case((CutRow.c.reason == statement.excluded.reason, CutRow.c.since), else_=statement.excluded.since)
    conn.execute(statement.on_conflict_do_update(index_elements=list(CUT_KEY), set_=fresh | {"since": began}))
