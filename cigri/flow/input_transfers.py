"""Inputs on their way: which files campaigns lack on clusters, and what lies there of them.
Given by: janitor, stager, updator, users; taken by: janitor, operator, stager.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Text,
    and_,
    case,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select
from sqlalchemy.types import TypeEngine

from cigri.database import interval, values_table, wake
from cigri.database.typed_rows import read_all
from cigri.states import OPEN_CAMPAIGNS, CampaignState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import UserMapping
from cigri.tables.inputs import CachedInput, CampaignClusterInput, EarlierInputs, StoredInput, TaskInput, TaskPlace
from cigri.tables.tasks import Task

UNUSED_IN_CACHE = 3600.0  # seconds that a file of tasks stays in a cache for others, when none needs it
PLACE: dict[str, TypeEngine[Any]] = {
    "cluster_id": BigInteger(),
    "local_user": Text(),
    "sha256": Text(),
    "is_packed": Boolean(),
}


class MissingInput(NamedTuple):
    """A file that an account lacks on a cluster, for campaigns of which `campaign_id` is the first; in bytes.

    `is_begun`: something of it was sent before. It is lacked for `waited` seconds, by a campaign of `grid_user`.
    """

    cluster_id: int
    local_user: str
    sha256: str
    is_packed: bool
    size: int
    campaign_id: int
    grid_user: str = ""
    is_begun: bool = True
    waited: float = 0.0


class CachedInputKey(NamedTuple):
    """A file in the cache of an account on a cluster."""

    cluster_id: int
    local_user: str
    sha256: str
    is_packed: bool


def list_missing_inputs(conn: Connection) -> list[MissingInput]:
    """Of what whole campaigns in treatment need."""
    return read_all(conn, MissingInput, _lacked())


@cache
def _lacked() -> Select[*tuple[object, ...]]:
    needed, cached = CampaignClusterInput.c, CachedInput.c
    statement = (
        select(
            needed.cluster_id,
            account().label("local_user"),
            needed.sha256,
            needed.is_packed,
            StoredInput.c.size,
            func.min(needed.campaign_id).label("campaign_id"),
            func.min(Campaign.c.grid_user).label("grid_user"),
            true().label("is_begun"),
            cast(func.extract("epoch", func.now() - func.min(Campaign.c.submitted_at)), DOUBLE_PRECISION).label(
                "waited"
            ),
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
    return statement.group_by(needed.cluster_id, account(), needed.sha256, needed.is_packed, StoredInput.c.size)


def put_cached(conn: Connection, place: CachedInputKey, size: int, *, is_there: bool) -> None:
    """So many bytes of the file are there; or all of it, and it is the right one."""
    values = {"bytes": size, "is_there": is_there, "at": func.now()}
    statement = insert(CachedInput).values(**place._asdict(), **values)
    keys = ["cluster_id", "local_user", "sha256", "is_packed"]
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_=values))


def put_many_cached(conn: Connection, sizes: Mapping[CachedInputKey, int], *, is_there: bool) -> None:
    """The same of many files."""
    if not sizes:
        return
    new = values_table("new", PLACE | {"bytes": BigInteger()}, [(*place, size) for place, size in sizes.items()])
    columns = [*PLACE, "bytes", "is_there", "at"]
    statement = insert(CachedInput).from_select(columns, select(*new.c, literal(is_there), func.now()))
    changed = {"bytes": statement.excluded.bytes, "is_there": is_there, "at": func.now()}
    conn.execute(statement.on_conflict_do_update(index_elements=[*PLACE], set_=changed))


def put_complete(conn: Connection) -> int:
    """Let the tasks of campaigns start on clusters where all their inputs are now; give the number of such shares."""
    part, cached = CampaignCluster, CachedInput.c
    lacked = (
        select(CampaignClusterInput.c.sha256)
        .join(Campaign, Campaign.c.id == CampaignClusterInput.c.campaign_id)
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


def recheck_inputs(conn: Connection, cluster_id: int, campaign_ids: Collection[int]) -> None:
    """Jobs of these campaigns have not found their inputs there: what is gone of them is sent again."""
    if not campaign_ids:
        return
    part, cached = CampaignCluster.c, CachedInput.c
    needed = select(CampaignClusterInput.c.sha256).where(
        CampaignClusterInput.c.cluster_id == cluster_id, CampaignClusterInput.c.campaign_id.in_(campaign_ids)
    )
    own, place = TaskInput.c, TaskPlace.c
    of_tasks = (
        select(own.sha256)
        .join(TaskPlace, and_(place.campaign_id == own.campaign_id, place.number == own.number))
        .where(place.cluster_id == cluster_id, place.campaign_id.in_(campaign_ids))
    )
    doubted = and_(cached.cluster_id == cluster_id, or_(cached.sha256.in_(needed), cached.sha256.in_(of_tasks)))
    conn.execute(update(CachedInput).where(doubted).values(is_there=False, at=func.now()))
    parts = and_(part.cluster_id == cluster_id, part.campaign_id.in_(campaign_ids))
    conn.execute(update(CampaignCluster).where(parts, _has_inputs()).values(lacks_inputs=True))
    places = and_(place.cluster_id == cluster_id, place.campaign_id.in_(campaign_ids))
    conn.execute(update(TaskPlace).where(places).values(is_furnished=False))


def require_inputs(conn: Connection, *, campaign_id: int | None = None, cluster_id: int | None = None) -> None:
    """The inputs of a campaign, or those of all on a cluster, are to be where they are needed before tasks start."""
    part = CampaignCluster.c
    which = part.campaign_id == campaign_id if cluster_id is None else part.cluster_id == cluster_id
    is_open = select(Campaign.c.id).where(Campaign.c.id == part.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    conn.execute(update(CampaignCluster).where(which, is_open.exists(), _has_inputs()).values(lacks_inputs=True))
    place = TaskPlace.c
    there = place.campaign_id == campaign_id if cluster_id is None else place.cluster_id == cluster_id
    conn.execute(update(TaskPlace).where(there, place.is_furnished).values(is_furnished=False))


def list_unused(conn: Connection, days: float) -> list[CachedInputKey]:
    """What no open campaign needs where it lies, and what came there before; of single tasks as soon as they ended."""
    cached = CachedInput.c
    long_ago = func.now() - interval(days * 86_400.0)
    needed = (
        select(CampaignClusterInput.c.sha256)
        .join(Campaign, Campaign.c.id == CampaignClusterInput.c.campaign_id)
        .where(CampaignClusterInput.c.cluster_id == cached.cluster_id, CampaignClusterInput.c.sha256 == cached.sha256)
        .where(or_(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.ended_at > long_ago))
    )
    earlier = EarlierInputs.c
    is_found = earlier.inputs.contains(func.jsonb_build_array(func.jsonb_build_object("sha256", cached.sha256)))
    by_others = (  # jobs of the campaign may still run with what has been replaced
        select(earlier.version)
        .join(Campaign, Campaign.c.id == earlier.campaign_id)
        .where(earlier.cluster_id == cached.cluster_id, is_found, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    )
    of_tasks = select(TaskInput.c.sha256).where(TaskInput.c.sha256 == cached.sha256)
    of_open_tasks = of_tasks.join(
        Task, and_(Task.c.campaign_id == TaskInput.c.campaign_id, Task.c.number == TaskInput.c.number)
    ).where(Task.c.state.in_((TaskState.WAITING, TaskState.ASSIGNED)))
    is_old = cached.at <= case((of_tasks.exists(), func.now() - interval(UNUSED_IN_CACHE)), else_=long_ago)
    columns = (cached.cluster_id, cached.local_user, cached.sha256, cached.is_packed)
    unused = select(*columns).where(~needed.exists(), ~by_others.exists(), ~of_open_tasks.exists(), is_old)
    return read_all(conn, CachedInputKey, unused.order_by(*columns))


def list_all_cached(conn: Connection) -> list[CachedInputKey]:
    """List the copies of inputs that lie on clusters, as far as is known."""
    cached = CachedInput.c
    columns = (cached.cluster_id, cached.local_user, cached.sha256, cached.is_packed)
    return read_all(conn, CachedInputKey, select(*columns).order_by(*columns))


def forget_cached(conn: Connection, place: CachedInputKey) -> None:
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


def account() -> ColumnElement[str]:
    """Of a campaign's user, where UserMapping is joined by is_mapped_on."""
    return func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user)


def is_mapped_on(cluster_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Is this the account of the campaign's user on that cluster?"""
    return and_(UserMapping.c.cluster_id == cluster_id, UserMapping.c.grid_user == Campaign.c.grid_user)


def _is_mapped() -> ColumnElement[bool]:
    return is_mapped_on(CampaignClusterInput.c.cluster_id)


def _is_of_part() -> ColumnElement[bool]:
    part, needed = CampaignCluster.c, CampaignClusterInput.c
    return and_(part.campaign_id == needed.campaign_id, part.cluster_id == needed.cluster_id)


def _is_cached() -> ColumnElement[bool]:
    cached, needed = CachedInput.c, CampaignClusterInput.c
    is_same = and_(cached.sha256 == needed.sha256, cached.is_packed == needed.is_packed)
    return and_(cached.cluster_id == needed.cluster_id, cached.local_user == account(), is_same)


def _has_inputs() -> ColumnElement[bool]:
    return select(CampaignClusterInput.c.sha256).where(_is_of_part()).exists()
