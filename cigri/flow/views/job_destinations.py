"""Destinations: which buckets may go to which clusters, and to which queue there.
Read by: campaign schedulers, metascheduler, operator, runner, stager, updator, users.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, bindparam, func, or_, select, text
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.states import CampaignState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Hold
from cigri.tables.pools import BucketPool, SubmitPool, SubmitPoolQueue
from cigri.tables.resources import Queue
from cigri.tables.tasks import Task

BucketClusterKey = tuple[int, int]
"""A campaign, or a bucket, and a cluster."""


class JobDestination(NamedTuple):
    """Where the jobs of a bucket go on a cluster: a queue by its remote name, and what its nodes have to be chosen by.

    `queue` empty: the default one, or what the campaign's settings say. `condition`: canonical; empty: any will do.
    """

    queue: str
    condition: Mapping[str, Any]


ANYWHERE = JobDestination("", {})
_BUCKET = bindparam("bucket", type_=BigInteger)
_HERE = bindparam("here", type_=BigInteger)

_POOL = (
    select(SubmitPool.c.id)
    .join(BucketPool, and_(BucketPool.c.pool_id == SubmitPool.c.id, BucketPool.c.cluster_id == _HERE))
    .join(Bucket, Bucket.c.id == BucketPool.c.bucket_id)
    .where(
        Bucket.c.campaign_id == bindparam("campaign", type_=BigInteger),
        Bucket.c.id == func.coalesce(_BUCKET, Bucket.c.id),
    )
    .order_by(Bucket.c.id)
    .limit(1)
    .with_for_update(of=SubmitPool, read=True)
)


def _eligible(which: ColumnElement[bool]) -> Select[str, Any]:
    return (
        select(Queue.c.remote_name, SubmitPoolQueue.c.condition)
        .join(SubmitPoolQueue, SubmitPoolQueue.c.queue_id == Queue.c.id)
        .where(which)
    )


_QUEUE = (
    _eligible(SubmitPoolQueue.c.pool_id == bindparam("pool", type_=BigInteger))
    .where(Queue.c.cluster_id == _HERE)
    .order_by(Queue.c.name)
    .limit(1)
)


def list_closed(conn: Connection, campaign_ids: Collection[int] | None = None) -> dict[int, set[BucketClusterKey]]:
    """By campaign in treatment (None: all) the pairs of bucket and cluster that are not for each other."""
    closed = _closed(conn, campaign_ids)
    return {
        campaign_id: {(bucket_id, cluster_id) for bucket_id, clusters in buckets.items() for cluster_id in clusters}
        for campaign_id, buckets in closed.items()
    }


def list_without_queue(conn: Connection) -> set[BucketClusterKey]:
    """Campaigns and clusters: no bucket that has tasks waiting may go there (if none has any: no bucket)."""
    closed = _closed(conn)
    if not closed:
        return set()
    barred: set[BucketClusterKey] = set()
    for campaign_id, buckets in _buckets(conn, closed).items():
        closed_clusters = closed[campaign_id]
        clusters = set(closed_clusters.get(buckets[0], ())).intersection(
            *(closed_clusters.get(bucket_id, ()) for bucket_id in buckets[1:])
        )
        barred.update((campaign_id, cluster_id) for cluster_id in clusters)
    return barred


def is_closed(bucket_id: ColumnElement[Any], cluster_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Has the bucket no eligible queue on the cluster, or is it there to test another? Null goes anywhere."""
    pooled, tested = BucketPool.alias("pooled"), Bucket.alias("tested")
    pool, bucket = pooled.c, tested.c
    eligible = _eligible(SubmitPoolQueue.c.pool_id == pool.pool_id).where(Queue.c.cluster_id == pool.cluster_id)
    own_pool = select(pool.pool_id).where(pool.bucket_id == bucket_id, pool.cluster_id == cluster_id)
    other = select(bucket.id).where(bucket.id == bucket_id, bucket.cluster_id != cluster_id)
    is_lost = own_pool.where(~eligible.exists()).correlate_except(pooled).exists()
    return or_(is_lost, other.correlate_except(tested).exists())


def is_share_held(campaign_id: ColumnElement[int], cluster_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Is the campaign, or its share of the cluster, to stand still?"""
    whole_or_here = or_(Hold.c.cluster_id.is_(None), Hold.c.cluster_id == cluster_id)
    wish = select(Hold.c.id).where(Hold.c.campaign_id == campaign_id, Hold.c.job_id.is_(None), whole_or_here)
    return wish.correlate_except(Hold).exists()


def find_destination(
    conn: Connection, campaign_id: int, bucket_id: int | None, cluster_id: int
) -> JobDestination | None:
    """None: no queue there is eligible any more; whoever says otherwise waits for the end of the transaction.

    What has no bucket, as a prologue, goes where one of the campaign's buckets may go, or else anywhere.
    """
    parameters = {"campaign": campaign_id, "bucket": bucket_id, "here": cluster_id}
    pool = conn.execute(_POOL, parameters).one_or_none()
    if pool is None:
        return ANYWHERE
    queue = conn.execute(_QUEUE, {"pool": pool.id, "here": cluster_id}).one_or_none()
    if queue is None:
        return ANYWHERE if bucket_id is None else None
    return JobDestination(queue.remote_name, queue.condition or {})


def _closed(conn: Connection, campaign_ids: Collection[int] | None = None) -> dict[int, dict[int, list[int]]]:
    """By campaign and bucket the clusters: those without an eligible queue, and those that it is not there to test."""
    bucket, pool, part = Bucket.c, BucketPool.c, CampaignCluster.c
    is_treated = and_(Campaign.c.id == bucket.campaign_id, Campaign.c.state == CampaignState.IN_TREATMENT)
    lost = (
        select(bucket.campaign_id, bucket.id, func.array_agg(pool.cluster_id))
        .join(BucketPool, pool.bucket_id == bucket.id)
        .join(SubmitPool, SubmitPool.c.id == pool.pool_id)
        .join(Campaign, is_treated)
        .where(text("closed <> '{}'"), pool.cluster_id == func.any(SubmitPool.c.closed))
        .group_by(bucket.campaign_id, bucket.id)
    )
    tested = (
        select(bucket.campaign_id, bucket.id, func.array_agg(part.cluster_id))
        .join(CampaignCluster, part.campaign_id == bucket.campaign_id)
        .join(Campaign, is_treated)
        .where(bucket.cluster_id.is_not(None), bucket.cluster_id != part.cluster_id)
        .group_by(bucket.campaign_id, bucket.id)
    )
    closed: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for statement in (lost, tested):
        wanted = statement if campaign_ids is None else statement.where(Campaign.c.id.in_(campaign_ids))
        for campaign_id, bucket_id, clusters in conn.execute(wanted):
            closed[campaign_id][bucket_id] += clusters
    return dict(closed)


def _buckets(conn: Connection, campaigns: Collection[int]) -> dict[int, Sequence[int]]:
    """Of each of these campaigns its buckets; of several only those that have tasks waiting, unless none has."""
    buckets: dict[int, list[int]] = defaultdict(list)
    statement = (
        select(Bucket.c.campaign_id, Bucket.c.id).where(Bucket.c.campaign_id.in_(campaigns)).order_by(Bucket.c.id)
    )
    for campaign_id, bucket_id in conn.execute(statement):
        buckets[campaign_id].append(bucket_id)
    return only_waiting(conn, buckets)


def only_waiting(conn: Connection, buckets: Mapping[int, Sequence[int]]) -> dict[int, Sequence[int]]:
    """By campaign: of several buckets only those that have tasks waiting, unless none has."""
    several = [bucket_id for bucket_ids in buckets.values() if len(bucket_ids) > 1 for bucket_id in bucket_ids]
    waiting = set(conn.scalars(_waiting(several))) if several else set()
    return {
        campaign_id: [bucket_id for bucket_id in bucket_ids if bucket_id in waiting] or bucket_ids
        for campaign_id, bucket_ids in buckets.items()
    }


def _waiting(bucket_ids: Collection[int]) -> Select[int]:
    """Those that have tasks to be done; the order is that of the index, in which the first is found at once."""
    is_waiting, stopped = Task.c.state == TaskState.WAITING, Task.c.checkpoint_cluster_id
    new = select(Task.c.id).where(Task.c.bucket_id == Bucket.c.id, is_waiting, stopped.is_(None))
    new = new.order_by(Task.c.priority.desc()).limit(1)
    old = select(Task.c.id).where(Task.c.campaign_id == Bucket.c.campaign_id, is_waiting, stopped.is_not(None))
    old = old.where(Task.c.bucket_id == Bucket.c.id).order_by(stopped).limit(1)
    first = func.coalesce(new.scalar_subquery(), old.scalar_subquery())
    return select(Bucket.c.id).where(Bucket.c.id.in_(bucket_ids), first.is_not(None))
