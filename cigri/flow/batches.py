"""Batches: jobs under a tag that is committed before they are submitted, and then in a cluster's queue.
Given by: runner.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, bindparam, cast, func, insert, literal, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.selectable import Select
from sqlalchemy.types import TypeEngine

from cigri.database import bound_values_table, rows_as_json
from cigri.estimates.checkpoint_interval import CheckpointInterval
from cigri.flow.launches import LaunchGroup
from cigri.flow.views.job_destinations import ANYWHERE, JobDestination, find_destination
from cigri.states import BatchState, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.jobs import Batch, Job
from cigri.tables.transitions import initial_state, transition_to
from cigri.wrapper.manifest import new_batch_id

ARRAY_PLACES: Mapping[str, TypeEngine[Any]] = {"id": BigInteger(), "i": BigInteger()}
INDEXES: Mapping[str, TypeEngine[Any]] = {"array_index": BigInteger(), "remote_id": Text()}


class PreparedBatch(NamedTuple):
    """A batch that is committed, and where it goes; `campaign_from`: when its campaign was submitted."""

    id: int
    tag: str
    created_at: datetime
    destination: JobDestination = ANYWHERE
    campaign_from: datetime | None = None


def put_batch(
    conn: Connection, launch: LaunchGroup, cluster_id: int, grid_key: str, *, notice: int | None = None
) -> PreparedBatch | None:
    """Commit the intention to submit: a batch with its tag; `notice`: as promised to its jobs, in seconds.

    None when a job has been taken away meanwhile, others were sent for its inputs, or no queue is eligible any more.
    """
    destination = find_destination(conn, launch.campaign_id, launch.bucket_id, cluster_id)
    if destination is None:
        return None
    parameters = {
        "fresh": new_batch_id(),
        "prefix": f"cigri.{grid_key}.",
        "campaign": launch.campaign_id,
        "here": cluster_id,
        "account": launch.local_user,
        "jobs": len(launch.jobs),
        "notice": notice,
        "version": launch.inputs_version,
        **(launch.rhythm._asdict() if launch.rhythm else dict.fromkeys(CheckpointInterval._fields)),
        "places": rows_as_json(ARRAY_PLACES, [(job.id, index) for index, job in enumerate(launch.jobs, start=1)]),
    }
    batch = conn.execute(_new_batch(), parameters).one_or_none()
    if batch is None:
        return None
    return PreparedBatch(batch.id, batch.tag, batch.created_at, destination, batch.submitted_at)


@cache
def _new_batch() -> Select[*tuple[Any, ...]]:
    """Takes all the jobs or none: those that wait to be launched are locked and counted first."""
    places, jobs = bound_values_table("places", ARRAY_PLACES), bindparam("jobs", type_=BigInteger)
    waiting = select(Job.c.id, places.c.i).join(places, places.c.id == Job.c.id)
    locked = waiting.where(Job.c.state == JobState.TO_LAUNCH).with_for_update(of=Job).cte("locked")
    are_all_there = select(func.count()).select_from(locked).scalar_subquery() == jobs
    part, version = CampaignCluster.c, bindparam("version", type_=BigInteger)
    as_read = select(part.campaign_id).where(
        part.campaign_id == bindparam("campaign", type_=BigInteger),
        part.cluster_id == bindparam("here", type_=BigInteger),
        part.inputs_version == version,
    )
    fresh = bindparam("fresh", type_=BigInteger).label("id")
    new = select(fresh).where(are_all_there, as_read.exists()).subquery("new")
    values = {
        "id": new.c.id,
        "tag": bindparam("prefix", type_=Text) + cast(new.c.id, Text),
        "campaign_id": bindparam("campaign", type_=BigInteger),
        "cluster_id": bindparam("here", type_=BigInteger),
        "local_user": bindparam("account", type_=Text),
        "state": literal(initial_state(Batch.c.state, BatchState.LAUNCHING), Batch.c.state.type),
        "size": jobs,
        "created_at": func.now(),
        "checkpoint_period": bindparam("period", type_=BigInteger),
        "checkpoint_life": bindparam("life", type_=DOUBLE_PRECISION),
        "checkpoint_cost": bindparam("cost", type_=DOUBLE_PRECISION),
        "promised_notice": bindparam("notice", type_=BigInteger),
        "inputs_version": version,
    }
    created = insert(Batch).from_select(list(values), select(*values.values()))
    batch = created.returning(Batch.c.id, Batch.c.tag, Batch.c.created_at).cte("batch")
    chosen = select(locked.c.id, locked.c.i, batch.c.id.label("batch_id")).join(batch, true()).subquery("chosen")
    launching = (
        transition_to(Job.c.state, JobState.LAUNCHING)
        .where(Job.c.id == chosen.c.id)
        .values(batch_id=chosen.c.batch_id, array_index=chosen.c.i)
    )
    taken = select(batch.c.id, batch.c.tag, batch.c.created_at, Campaign.c.submitted_at)
    whose = Campaign.c.id == bindparam("campaign", type_=BigInteger)
    return taken.join(Campaign, whose).add_cte(launching.cte("launching"))


def put_submitted(conn: Connection, batch_id: int, remote_ids: Mapping[int, str]) -> int:
    """The number of jobs that moved. Remote ids are by array index; a job without one is known by its batch's tag."""
    moved = conn.execute(_submitted(), {"ids": rows_as_json(INDEXES, remote_ids.items()), "batch": batch_id})
    return len(moved.all())


@cache
def _submitted() -> ReturningUpdate[int]:
    ids, batch_id = bound_values_table("ids", INDEXES), bindparam("batch", type_=BigInteger)
    settled = (
        transition_to(Batch.c.state, BatchState.SUBMITTED)
        .where(Batch.c.id == batch_id)
        .values(settled_at=func.now())
        .cte("settled")
    )
    remote_ids = (
        select(Job.c.id, ids.c.remote_id)
        .outerjoin(ids, ids.c.array_index == Job.c.array_index)
        .where(Job.c.batch_id == batch_id)
        .subquery("remote_ids")
    )
    return (
        transition_to(Job.c.state, JobState.SUBMITTED, out_of=[JobState.LAUNCHING])
        .where(Job.c.id == remote_ids.c.id)
        .values(submitted_at=func.now(), remote_id=remote_ids.c.remote_id)
        .returning(Job.c.id)
        .add_cte(settled)
    )
