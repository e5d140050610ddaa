"""Live jobs: watched from their submission to their end, as their cluster lists them.
Given by: updator; taken by: updator.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Float,
    Interval,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    false,
    func,
    null,
    select,
    type_coerce,
    update,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select, TableValuedAlias
from sqlalchemy.types import TypeEngine

from cigri.database import IDS, bound_values_table, interval, rows_as_json
from cigri.database.typed_rows import read_all
from cigri.flow.standstill import halted_from, seconds_halted
from cigri.states import JobKind, JobState, KillReason
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Batch, Job
from cigri.tables.transitions import transition_each

SEEN_COLUMNS: Mapping[str, TypeEngine[Any]] = {
    "id": BigInteger(),
    "state": Text(),
    "remote_id": Text(),
    "node": Text(),
    "is_halted": Boolean(),
    "started": DOUBLE_PRECISION(),
}
EARLIEST = timedelta(minutes=1)  # no cluster's clock makes a job older than that when it is first seen to run


class WatchedJob(NamedTuple):
    """A submitted job that has not ended; `kill` is why we asked for its death, if we did.

    `is_halted`: at the last visit it was held in the queue, or suspended. `side`: how many tasks it runs at a time.
    `runs_until`: when its walltime is over, counted from when it was first seen to run, else from when it was missing;
    None when it was neither. `is_unaccounted`: people were told that it perhaps still runs.
    `was_killed`: it was there when the kill was sent, and is gone since.
    `has_begun`: its start was found (True), or looked for in vain, which people were told; None: not looked for.
    `is_start_due`: its cluster takes it for running for so long that its start should be seen, and it was not.
    `is_undead`: its cluster was told to kill it, more than once, and should not list it any more.
    """

    job_id: int
    campaign_id: int
    kind: JobKind
    state: JobState
    width: int
    batch_id: int
    tag: str
    array_index: int
    remote_id: str
    local_user: str
    missing_since: datetime | None
    kill: KillReason | None
    is_halted: bool = False
    side: int = 1
    submitted_at: datetime | None = None
    runs_until: datetime | None = None
    is_unaccounted: bool = False
    was_killed: bool = False
    has_begun: bool | None = None
    is_start_due: bool = False
    is_undead: bool = False


class UnstartedJobs(NamedTuple):
    """How many jobs of a campaign a cluster takes for running that have not started, and one of them."""

    campaign_id: int
    jobs: int
    remote_id: str
    node: str


class ListedJob(NamedTuple):
    """A job as its cluster lists it; `state` is submitted or running. `started`: in epoch seconds, if it says so."""

    job_id: int
    state: JobState
    remote_id: str
    node: str
    is_halted: bool = False
    started: float | None = None


def list_watched(conn: Connection, cluster_id: int, lag: float) -> list[WatchedJob]:
    """Every job of a cluster that has been submitted and has not ended.

    `lag`: seconds by which what is seen there may be late.
    """
    return read_all(conn, WatchedJob, _watched(), {"here": cluster_id, "lag": timedelta(seconds=lag)})


def list_unended(conn: Connection, batch_ids: Sequence[int]) -> set[tuple[int, int]]:
    """Batch and index of the jobs of these batches that have not ended, those still being submitted among them."""
    return {(batch_id, index) for batch_id, index in conn.execute(_unended(), chosen_jobs(batch_ids))}


def move_seen(conn: Connection, seen: Sequence[ListedJob]) -> None:
    """Jobs the cluster lists are no longer missing; the time they stand still is added up, anew once they run."""
    conn.execute(_seen(), {"listed": rows_as_json(SEEN_COLUMNS, seen)})


def mark_unaccounted(conn: Connection, job_ids: Sequence[int], reason: str) -> None:
    """Note why nobody knows whether these started jobs still run."""
    conn.execute(update(Job).where(Job.c.id.in_(job_ids), Job.c.state != JobState.ENDED).values(reason=reason))


def mark_unstarted(conn: Connection, job_ids: Sequence[int], reason: str) -> None:
    """Note that the start of these running jobs was looked for in vain."""
    looked_for = Job.c.id.in_(job_ids), Job.c.state == JobState.RUNNING, Job.c.has_begun.is_(None)
    conn.execute(update(Job).where(*looked_for).values(has_begun=False, reason=reason))


def mark_begun(conn: Connection, job_ids: Sequence[int]) -> None:
    """Note that these jobs have started. Those looked for in vain before have their walltime from now on.

    Nobody wishes any longer that they die for not having started, unless the cluster was told so already.
    """
    was_late = Job.c.has_begun.is_(False)
    started = update(Job).where(Job.c.id.in_(job_ids), Job.c.state != JobState.ENDED)
    late_start = case((was_late, func.now()), else_=Job.c.started_at)
    reason = case((was_late, null()), else_=Job.c.reason)
    conn.execute(started.values(has_begun=True, started_at=late_start, reason=reason))
    is_moot = KillRequest.c.is_open, KillRequest.c.reason == KillReason.NOT_STARTED, KillRequest.c.sent_at.is_(None)
    conn.execute(delete(KillRequest).where(KillRequest.c.job_id.in_(job_ids), *is_moot))


def count_unstarted(conn: Connection, cluster_id: int, campaign_ids: Sequence[int]) -> list[UnstartedJobs]:
    """Count the jobs of these campaigns there whose start was looked for in vain; campaigns without are left out."""
    there = (
        select(Job.c.campaign_id, func.count().label("jobs"))
        .add_columns(func.min(Job.c.remote_id).label("remote_id"))
        .add_columns(func.coalesce(func.min(Job.c.node), "").label("node"))
        .where(Job.c.cluster_id == cluster_id, Job.c.campaign_id.in_(campaign_ids))
        .where(Job.c.state == JobState.RUNNING, Job.c.has_begun.is_(False))
        .group_by(Job.c.campaign_id)
    )
    return read_all(conn, UnstartedJobs, there)


def mark_missing(conn: Connection, job_ids: Sequence[int]) -> None:
    """Note since when these jobs, which have no record yet, are not in their cluster's list; an earlier time stays."""
    conn.execute(_missing(), {**chosen_jobs(job_ids)})


@cache
def _watched() -> Select[*tuple[Any, ...]]:
    lasts = interval(cast(Job.c.walltime, Float) + Job.c.halted_seconds)
    lag = bindparam("lag", type_=Interval)
    is_running = and_(Job.c.state == JobState.RUNNING, Job.c.halted_since.is_(None), Job.c.missing_since.is_(None))
    is_undead = and_(
        KillRequest.c.sent_at.is_not(None), KillRequest.c.tries > 1, KillRequest.c.asked_at + lag <= func.now()
    )
    is_old = Job.c.started_at + interval(Job.c.halted_seconds) + lag <= func.now()
    return (
        select(
            Job.c.id.label("job_id"),
            Job.c.campaign_id,
            Job.c.kind,
            Job.c.state,
            Job.c.width,
            Batch.c.id.label("batch_id"),
            Batch.c.tag,
            Job.c.array_index,
            func.coalesce(Job.c.remote_id, "").label("remote_id"),
            Batch.c.local_user,
            Job.c.missing_since,
            KillRequest.c.reason.label("kill"),
            Job.c.halted_since.is_not(None).label("is_halted"),
            func.greatest(Job.c.width // CampaignCluster.c.width, 1, type_=BigInteger).label("side"),
            Job.c.submitted_at,
            (func.coalesce(Job.c.started_at, Job.c.missing_since) + lasts).label("runs_until"),
            and_(Job.c.reason.is_not(None), Job.c.has_begun.is_not(False)).label("is_unaccounted"),
            func.coalesce(KillRequest.c.sent_at <= Job.c.missing_since, false()).label("was_killed"),
            Job.c.has_begun,
            func.coalesce(and_(is_running, Job.c.has_begun.is_not(True), is_old), false()).label("is_start_due"),
            func.coalesce(is_undead, false()).label("is_undead"),
        )
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(
            CampaignCluster,
            and_(CampaignCluster.c.campaign_id == Job.c.campaign_id, CampaignCluster.c.cluster_id == Job.c.cluster_id),
        )
        .outerjoin(KillRequest, and_(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open))
        .where(Job.c.cluster_id == bindparam("here"), Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)))
        .order_by(Job.c.id)
    )


@cache
def _unended() -> Select[int, int]:
    wanted = bound_values_table("wanted", IDS)
    places = select(Batch.c.id, type_coerce(Job.c.array_index, BigInteger)).join(wanted, wanted.c.id == Batch.c.id)
    return places.join(Job, Job.c.batch_id == Batch.c.id).where(Job.c.state != JobState.ENDED)


@cache
def _missing() -> Update:
    wanted = bound_values_table("wanted", IDS)
    is_live = and_(Job.c.missing_since.is_(None), Job.c.state != JobState.ENDED)
    return update(Job).where(Job.c.id == wanted.c.id, is_live).values(missing_since=func.now())


@cache
def _seen() -> Update:
    listed = bound_values_table("listed", SEEN_COLUMNS)
    state = cast(listed.c.state, Job.c.state.type)
    running = listed.c.state == JobState.RUNNING.value
    return (
        transition_each(Job.c.state, state, among=(JobState.SUBMITTED, JobState.RUNNING))
        .where(Job.c.id == listed.c.id)
        .values(
            remote_id=listed.c.remote_id,
            node=func.nullif(listed.c.node, ""),
            started_at=case((running, func.coalesce(Job.c.started_at, _begun(listed))), else_=None),
            running_from=case((running, func.coalesce(Job.c.running_from, func.now())), else_=None),
            missing_since=None,
            has_begun=case((running, Job.c.has_begun), else_=None),
            reason=case((and_(running, Job.c.has_begun.is_(False)), Job.c.reason), else_=None),
            halted_since=case((listed.c.is_halted, func.coalesce(Job.c.halted_since, halted_from())), else_=None),
            halted_seconds=case(
                (Job.c.state != state, 0.0),
                (listed.c.is_halted, Job.c.halted_seconds),
                else_=Job.c.halted_seconds + seconds_halted(),
            ),
        )
    )


def _begun(listed: TableValuedAlias) -> ColumnElement[datetime]:
    """When it was seen to run for the first time, or before, as its cluster says, whose clock may be wrong."""
    bounded = func.greatest(func.to_timestamp(listed.c.started), Job.c.submitted_at, func.now() - EARLIEST)
    return case((listed.c.started.is_not(None), func.least(bounded, func.now())), else_=func.now())


def chosen_jobs(ids: Sequence[int]) -> dict[str, str]:
    """The parameters of a statement whose `bound_values_table("wanted", IDS)` is to hold these ids."""
    return {"wanted": rows_as_json(IDS, [(id,) for id in ids])}
