"""Grids whose nodes differ, and campaigns that require something of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, literal, select, update

from cigri.database import Database
from cigri.eligibility.clusters import queue_name
from cigri.flow.resource_documents import mark_changed
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.views.queue_verdicts import list_whys
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from cigri.tables.campaigns import Bucket
from cigri.tables.clusters import Cluster
from cigri.tables.pools import BucketPool, SubmitPool, SubmitPoolQueue
from cigri.tables.resources import NodeClass, Queue
from cigri.tables.tasks import Task
from modules import matcher
from tests.factories import NOON, a_cluster

GB = 2**30


def put_nodes(conn: Connection, cluster_id: int, *classes: Mapping[str, Any], queue: str | None = None) -> None:
    """What was discovered of a cluster, or of one of its queues (by remote name), instead of what was before."""
    conn.execute(
        delete(NodeClass).where(NodeClass.c.cluster_id == cluster_id, NodeClass.c.queue.is_not_distinct_from(queue))
    )
    for properties in classes:
        values = {"cluster_id": cluster_id, "queue": queue, "at": NOON, "properties": properties, "nodes": 1}
        conn.execute(insert(NodeClass).values(values))
    mark_changed(conn)


def a_queue(conn: Connection, cluster_id: int, name: str, requires: Mapping[str, Any] | None = None) -> int:
    """A declared queue, which its batch system calls q_NAME."""
    new = insert(Queue).values(cluster_id=cluster_id, name=name, remote_name=f"q_{name}", requires=requires)
    mark_changed(conn)
    return conn.execute(new.returning(Queue.c.id)).scalar_one()


def two_clusters(conn: Connection) -> tuple[int, int]:
    """fat has 192 GB and 16 cores in each node, thin 64 GB and 8."""
    fat, thin = a_cluster(conn, "fat"), a_cluster(conn, "thin")
    put_nodes(conn, fat, {"memory": 192 * GB, "cores": 16})
    put_nodes(conn, thin, {"memory": 64 * GB, "cores": 8})
    return fat, thin


def submit(
    conn: Connection,
    wanted: str | Mapping[str, Any] | None,
    *,
    clusters: Sequence[str] = ("fat", "thin"),
    tasks: int = 1,
    project: str = "",
    anywhere: bool = False,
    kind: CampaignType = CampaignType.DEFAULT,
    **settings: Any,
) -> int:
    part = NewCampaignCluster({"exec_file": "true", "walltime": 3600, **settings}, 1, None, False, False)
    others = [name for name in conn.scalars(select(Cluster.c.name)) if name not in clusters]
    parts, spare = dict.fromkeys(clusters, part), dict.fromkeys(others, part) if anywhere else None
    new = NewCampaign("c", "alice", kind, project, "workqueue", {}, parts, wanted=wanted, anywhere=spare)
    return put_campaign(conn, new, ["1"] * tasks)


def refused(conn: Connection, campaign_id: int) -> dict[str, str]:
    """The codes of the queues that are not eligible for some bucket, by place."""
    whys = list_whys(conn, campaign_id)
    return {queue_name(why.queue, why.cluster): why.code.value for why in whys if why.code is not None}


def pools_of(conn: Connection, campaign_id: int) -> list[int]:
    found = select(BucketPool.c.pool_id).join(Bucket, Bucket.c.id == BucketPool.c.bucket_id).distinct()
    return list(conn.scalars(found.where(Bucket.c.campaign_id == campaign_id).order_by(BucketPool.c.pool_id)))


def eligible(conn: Connection, pool_id: int) -> set[int]:
    return set(conn.scalars(select(SubmitPoolQueue.c.queue_id).where(SubmitPoolQueue.c.pool_id == pool_id)))


def updates(conn: Connection) -> list[datetime]:
    return list(conn.scalars(select(SubmitPool.c.updated_at).order_by(SubmitPool.c.id)))


def tools(database: Database) -> PassContext:
    return PassContext(database, Settings(), TransportGateway())


def match(database: Database) -> PassReport:
    return matcher.run_once(tools(database))


def split(conn: Connection, campaign_id: int, numbers: Sequence[int], like: int) -> int:
    """Tasks of a campaign come into a bucket of their own, of the pools of another campaign; give the bucket."""
    new = insert(Bucket).values(campaign_id=campaign_id, requirements={"like": like}).returning(Bucket.c.id)
    bucket_id = conn.execute(new).scalar_one()
    mine = Task.c.campaign_id == campaign_id
    conn.execute(update(Task).where(mine, Task.c.number.in_(numbers)).values(bucket_id=bucket_id))
    theirs = select(literal(bucket_id), BucketPool.c.cluster_id, BucketPool.c.pool_id)
    theirs = theirs.join(Bucket, Bucket.c.id == BucketPool.c.bucket_id).where(Bucket.c.campaign_id == like)
    conn.execute(insert(BucketPool).from_select(["bucket_id", "cluster_id", "pool_id"], theirs))
    return bucket_id
