"""Submit pools: each distinct set of requirements once, with the queues that satisfy it and why others do not."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Column, ForeignKey, Index, Named, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import QueueRejectCode
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class SubmitPoolColumns(NumberedColumns):
    """What jobs of a project demand of a queue (`requirements`, canonical, of which `digest` is the hash).

    Its queues were computed at `updated_at`, from `version` of the resources. `last_used_at`: when a bucket of an open
    campaign was last seen to be of it. `closed`: clusters of which no queue is eligible.
    """

    digest: Named[str]
    project: Named[str]
    requirements: Named[dict[str, Any]] = Column(JSONB)
    created_at: Named[datetime]
    updated_at: Named[datetime]
    last_used_at: Named[datetime]
    version: Named[int]
    closed: Named[list[int]] = Column(ARRAY(BigInteger), server_default="{}")


SubmitPool = table(
    "submit_pools",
    SubmitPoolColumns,
    UniqueConstraint("digest", "project"),
    Index(None, "version"),
    Index(None, "updated_at"),
    Index("ix_submit_pools_closed", "id", postgresql_where="closed <> '{}'"),
)


class SubmitPoolQueueColumns(TableColumns):
    """A queue that is eligible for the jobs of a pool, since `at`.

    `condition`: what its batch system has to choose nodes by, in canonical form; null: any will do.
    """

    pool_id: Named[int] = Column(ForeignKey("submit_pools.id", ondelete="CASCADE"), primary_key=True)
    queue_id: Named[int] = Column(ForeignKey("queues.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    condition: Named[dict[str, Any] | None] = Column(JSONB(none_as_null=True))


SubmitPoolQueue = table("submit_pool_queues", SubmitPoolQueueColumns, Index(None, "queue_id"))


class SubmitPoolRejectColumns(TableColumns):
    """A queue that is not, since `at`, and the first reason: `name` is `wanted`, and `found` is what there is."""

    pool_id: Named[int] = Column(ForeignKey("submit_pools.id", ondelete="CASCADE"), primary_key=True)
    queue_id: Named[int] = Column(ForeignKey("queues.id", ondelete="CASCADE"), primary_key=True)
    code: Named[QueueRejectCode] = Column(one_of(QueueRejectCode, "reject_code"))
    name: Named[str]
    wanted: Named[str]
    found: Named[str]
    at: Named[datetime]


SubmitPoolReject = table("submit_pool_rejects", SubmitPoolRejectColumns, Index(None, "queue_id"))


class BucketPoolColumns(TableColumns):
    """The pool of a bucket's jobs on one of its campaign's clusters, whose settings are part of what they demand."""

    bucket_id: Named[int] = Column(ForeignKey("buckets.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"), primary_key=True)
    pool_id: Named[int] = Column(ForeignKey("submit_pools.id", ondelete="CASCADE"))


BucketPool = table("bucket_pools", BucketPoolColumns, Index(None, "pool_id", "cluster_id"))
