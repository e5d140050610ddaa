"""Inputs of campaigns: files of the submitting host in the grid's store, and in the caches of accounts on clusters."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, Named
from sqlalchemy.dialects.postgresql import JSONB

from cigri.tables.columns import TableColumns, table


class StoredInputColumns(TableColumns):
    """A file in the store, by the SHA-256 of its content; `size` in bytes."""

    sha256: Named[str] = Column(primary_key=True)
    size: Named[int]
    stored_at: Named[datetime]


StoredInput = table(
    "stored_inputs",
    StoredInputColumns,
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("size >= 0", name="size"),
)


class InputSenderColumns(TableColumns):
    """Who has sent all bytes of a stored file, and so may use it: to know its sum is not to have it."""

    sha256: Named[str] = Column(ForeignKey("stored_inputs.sha256", ondelete="CASCADE"), primary_key=True)
    grid_user: Named[str] = Column(primary_key=True)
    sent_at: Named[datetime]


InputSender = table("sent_inputs", InputSenderColumns, Index(None, "grid_user"))


class CampaignInputColumns(TableColumns):
    """A file that a campaign needs on one of its clusters, or on one that it may use later."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    sha256: Named[str] = Column(ForeignKey("stored_inputs.sha256"), primary_key=True)


CampaignInput = table("campaign_inputs", CampaignInputColumns, Index(None, "sha256"))


class CampaignClusterInputColumns(TableColumns):
    """A file that a campaign needs on a cluster; `is_packed`: an archive, of which its tasks get the directory."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    sha256: Named[str] = Column(primary_key=True)
    is_packed: Named[bool] = Column(primary_key=True)


CampaignClusterInput = table(
    "part_inputs",
    CampaignClusterInputColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
)


class CachedInputColumns(TableColumns):
    """What an account has of a file on a cluster: so many bytes of it, or (`is_there`) all, verified."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    local_user: Named[str] = Column(primary_key=True)
    sha256: Named[str] = Column(primary_key=True)
    is_packed: Named[bool] = Column(primary_key=True)
    bytes: Named[int]
    is_there: Named[bool]
    at: Named[datetime]


CachedInput = table("cached_inputs", CachedInputColumns, CheckConstraint("bytes >= 0", name="bytes"))


class TaskInputColumns(TableColumns):
    """A file that a task needs of its own, by number; `place` is that of its name among the campaign's task_inputs."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    place: Named[int] = Column(primary_key=True)
    sha256: Named[str]


TaskInput = table("task_inputs", TaskInputColumns, Index(None, "sha256"))


class TaskPlaceColumns(TableColumns):
    """The cluster on which a task is to run, for its own inputs go there since `at`, or (`is_furnished`) are there."""

    campaign_id: Named[int] = Column(primary_key=True)
    number: Named[int] = Column(primary_key=True)
    cluster_id: Named[int]
    is_furnished: Named[bool]
    at: Named[datetime]


TaskPlace = table(
    "task_places",
    TaskPlaceColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    Index(None, "campaign_id", "cluster_id"),
)


class EarlierInputsColumns(TableColumns):
    """The inputs of a campaign on a cluster, as in its settings, before others were sent in their place."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    version: Named[int] = Column(primary_key=True)
    inputs: Named[list[dict[str, Any]]] = Column(JSONB)
    replaced_at: Named[datetime]


EarlierInputs = table(
    "earlier_inputs",
    EarlierInputsColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
)
