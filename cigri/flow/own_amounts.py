"""Own amounts: tasks that are done again with more memory or time than their campaign describes, in buckets of theirs.
Given by: users.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import id_list
from cigri.database.typed_rows import read_all
from cigri.errors import CigriError
from cigri.flow.submit_pools import put_pools
from cigri.flow.views.queue_verdicts import list_misses
from cigri.resources.own_amounts import OWN_KEY, OwnAmounts, own_amounts_of
from cigri.tables.campaigns import Bucket
from cigri.tables.tasks import Task


class _OldBucket(NamedTuple):
    id: int
    requirements: dict[str, Any]
    cluster_id: int | None


def give_own_amounts(conn: Connection, campaign_id: int, task_ids: Collection[int], own: OwnAmounts) -> None:
    """These tasks have these amounts from now on, and those that they were given before.

    Raise CigriError where no queue takes such jobs.
    """
    old = select(Bucket.c.id, Bucket.c.requirements, Bucket.c.cluster_id).join(Task, Task.c.bucket_id == Bucket.c.id)
    chosen = Task.c.id.in_(id_list(task_ids))
    made = []
    for bucket in read_all(conn, _OldBucket, old.where(chosen).distinct().order_by(Bucket.c.id)):
        if bucket.cluster_id is not None:
            raise CigriError(f"campaign {campaign_id} is a test; submit a new one with other amounts")
        wanted = {**bucket.requirements, OWN_KEY: {**own_amounts_of(bucket.requirements), **own}}
        made.append(_bucket(conn, campaign_id, wanted))
        conn.execute(update(Task).where(chosen, Task.c.bucket_id == bucket.id).values(bucket_id=made[-1]))
    put_pools(conn, [campaign_id])
    for _, miss in list_misses(conn, made):
        raise CigriError(f"no queue is eligible for tasks with these amounts; {miss}; nothing was changed")


def _bucket(conn: Connection, campaign_id: int, requirements: dict[str, Any]) -> int:
    row = Bucket.c
    conn.execute(insert(Bucket).values(campaign_id=campaign_id, requirements=requirements).on_conflict_do_nothing())
    there = select(row.id).where(row.campaign_id == campaign_id, row.requirements == requirements)
    return conn.execute(there.where(row.cluster_id.is_(None))).scalar_one()
