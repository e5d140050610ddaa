"""Which campaigns have the cores of clusters.
Read by: users.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, cast, func, select

from cigri.database.typed_rows import read_all
from cigri.states import JobState
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job


class CoreHolder(NamedTuple):
    """A campaign on a cluster: cores of its jobs that run there, and of those that are suspended."""

    cluster: str
    config: dict[str, Any]
    campaign_id: int
    user: str
    running: int
    suspended: int


def list_core_holders(conn: Connection, clusters: Collection[str]) -> list[CoreHolder]:
    """Of these clusters, by name; the campaigns with the most cores first."""
    if not clusters:
        return []
    cores = func.coalesce(func.sum(Job.c.width).filter(Job.c.halted_since.is_(None)), 0)
    suspended = func.coalesce(func.sum(Job.c.width).filter(Job.c.halted_since.is_not(None)), 0)
    statement = (
        select(Cluster.c.name.label("cluster"), Cluster.c.config, Job.c.campaign_id, Campaign.c.grid_user.label("user"))
        .add_columns(cast(cores, BigInteger).label("running"), cast(suspended, BigInteger).label("suspended"))
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .where(Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None), Cluster.c.name.in_(clusters))
        .group_by(Cluster.c.id, Job.c.campaign_id, Campaign.c.id)
        .order_by(func.sum(Job.c.width).desc(), Job.c.campaign_id)
    )
    return read_all(conn, CoreHolder, statement)
