"""Inputs on their way: which files campaigns lack on clusters, and what lies there of them.
Given by: janitor, stager, updator, users; taken by: janitor, stager.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import interval, wake
from cigri.database.typed_rows import read_all
from cigri.states import OPEN_CAMPAIGNS, CampaignState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import UserMapping
from cigri.tables.inputs import CachedInput, PartInput, StoredInput


class LackedInput(NamedTuple):
    """A file that an account lacks on a cluster, for campaigns of which `campaign_id` is the first; in bytes."""

    cluster_id: int
    local_user: str
    sha256: str
    is_packed: bool
    size: int
    campaign_id: int


class CachedPlace(NamedTuple):
    """A file in the cache of an account on a cluster."""

    cluster_id: int
    local_user: str
    sha256: str
    is_packed: bool


def list_lacked(conn: Connection) -> list[LackedInput]:
    """Of campaigns in treatment: the smallest first, and of those of a size what was submitted first."""
    return read_all(conn, LackedInput, _lacked())


@cache
def _lacked() -> Select[*tuple[object, ...]]:
    needed, cached = PartInput.c, CachedInput.c
    statement = (
        select(
            needed.cluster_id,
            _account().label("local_user"),
            needed.sha256,
            needed.is_packed,
            StoredInput.c.size,
            func.min(needed.campaign_id).label("campaign_id"),
        )
        .join(CampaignCluster, _is_of_part())
        .join(Campaign, Campaign.c.id == needed.campaign_id)
        .join(StoredInput, StoredInput.c.sha256 == needed.sha256)
        .outerjoin(UserMapping, _is_mapped())
        .outerjoin(CachedInput, _is_cached())
        .where(
            CampaignCluster.c.lacks_inputs,
            Campaign.c.state == CampaignState.IN_TREATMENT,
            func.coalesce(cached.is_there, False).is_(False),
        )
    )
    statement = statement.group_by(needed.cluster_id, _account(), needed.sha256, needed.is_packed, StoredInput.c.size)
    return statement.order_by(StoredInput.c.size, func.min(needed.campaign_id), needed.sha256)


def put_cached(conn: Connection, place: CachedPlace, size: int, *, is_there: bool) -> None:
    """So many bytes of the file are there; or all of it, and it is the right one."""
    values = {"bytes": size, "is_there": is_there, "at": func.now()}
    statement = insert(CachedInput).values(**place._asdict(), **values)
    keys = ["cluster_id", "local_user", "sha256", "is_packed"]
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_=values))


def put_complete(conn: Connection) -> int:
    """Let the tasks of campaigns start on clusters where all their inputs are now; give the number of such shares."""
    part, cached = CampaignCluster, CachedInput.c
    lacked = (
        select(PartInput.c.sha256)
        .join(Campaign, Campaign.c.id == PartInput.c.campaign_id)
        .outerjoin(UserMapping, _is_mapped())
        .outerjoin(CachedInput, _is_cached())
        .where(_is_of_part(), func.coalesce(cached.is_there, False).is_(False))
        .correlate(part)
    )
    done = update(part).where(part.c.lacks_inputs, ~lacked.exists()).values(lacks_inputs=False)
    complete = len(conn.execute(done.returning(part.c.campaign_id)).all())
    if complete:
        wake(conn)
    return complete


def put_doubts(conn: Connection, cluster_id: int, campaign_ids: Collection[int]) -> None:
    """Jobs of these campaigns have not found their inputs there: what is gone of them is sent again."""
    if not campaign_ids:
        return
    part, cached = CampaignCluster.c, CachedInput.c
    needed = select(PartInput.c.sha256).where(
        PartInput.c.cluster_id == cluster_id, PartInput.c.campaign_id.in_(campaign_ids)
    )
    doubted = and_(cached.cluster_id == cluster_id, cached.sha256.in_(needed))
    conn.execute(update(CachedInput).where(doubted).values(is_there=False, at=func.now()))
    parts = and_(part.cluster_id == cluster_id, part.campaign_id.in_(campaign_ids))
    conn.execute(update(CampaignCluster).where(parts, _has_inputs()).values(lacks_inputs=True))


def put_looked_for(conn: Connection, *, campaign_id: int | None = None, cluster_id: int | None = None) -> None:
    """The inputs of a campaign, or those of all on a cluster, are to be where they are needed before tasks start."""
    part = CampaignCluster.c
    which = part.campaign_id == campaign_id if cluster_id is None else part.cluster_id == cluster_id
    is_open = select(Campaign.c.id).where(Campaign.c.id == part.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    conn.execute(update(CampaignCluster).where(which, is_open.exists(), _has_inputs()).values(lacks_inputs=True))


def list_unused(conn: Connection, days: float) -> list[CachedPlace]:
    """What no open campaign needs where it lies, and what came there before."""
    cached = CachedInput.c
    needed = (
        select(PartInput.c.sha256)
        .join(Campaign, Campaign.c.id == PartInput.c.campaign_id)
        .where(PartInput.c.cluster_id == cached.cluster_id, PartInput.c.sha256 == cached.sha256)
        .where(or_(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.ended_at > func.now() - interval(days * 86_400.0)))
    )
    columns = (cached.cluster_id, cached.local_user, cached.sha256, cached.is_packed)
    unused = select(*columns).where(~needed.exists(), cached.at <= func.now() - interval(days * 86_400.0))
    return read_all(conn, CachedPlace, unused.order_by(*columns))


def forget_cached(conn: Connection, place: CachedPlace) -> None:
    """It lies there no longer."""
    cached = CachedInput.c
    conn.execute(
        delete(CachedInput).where(
            cached.cluster_id == place.cluster_id,
            cached.local_user == place.local_user,
            cached.sha256 == place.sha256,
            cached.is_packed == place.is_packed,
        )
    )


def _account() -> ColumnElement[str]:
    return func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user)


def _is_mapped() -> ColumnElement[bool]:
    mapping = UserMapping.c
    return and_(mapping.cluster_id == PartInput.c.cluster_id, mapping.grid_user == Campaign.c.grid_user)


def _is_of_part() -> ColumnElement[bool]:
    part, needed = CampaignCluster.c, PartInput.c
    return and_(part.campaign_id == needed.campaign_id, part.cluster_id == needed.cluster_id)


def _is_cached() -> ColumnElement[bool]:
    cached, needed = CachedInput.c, PartInput.c
    is_same = and_(cached.sha256 == needed.sha256, cached.is_packed == needed.is_packed)
    return and_(cached.cluster_id == needed.cluster_id, cached.local_user == _account(), is_same)


def _has_inputs() -> ColumnElement[bool]:
    return select(PartInput.c.sha256).where(_is_of_part()).exists()
