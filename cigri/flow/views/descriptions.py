"""What was stored of a campaign's description.
Read by: users.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from cigri.states import CampaignType
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Project
from cigri.tables.tasks import Task, TaskHistory


class StoredDescription(NamedTuple):
    """What was stored of a campaign's description; `clusters` are ClusterSettings as JSON.

    `is_anywhere`: the grid chooses them. `written`: as its user wrote it, without parameters that only the tasks hold.
    """

    name: str
    type: CampaignType
    project: str
    scheduler: str
    replicate: dict[str, Any] | None
    requirements: Any
    is_anywhere: bool
    clusters: dict[str, dict[str, Any]]
    priority: int
    written: dict[str, Any] | None


def find_description(conn: Connection, campaign_id: int) -> StoredDescription | None:
    """None: there is no such campaign."""
    row = conn.execute(_heading(), {"id": campaign_id}).one_or_none()
    if row is None:
        return None
    clusters = conn.execute(_settings(), {"id": campaign_id})
    budget = row.replica_budget
    return StoredDescription(
        name=row.name,
        type=row.type,
        project=row.project,
        scheduler=row.scheduler,
        replicate=None if budget is None else {"budget": budget, "max_replicas": row.max_replicas},
        requirements=row.wanted,
        is_anywhere=row.is_anywhere,
        clusters={name: dict(values) for name, values in clusters},
        priority=row.own_priority,
        written=row.written,
    )


# Built once: they take longer to build than to answer.


@cache
def _heading() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Campaign.c.name,
            Campaign.c.type,
            func.coalesce(Project.c.name, "").label("project"),
            Campaign.c.scheduler,
            Campaign.c.replica_budget,
            Campaign.c.max_replicas,
            Campaign.c.wanted,
            Campaign.c.anywhere.is_not(None).label("is_anywhere"),
            Campaign.c.own_priority,
            Campaign.c.written,
        )
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Campaign.c.id == bindparam("id"))
    )


@cache
def _settings() -> Select[*tuple[Any, ...]]:
    part = CampaignCluster.c
    return (
        select(Cluster.c.name, part.settings)
        .join(Cluster, Cluster.c.id == part.cluster_id)
        .where(part.campaign_id == bindparam("id"))
        .order_by(Cluster.c.name)
    )


@cache
def _is_anywhere() -> Select[bool]:
    return select(Campaign.c.anywhere.is_not(None)).where(Campaign.c.id == bindparam("id"))


def list_parameters(conn: Connection, campaign_id: int, first: int, number: int) -> list[object]:
    """Of so many tasks from the number `first` on, in their order, archived or not."""
    for kept in (Task, TaskHistory):
        chosen = select(kept.c.parameter).where(kept.c.campaign_id == campaign_id)
        chosen = chosen.where(kept.c.number.between(first, first + number - 1)).order_by(kept.c.number)
        if listed := conn.scalars(chosen).all():
            return list(listed)
    return []


def is_chosen_by_grid(conn: Connection, campaign_id: int) -> bool:
    """Are its clusters the grid's choice?"""
    return bool(conn.scalar(_is_anywhere(), {"id": campaign_id}))
