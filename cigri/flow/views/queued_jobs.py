"""What waits in the queues of clusters, by what it asks for; whoever sends more counts it.
Read by: campaign schedulers, metascheduler.

What jobs ask of a batch system is one number, of all campaigns that ask the same: of the settings of the campaign on
that cluster (CampaignCluster.asked), what its user requires of nodes, and the amounts of the bucket.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Text, and_, cast, func, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.flow.views.running_jobs import is_active
from cigri.states import WAITING_JOBS, CampaignState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.jobs import Job

QUEUES_LOCK = "cigri.queues"


def asked() -> ColumnElement[int]:
    """What the jobs of a bucket ask for on a cluster: of a statement with its campaign there; null without a bucket."""
    return CampaignCluster.c.asked.bitwise_xor(_asked_anywhere())


class QueuedJobCounts(NamedTuple):
    """Jobs of ours that wait on a cluster, from chosen to queued: in all, and those with tasks by what they ask for."""

    jobs: int = 0
    asked: Mapping[int, int] = MappingProxyType({})


def lock_queues(conn: Connection) -> None:
    """Nobody else makes jobs for tasks before the end of the transaction: what is counted now is what there is."""
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(QUEUES_LOCK, 0))))


def list_queued(conn: Connection) -> dict[int, QueuedJobCounts]:
    """By cluster, where any wait, of all campaigns; a held job does not wait, nor one that is no longer listed."""
    queued: dict[int, Counter[int | None]] = defaultdict(Counter)
    for row in conn.execute(_waiting()):
        queued[row.cluster_id][row.asked] += row.jobs
    return {
        cluster_id: QueuedJobCounts(
            jobs.total(), {number: count for number, count in jobs.items() if number is not None}
        )
        for cluster_id, jobs in queued.items()
    }


@cache
def _waiting() -> Select[*tuple[Any, ...]]:
    waiting = (
        select(Job.c.cluster_id, Job.c.campaign_id, Job.c.bucket_id, func.count().label("jobs"))
        .where(Job.c.state.in_(WAITING_JOBS), is_active())
        .group_by(Job.c.cluster_id, Job.c.campaign_id, Job.c.bucket_id)
        .subquery()
    )
    part, waits = CampaignCluster.c, waiting.c
    return (
        select(waits.cluster_id, asked().label("asked"), waits.jobs)
        .join(CampaignCluster, and_(part.campaign_id == waits.campaign_id, part.cluster_id == waits.cluster_id))
        .join(Campaign, Campaign.c.id == waits.campaign_id)
        .outerjoin(Bucket, Bucket.c.id == waits.bucket_id)
    )


def list_asked(conn: Connection, campaign_ids: Collection[int] | None = None) -> dict[int, dict[int, int]]:
    """Of campaigns in treatment (None: all), by bucket: what its jobs ask for beside the settings on a cluster."""
    statement = (
        select(Bucket.c.campaign_id, Bucket.c.id, _asked_anywhere().label("asked"))
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state == CampaignState.IN_TREATMENT))
        .order_by(Bucket.c.campaign_id, Bucket.c.id)
    )
    if campaign_ids is not None:
        statement = statement.where(Bucket.c.campaign_id.in_(campaign_ids))
    by_campaign: dict[int, dict[int, int]] = defaultdict(dict)
    for campaign_id, bucket_id, number in conn.execute(statement).all():
        by_campaign[campaign_id][bucket_id] = number
    return dict(by_campaign)


def _asked_anywhere() -> ColumnElement[int]:
    wanted = func.coalesce(cast(Campaign.c.wanted, Text), "")
    return func.hashtextextended(wanted + cast(Bucket.c.requirements, Text), 0)
