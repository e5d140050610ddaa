"""Submit pools: jobs that demand the same, and the queues that are eligible for them; kept fresh.
Given by: operator, users; taken by: matcher, users.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import ARRAY, BigInteger, Connection, Text, and_, cast, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.dml import ReturningInsert, Update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import TypeEngine

from cigri.api_models.resources import PoolView
from cigri.database import values_table
from cigri.database.typed_rows import read_all
from cigri.eligibility.pools import PoolDemand, PoolVerdicts, UnpooledBucket, VerdictRow, judge_pools, pooled
from cigri.eligibility.queues import SHAPING, QueueDemand, read_wanted
from cigri.flow.views.queues import property_kinds, resources_version, see_queues
from cigri.states import OPEN_CAMPAIGNS
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Grid, Project
from cigri.tables.pools import BucketPool, SubmitPool, SubmitPoolQueue, SubmitPoolReject
from cigri.tables.resources import Queue

NEVER_JUDGED = -1  # the version of a pool that was not computed yet
PAIR: dict[str, TypeEngine[Any]] = {"pool_id": BigInteger(), "queue_id": BigInteger()}
CONDITION: dict[str, TypeEngine[Any]] = {"condition": JSONB(none_as_null=True)}
REASON_COLUMNS: dict[str, TypeEngine[Any]] = dict.fromkeys(("code", "name", "wanted", "found"), Text())
BUCKET_POOL_COLUMNS = dict.fromkeys(("bucket_id", "cluster_id", "pool_id"), BigInteger())


class StalePool(NamedTuple):
    """Its demands are read by `pool`, which may raise."""

    id: int
    project: str
    requirements: Any

    @property
    def pool(self) -> PoolDemand:
        """Reads the stored demands, which may raise whatever demands of another version of CiGri make it raise."""
        return PoolDemand(self.id, self.project, read_wanted(self.requirements))


class _PoolVerdict(NamedTuple):
    pool_id: int
    queue_id: int
    plain: VerdictRow


def put_pools(conn: Connection, campaign_ids: Collection[int]) -> None:
    """Let each bucket of these campaigns be of a pool on each of their clusters, and compute the pools that are new.

    Others that want the same pools wait for the end of the transaction.
    """
    shares = list(pooled(_list_unpooled(conn, campaign_ids), property_kinds(conn)))
    if not shares:
        return
    version = resources_version(conn)
    ids, stale = {}, []
    for (digest_, project), wanted in sorted({(share.digest, share.project): share.wanted for share in shares}.items()):
        id, computed = conn.execute(_put_pool(digest_, project, wanted)).one()
        ids[digest_, project] = id
        if computed < version:
            stale.append(PoolDemand(id, project, wanted))
    if stale:
        seen = see_queues(conn, {pool.project for pool in stale})
        put_judged(conn, judge_pools(stale, seen.queues, seen.kinds), seen.version)
    new = values_table(
        "new",
        BUCKET_POOL_COLUMNS,
        [(share.bucket_id, share.cluster_id, ids[share.digest, share.project]) for share in shares],
    )
    conn.execute(
        insert(BucketPool).from_select(
            list(BUCKET_POOL_COLUMNS), select(*(new.c[name] for name in BUCKET_POOL_COLUMNS))
        )
    )


def has_stale(conn: Connection, seconds: float) -> bool:
    """Is any pool older than `seconds`, or computed before the resources changed?"""
    version = select(func.min(SubmitPool.c.version)).scalar_subquery()
    updated_at = select(func.min(SubmitPool.c.updated_at)).scalar_subquery()
    return bool(conn.scalar(select(or_(*_staleness(version, updated_at, seconds)))))


def take_stale(conn: Connection, seconds: float, limit: int) -> list[StalePool]:
    """Lock pools that were computed more than `seconds` ago, or before the resources changed; the oldest first."""
    stale = (
        select(SubmitPool.c.id, SubmitPool.c.project, SubmitPool.c.requirements)
        .where(or_(*_staleness(SubmitPool.c.version, SubmitPool.c.updated_at, seconds)))
        .order_by(SubmitPool.c.updated_at, SubmitPool.c.id)
        .limit(limit)
    )
    locked = conn.execute(stale.with_for_update(of=SubmitPool, skip_locked=True))
    return [StalePool(id, project, requirements) for id, project, requirements in locked]


def postpone_pool(conn: Connection, pool_id: int) -> None:
    """Count a pool as computed now, with the verdicts that it has, until it is stale again."""
    version = select(Grid.c.resources_version).scalar_subquery()
    values = {"version": version, "updated_at": func.now()}
    conn.execute(update(SubmitPool).where(SubmitPool.c.id == pool_id).values(values))


def list_campaigns_of(conn: Connection, pool_ids: Collection[int]) -> set[int]:
    """The ids of campaigns with a bucket in one of these pools."""
    buckets = select(Bucket.c.campaign_id).join(BucketPool, BucketPool.c.bucket_id == Bucket.c.id)
    return set(conn.scalars(buckets.where(BucketPool.c.pool_id.in_(pool_ids)).distinct()))


def put_judged(conn: Connection, judged: Sequence[PoolVerdicts], version: int) -> int:
    """Write what is new of these pools, judged by this version of the resources; give the number of changes."""
    old = _old_verdicts(conn, [pool.pool_id for pool in judged])
    changed = [
        _PoolVerdict(pool.pool_id, queue_id, plain)
        for pool in judged
        for queue_id, plain in pool.verdicts.items()
        if old[pool.pool_id][queue_id] != plain
    ]
    if changed:
        _write(conn, changed)
    conn.execute(_put_computed([(pool.pool_id, pool.closed) for pool in judged], version))
    return len(changed)


def _put_computed(closed: Sequence[tuple[int, list[int]]], version: int) -> Update:
    """Pools with the clusters that are closed to them."""
    arrays = [(pool_id, f"{{{','.join(map(str, clusters))}}}") for pool_id, clusters in closed]
    new = values_table("new", {"pool_id": BigInteger(), "clusters": Text()}, arrays)
    clusters = cast(new.c.clusters, ARRAY(BigInteger))
    values = {"closed": clusters, "version": version, "updated_at": func.now()}
    return update(SubmitPool).where(SubmitPool.c.id == new.c.pool_id).values(values)


def _list_unpooled(conn: Connection, campaign_ids: Collection[int]) -> list[UnpooledBucket]:
    part, pool = CampaignCluster.c, BucketPool.c
    statement = (
        select(Bucket.c.id.label("bucket_id"), part.cluster_id, func.coalesce(Project.c.name, "").label("project"))
        .add_columns(Campaign.c.wanted.label("required"))
        .add_columns(*(part.settings[name].label(name) for name in SHAPING))
        .add_columns(Bucket.c.requirements.label("bucket"))
        .join(Campaign, Campaign.c.id == Bucket.c.campaign_id)
        .join(CampaignCluster, part.campaign_id == Bucket.c.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .outerjoin(BucketPool, and_(pool.bucket_id == Bucket.c.id, pool.cluster_id == part.cluster_id))
        .where(Campaign.c.id.in_(campaign_ids), pool.pool_id.is_(None))
        .where(or_(Bucket.c.cluster_id.is_(None), Bucket.c.cluster_id == part.cluster_id))
        .order_by(Bucket.c.id, part.cluster_id)
    )
    return read_all(conn, UnpooledBucket, statement)


def _put_pool(digest: str, project: str, wanted: QueueDemand) -> ReturningInsert[int, int]:
    """Insert a pool or find it: its id, and the version of the resources that it was computed from."""
    times = dict.fromkeys(("created_at", "updated_at", "last_used_at"), func.now())
    new = upsert(SubmitPool).values(
        digest=digest, project=project, requirements=wanted.canonical(), version=NEVER_JUDGED, **times
    )
    statement = new.on_conflict_do_update(
        index_elements=["digest", "project"], set_={"last_used_at": new.excluded.last_used_at}
    )
    return statement.returning(SubmitPool.c.id, SubmitPool.c.version)


def _staleness(
    version: ColumnElement[Any], updated_at: ColumnElement[Any], seconds: float
) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The resources have changed since, or it was long ago."""
    current = select(Grid.c.resources_version).scalar_subquery()
    return version < current, updated_at < func.now() - timedelta(seconds=seconds)


def _old_verdicts(conn: Connection, pool_ids: Sequence[int]) -> dict[int, dict[int, VerdictRow | object]]:
    """Verdicts of before, by pool and queue; what is missing is none of them."""
    verdicts: dict[int, dict[int, VerdictRow | object]] = {pool_id: defaultdict(object) for pool_id in pool_ids}
    eligible, rejected = SubmitPoolQueue.c, SubmitPoolReject.c
    for pool_id, queue_id, condition in conn.execute(
        select(eligible.pool_id, eligible.queue_id, eligible.condition).where(eligible.pool_id.in_(pool_ids))
    ):
        verdicts[pool_id][queue_id] = condition
    reasons = (rejected.code, rejected.name, rejected.wanted, rejected.found)
    for pool_id, queue_id, code, name, wanted, found in conn.execute(
        select(rejected.pool_id, rejected.queue_id, *reasons).where(rejected.pool_id.in_(pool_ids))
    ):
        verdicts[pool_id][queue_id] = code, name, wanted, found
    return verdicts


def _write(conn: Connection, changed: Sequence[_PoolVerdict]) -> None:
    """A verdict takes the place of another one; what changed is its `at`."""
    gone = values_table("gone", PAIR, [verdict[:2] for verdict in changed])
    for table in (SubmitPoolQueue, SubmitPoolReject):
        here = and_(table.c.pool_id == gone.c.pool_id, table.c.queue_id == gone.c.queue_id)
        conn.execute(delete(table).where(here))
    kinds = PAIR | CONDITION
    eligible = values_table("new", kinds, [verdict for verdict in changed if not isinstance(verdict.plain, tuple)])
    chosen = select(*(eligible.c[name] for name in kinds), func.now())
    conn.execute(insert(SubmitPoolQueue).from_select([*kinds, "at"], chosen))
    kinds = PAIR | REASON_COLUMNS
    new = values_table(
        "new", kinds, [(*verdict[:2], *verdict.plain) for verdict in changed if isinstance(verdict.plain, tuple)]
    )
    code = cast(new.c.code, SubmitPoolReject.c.code.type)
    reasons = select(*(code if name == "code" else new.c[name] for name in kinds), func.now())
    conn.execute(insert(SubmitPoolReject).from_select([*kinds, "at"], reasons))


def list_pools(
    conn: Connection, queue_id: int | None = None, *, after: int = 0, limit: int | None = None
) -> list[PoolView]:
    """By id, all or those for which the queue is eligible."""
    pool, eligible = SubmitPool.c, SubmitPoolQueue.c
    queues = select(func.count()).where(eligible.pool_id == pool.id).correlate(SubmitPool).scalar_subquery()
    buckets = (
        select(func.count(BucketPool.c.bucket_id.distinct()))
        .join(Bucket, Bucket.c.id == BucketPool.c.bucket_id)
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(BucketPool.c.pool_id == pool.id)
        .scalar_subquery()
    )
    columns = (pool.id, pool.digest, pool.project, pool.requirements, pool.updated_at, pool.last_used_at)
    pools = select(*columns, queues.label("queues"), buckets.label("buckets")).where(pool.id > after)
    if queue_id is not None:
        pools = pools.where(pool.id.in_(select(eligible.pool_id).where(eligible.queue_id == queue_id)))
    return read_all(conn, PoolView, pools.order_by(pool.id).limit(limit))


def find_queue(conn: Connection, cluster: str, queue: str) -> int | None:
    """The id of a queue by its logical name (empty: the default one); None: there is none."""
    queues = select(Queue.c.id).join(Cluster, Cluster.c.id == Queue.c.cluster_id)
    return conn.scalar(queues.where(Cluster.c.name == cluster, Queue.c.name == queue))
