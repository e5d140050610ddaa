"""Outputs of tasks that are to come back by themselves, or have."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, Named

from cigri.tables.columns import TableColumns, table

IS_AWAITED = "collected_at IS NULL AND lost_at IS NULL"
IS_KEPT = "collected_at IS NOT NULL AND removed_at IS NULL"


class ParcelColumns(TableColumns):
    """What an attempt at a task has left on a cluster, `files` of `bytes` in all, which its campaign collects.

    It is awaited until it is here (`collected_at`), or given up (`lost_at`) after `tries`. `is_delivered`: it was
    written where its user wants it, not to the store. It stays on the cluster until `remove_at`.
    """

    task_id: Named[int] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    attempt: Named[int]
    campaign_id: Named[int]
    cluster_id: Named[int]
    files: Named[int]
    bytes: Named[int]
    ended_at: Named[datetime]
    tries: Named[int] = Column(server_default="0")
    collected_at: Named[datetime | None]
    lost_at: Named[datetime | None]
    is_delivered: Named[bool] = Column(server_default="false")
    remove_at: Named[datetime | None]
    removed_at: Named[datetime | None]


Parcel = table(
    "parcels",
    ParcelColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("collected_at IS NULL OR lost_at IS NULL", name="one_end"),
    CheckConstraint("(collected_at IS NULL) = (remove_at IS NULL)", name="remove_at"),
    CheckConstraint("removed_at IS NULL OR collected_at IS NOT NULL", name="removed_at"),
    Index("ix_parcels_awaited", "campaign_id", "cluster_id", "ended_at", "task_id", postgresql_where=IS_AWAITED),
    Index("ix_parcels_kept", "cluster_id", "remove_at", postgresql_where=IS_KEPT),
    Index(None, "campaign_id", "cluster_id"),
)
