"""Which queues are for a campaign, before it is submitted and after, and why others are not.
Read by: operator, users.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, func, select

from cigri.database import bound_id_list
from cigri.eligibility.clusters import NO_AMOUNTS, ClusterChoice, UnknownNames, choose, queue_name, unheard
from cigri.eligibility.pools import BucketVerdict, pool_on, summarize_verdicts
from cigri.flow.views.job_destinations import is_closed
from cigri.flow.views.queues import list_queues, property_kinds
from cigri.states import QueueRejectCode
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.pools import BucketPool, SubmitPoolQueue, SubmitPoolReject
from cigri.tables.resources import Queue
from cigri.tables.tasks import Task


class QueueVerdict(NamedTuple):
    """A queue of the grid, judged for `buckets` buckets of a campaign, and eligible for `eligible` of them.

    `is_used`: its cluster is one of the campaign's. The reason and since when it holds are those of the first bucket
    that is refused; else since when it is eligible.
    """

    cluster: str
    queue: str
    is_used: bool
    buckets: int
    eligible: int
    code: QueueRejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None

    @property
    def place(self) -> str:
        """The queue as a person names it: `queue@cluster`, or of a default queue its cluster."""
        return queue_name(self.queue, self.cluster)


def choose_clusters(
    conn: Connection,
    project: str,
    raw: str | Mapping[str, Any] | None,
    settings: Mapping[str, Mapping[str, Any]],
    bucket: Mapping[str, Any] = NO_AMOUNTS,
) -> ClusterChoice:
    """For a campaign that requires `raw`, and has these settings (ClusterSettings as JSON) on its clusters.

    Where amounts are computed for each task, they are those of the `bucket`.
    """
    return choose(list_queues(conn, project), property_kinds(conn), raw, settings, bucket)


def unheard_of(conn: Connection, project: str, raw: str | Mapping[str, Any] | None) -> UnknownNames:
    """Names that a requirement says, and that are of nothing in the grid."""
    return UnknownNames() if raw is None else unheard(list_queues(conn, project), property_kinds(conn), raw)


def list_misses(conn: Connection, bucket_ids: Collection[int]) -> Iterator[tuple[int, str]]:
    """Of these buckets those that have no eligible queue on their campaign's clusters, and what is nearest to one."""
    is_pooled = BucketPool.c.bucket_id == Bucket.c.id
    is_open = select(BucketPool.c.pool_id).where(is_pooled, ~is_closed(BucketPool.c.bucket_id, BucketPool.c.cluster_id))
    part, columns = CampaignCluster.c, (Bucket.c.id, Bucket.c.campaign_id, Bucket.c.requirements, Campaign.c.wanted)
    lost = conn.execute(
        select(*columns, func.coalesce(Project.c.name, ""))
        .join(Campaign, Campaign.c.id == Bucket.c.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Bucket.c.id.in_(bucket_ids), ~is_open.exists())
        .order_by(Bucket.c.id)
    )
    for bucket_id, campaign_id, bucket, raw, project in lost.all():
        parts = select(Cluster.c.name, part.settings).join(Cluster, Cluster.c.id == part.cluster_id)
        shares = conn.execute(parts.where(part.campaign_id == campaign_id))
        settings = {name: own for name, own in shares}
        yield bucket_id, choose_clusters(conn, project, raw, settings, bucket).miss


def list_whys(conn: Connection, campaign_id: int, bucket_id: int | None = None) -> list[QueueVerdict]:
    """Every queue of the grid, by cluster, for a campaign or one of its buckets.

    On clusters that are not the campaign's a bucket is judged as on the first of those that are.
    """
    asked = {"campaign_id": campaign_id}
    used = set(conn.scalars(_used_clusters(), asked))
    pools: dict[int, dict[int, int]] = defaultdict(dict)
    for bucket, cluster_id, pool_id in conn.execute(_pools(), asked):
        if bucket_id in (None, bucket):
            pools[bucket][cluster_id] = pool_id
    verdicts = _verdicts(conn, {pool_id for by_cluster in pools.values() for pool_id in by_cluster.values()})
    whys = []
    for queue in conn.execute(_queues()):
        keys = [(pool_on(queue.cluster_id, by_cluster), queue.id) for by_cluster in pools.values()]
        summed = summarize_verdicts([verdicts[key] for key in keys if key in verdicts])
        is_used = queue.cluster_id in used
        whys.append(
            QueueVerdict(queue.cluster, queue.name, is_used, summed.buckets, summed.eligible, **summed.shown._asdict())
        )
    return whys


# Built once: they take longer to build than to answer.


@cache
def _used_clusters() -> Select[int]:
    part = CampaignCluster.c
    return select(part.cluster_id).where(part.campaign_id == bindparam("campaign_id"))


@cache
def _pools() -> Select[int, int, int]:
    pool = BucketPool.c
    pooled = select(pool.bucket_id, pool.cluster_id, pool.pool_id).join(Bucket, Bucket.c.id == pool.bucket_id)
    return pooled.where(Bucket.c.campaign_id == bindparam("campaign_id")).order_by(pool.bucket_id, pool.cluster_id)


@cache
def _queues() -> Select[int, int, str, str]:
    queues = select(Queue.c.id, Queue.c.cluster_id, Cluster.c.name.label("cluster"), Queue.c.name)
    return queues.join(Cluster, Cluster.c.id == Queue.c.cluster_id).order_by(Cluster.c.name, Queue.c.name)


@cache
def _eligible() -> Select[int, int, datetime]:
    yes = SubmitPoolQueue.c
    return select(yes.pool_id, yes.queue_id, yes.at).where(yes.pool_id.in_(bound_id_list("pools")))


@cache
def _refused() -> Select[*tuple[Any, ...]]:
    no = SubmitPoolReject.c
    reason = (no.code, no.name, no.wanted, no.found, no.at)
    return select(no.pool_id, no.queue_id, *reason).where(no.pool_id.in_(bound_id_list("pools")))


def find_bucket(conn: Connection, campaign_id: int, number: int) -> int | None:
    """Of a task by its number in its campaign; None: there is no such task, or it is archived."""
    is_it = and_(Task.c.campaign_id == campaign_id, Task.c.number == number)
    return conn.scalar(select(Task.c.bucket_id).where(is_it))


def _verdicts(conn: Connection, pool_ids: Collection[int]) -> dict[tuple[int, int], BucketVerdict]:
    """By the ids of pool and queue; a pair that was not judged yet is missing."""
    asked, verdicts = {"pools": list(pool_ids)}, {}
    for pool_id, queue_id, since in conn.execute(_eligible(), asked):
        verdicts[pool_id, queue_id] = BucketVerdict(None, "", "", "", since)
    for row in conn.execute(_refused(), asked):
        verdicts[row.pool_id, row.queue_id] = BucketVerdict(row.code, row.name, row.wanted, row.found, row.at)
    return verdicts
