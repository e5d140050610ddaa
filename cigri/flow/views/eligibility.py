"""Which queues are for a campaign, before it is submitted and after, and why others are not.
Read by: users.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, select

from cigri.database.typed_rows import read_one
from cigri.flow.views.destinations import is_closed
from cigri.flow.views.queues import list_queues, property_kinds
from cigri.rules.choosing import NO_AMOUNTS, ClusterChoice, Unheard, choose, queue_name, unheard
from cigri.states import RejectCode, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.pools import BucketPool, SubmitPoolQueue, SubmitPoolReject
from cigri.tables.resources import Queue
from cigri.tables.tasks import Task


class QueueWhy(NamedTuple):
    """A queue of the grid, judged for `buckets` buckets of a campaign, and eligible for `eligible` of them.

    `is_used`: its cluster is one of the campaign's. The reason and since when it holds are those of the first bucket
    that is refused; else since when it is eligible.
    """

    cluster: str
    queue: str
    is_used: bool
    buckets: int
    eligible: int
    code: RejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None

    @property
    def place(self) -> str:
        return queue_name(self.queue, self.cluster)


class TaskPlace(NamedTuple):
    campaign_id: int
    bucket_id: int
    state: TaskState


class _QueueVerdict(NamedTuple):
    code: RejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None


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


def unheard_of(conn: Connection, project: str, raw: str | Mapping[str, Any] | None) -> Unheard:
    """Names that a requirement says, and that are of nothing in the grid."""
    return Unheard() if raw is None else unheard(list_queues(conn, project), property_kinds(conn), raw)


def list_misses(conn: Connection, bucket_ids: Collection[int]) -> Iterator[tuple[int, str]]:
    """Of these buckets those that have no eligible queue on their campaign's clusters, and what is nearest to one."""
    mine = BucketPool.c.bucket_id == Bucket.c.id
    is_open = select(BucketPool.c.pool_id).where(mine, ~is_closed(BucketPool.c.bucket_id, BucketPool.c.cluster_id))
    part, about = CampaignCluster.c, (Bucket.c.id, Bucket.c.campaign_id, Bucket.c.requirements, Campaign.c.wanted)
    lost = conn.execute(
        select(*about, func.coalesce(Project.c.name, ""))
        .join(Campaign, Campaign.c.id == Bucket.c.campaign_id)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Bucket.c.id.in_(bucket_ids), ~is_open.exists())
        .order_by(Bucket.c.id)
    )
    for bucket_id, campaign_id, bucket, raw, project in lost.all():
        parts = select(Cluster.c.name, part.settings).join(Cluster, Cluster.c.id == part.cluster_id)
        found = conn.execute(parts.where(part.campaign_id == campaign_id))
        settings = {name: own for name, own in found}
        yield bucket_id, choose_clusters(conn, project, raw, settings, bucket).miss


def list_whys(conn: Connection, campaign_id: int, bucket_id: int | None = None) -> list[QueueWhy]:
    """Every queue of the grid, by cluster, for a campaign or one of its buckets.

    On clusters that are not the campaign's a bucket is judged as on the first of those that are.
    """
    part, pool = CampaignCluster.c, BucketPool.c
    used = set(conn.scalars(select(part.cluster_id).where(part.campaign_id == campaign_id)))
    mine = select(pool.bucket_id, pool.cluster_id, pool.pool_id).join(Bucket, Bucket.c.id == pool.bucket_id)
    mine = mine.where(Bucket.c.campaign_id == campaign_id).order_by(pool.bucket_id, pool.cluster_id)
    if bucket_id is not None:
        mine = mine.where(pool.bucket_id == bucket_id)
    pools: dict[int, dict[int, int]] = defaultdict(dict)
    for bucket, cluster_id, pool_id in conn.execute(mine):
        pools[bucket][cluster_id] = pool_id
    verdicts = _verdicts(conn, {pool_id for by_cluster in pools.values() for pool_id in by_cluster.values()})
    queues = select(Queue.c.id, Queue.c.cluster_id, Cluster.c.name.label("cluster"), Queue.c.name)
    whys = []
    for queue in conn.execute(
        queues.join(Cluster, Cluster.c.id == Queue.c.cluster_id).order_by(Cluster.c.name, Queue.c.name)
    ):
        chosen = [some.get(queue.cluster_id, next(iter(some.values()))) for some in pools.values()]
        found = [verdicts[key] for one in chosen if (key := (one, queue.id)) in verdicts]
        refused = [verdict for verdict in found if verdict.code is not None]
        first = next(iter(refused or found), _QueueVerdict(None, "", "", "", None))
        why = QueueWhy(
            cluster=queue.cluster,
            queue=queue.name,
            is_used=queue.cluster_id in used,
            buckets=len(found),
            eligible=len(found) - len(refused),
            **first._asdict(),
        )
        whys.append(why)
    return whys


def find_bucket(conn: Connection, campaign_id: int | None, number: int) -> TaskPlace | None:
    """Of a task in the hot tables, by its number in a campaign or (None) by its own."""
    which = Task.c.id == number
    if campaign_id is not None:
        which = and_(Task.c.campaign_id == campaign_id, Task.c.number == number)
    return read_one(conn, TaskPlace, select(Task.c.campaign_id, Task.c.bucket_id, Task.c.state).where(which))


def _verdicts(conn: Connection, pool_ids: Collection[int]) -> dict[tuple[int, int], _QueueVerdict]:
    """By pool and queue."""
    yes, no = SubmitPoolQueue.c, SubmitPoolReject.c
    verdicts = {}
    for pool_id, queue_id, since in conn.execute(
        select(yes.pool_id, yes.queue_id, yes.at).where(yes.pool_id.in_(pool_ids))
    ):
        verdicts[pool_id, queue_id] = _QueueVerdict(None, "", "", "", since)
    reason = (no.code, no.name, no.wanted, no.found, no.at)
    for row in conn.execute(select(no.pool_id, no.queue_id, *reason).where(no.pool_id.in_(pool_ids))):
        verdicts[row.pool_id, row.queue_id] = _QueueVerdict(row.code, row.name, row.wanted, row.found, row.at)
    return verdicts
