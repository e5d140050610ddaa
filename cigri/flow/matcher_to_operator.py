"""The matcher shows operators its submit pools."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, select

from cigri.states import OPEN_CAMPAIGNS
from cigri.tables.campaigns import Bucket, Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.pools import BucketPool, SubmitPool, SubmitPoolQueue
from cigri.tables.resources import Queue


class PoolView(NamedTuple):
    """A submit pool as operators see it; `queues` eligible, and `buckets` of open campaigns that are of it."""

    id: int
    digest: str
    project: str
    requirements: Mapping[str, Any]
    updated_at: datetime
    last_used_at: datetime
    queues: int
    buckets: int


def list_pools(conn: Connection, queue_id: int | None = None) -> list[PoolView]:
    """All of them, or those for which a queue is eligible."""
    pool, mine = SubmitPool.c, SubmitPoolQueue.c
    queues = select(func.count()).where(mine.pool_id == pool.id).correlate(SubmitPool).scalar_subquery()
    buckets = (
        select(func.count(BucketPool.c.bucket_id.distinct()))
        .join(Bucket, Bucket.c.id == BucketPool.c.bucket_id)
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(BucketPool.c.pool_id == pool.id)
        .scalar_subquery()
    )
    about = (pool.id, pool.digest, pool.project, pool.requirements, pool.updated_at, pool.last_used_at)
    found = select(*about, queues, buckets).order_by(pool.id)
    if queue_id is not None:
        found = found.where(pool.id.in_(select(mine.pool_id).where(mine.queue_id == queue_id)))
    return [PoolView._make(row) for row in conn.execute(found)]


def find_queue(conn: Connection, cluster: str, queue: str) -> int | None:
    """By its logical name; empty: the default one."""
    found = select(Queue.c.id).join(Cluster, Cluster.c.id == Queue.c.cluster_id)
    return conn.scalar(found.where(Cluster.c.name == cluster, Queue.c.name == queue))
