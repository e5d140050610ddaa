"""Jobs that should no longer be: too many, too old, or past their walltime.
Read by: killer, metascheduler, updator.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    Connection,
    Float,
    Interval,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect, Select, TableValuedAlias

from cigri.database import bound_values_table, interval, rows_as_json
from cigri.database.typed_rows import read_all
from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.flow.relisted_jobs import LISTED
from cigri.flow.views.running_jobs import is_active
from cigri.lifecycle.verdicts import RECORDED
from cigri.states import WAITING_JOBS, CampaignType, JobKind, JobState, KillReason, Outcome, StepState
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.clusters import Cluster, ClusterState
from cigri.tables.job_requests import KillRequest, Suspension
from cigri.tables.jobs import Attempt, Batch, Job

NEVER_STARTED_SLACK = 30.0  # seconds past its walltime: as many as a job has of notice before it (BatchRequest)
VISITED = dict.fromkeys(("id", "max_waiting", "useful"), BigInteger())
SETTLED = 60.0  # seconds after which a job that waits in excess is taken back


class QueueLoad(NamedTuple):
    """Our jobs that wait on a cluster and the cores they ask for, free cores, and how many are forecast to be kept."""

    cluster_id: int
    waiting: int
    waiting_cores: int
    free: int
    keep: int


class WaitLimits(NamedTuple):
    """Seconds in a queue, seconds past the walltime; and how often a task may be taken out of a queue in all."""

    waiting: float
    walltime: float
    moves: int


class UnwantedJob(NamedTuple):
    job_id: int
    reason: KillReason


def list_queues(conn: Connection) -> list[QueueLoad]:
    """One for each cluster that was visited, and where jobs of ours wait that are not held."""
    return read_all(conn, QueueLoad, _queues())


@cache
def _queues() -> Select[int, int, int, int, int]:
    waiting = (
        select(Job.c.cluster_id, func.count().label("jobs"), cast(func.sum(Job.c.width), BigInteger).label("cores"))
        .where(Job.c.state == JobState.SUBMITTED, is_active())
        .group_by(Job.c.cluster_id)
        .subquery()
    )
    kept = case(
        (Forecast.c.send.is_not(None), LARGEST_INTEGER), else_=Forecast.c.keep
    )  # what is sent in any case is of use
    keep = select(Forecast.c.cluster_id, func.max(kept).label("jobs")).group_by(Forecast.c.cluster_id).subquery()
    return (
        select(waiting.c.cluster_id, waiting.c.jobs.label("waiting"), waiting.c.cores.label("waiting_cores"))
        .add_columns(ClusterState.c.free, func.coalesce(keep.c.jobs, 0).label("keep"))
        .join(ClusterState, ClusterState.c.cluster_id == waiting.c.cluster_id)
        .outerjoin(keep, keep.c.cluster_id == waiting.c.cluster_id)
        .order_by(waiting.c.cluster_id)
    )


def list_unwanted(
    conn: Connection, max_waiting: Mapping[int, tuple[int, int]], patience: WaitLimits
) -> list[UnwantedJob]:
    """Jobs on these clusters that nobody has asked to kill yet.

    `max_waiting` by cluster: how many may wait, and to how many an excess is cut that no longer is of use.
    """
    visited = rows_as_json(VISITED, [(cluster_id, *most) for cluster_id, most in max_waiting.items()])
    jobs = conn.execute(_unwanted(patience), {"visited": visited})
    return sorted(UnwantedJob(job_id, KillReason(reason)) for job_id, reason in jobs)


@lru_cache(maxsize=10)
def _unwanted(patience: WaitLimits) -> CompoundSelect[int, str]:
    """Built once, for as long as the settings are the same: that takes longer than to run it where nobody waits."""
    clusters = bound_values_table("visited", VISITED)
    return union_all(
        _excess(clusters, patience),
        _waiting_too_long(clusters, patience),
        _late(clusters, patience.walltime),
        _never_started(clusters),
    )


def list_over(
    conn: Connection,
    cluster_id: int,
    account: str,
    listed: Sequence[tuple[str, int, str]],
    lag: float,
    end_delay: float,
) -> dict[int, str]:
    """Of these (tag, index, remote id) the jobs of the account that are over for `lag` seconds, as they are listed.

    Those that ended by themselves may be listed for `end_delay` seconds. Those that ended although they were listed are
    not waited for.
    """
    about = {"here": cluster_id, "account": account, "lag": timedelta(seconds=lag)}
    about["end_delay"] = timedelta(seconds=max(lag, end_delay))
    return {row.id: row.remote_id for row in conn.execute(_over(), {"listed": rows_as_json(LISTED, listed), **about})}


@cache
def _over() -> Select[int, str]:
    there = bound_values_table("listed", LISTED)
    here, account = bindparam("here", type_=BigInteger), bindparam("account", type_=Text)
    lag, end_delay = bindparam("lag", type_=Interval), bindparam("end_delay", type_=Interval)
    has_lagged = Job.c.ended_at <= func.now() - case((_has_all_records(), end_delay), else_=lag)
    is_lost = KillRequest.c.reason.in_((KillReason.NOT_STARTED, KillReason.LISTED_AGAIN))
    is_known = select(KillRequest.c.job_id).where(KillRequest.c.job_id == Job.c.id, is_lost).exists()
    return (
        select(Job.c.id, there.c.remote_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(there, and_(there.c.tag == Batch.c.tag, there.c.array_index == Job.c.array_index))
        .where(Batch.c.cluster_id == here, Batch.c.local_user == account)
        .where(Job.c.state == JobState.ENDED, or_(has_lagged, is_known))
    )


def _has_all_records() -> ColumnElement[bool]:
    """The job, and each of its tasks, has told of its end: it ended by itself."""
    carried = Attempt.c.job_id == Job.c.id
    untold = select(Attempt.c.task_id).where(carried, Attempt.c.outcome.not_in(RECORDED)).exists()
    return and_(Job.c.outcome.in_(RECORDED), ~untold)


def _excess(clusters: TableValuedAlias, patience: WaitLimits) -> Select[int, str]:
    """Jobs waiting beyond a cluster's limit, or beyond what is of use, the newest; held ones are in nobody's way."""
    place = func.row_number().over(partition_by=Job.c.cluster_id, order_by=Job.c.id).label("place")
    settled = and_(Job.c.submitted_at <= func.now() - timedelta(seconds=SETTLED), may_move(patience.moves))
    waiting = (
        _live(clusters, JobState.SUBMITTED, KillReason.FLOOD)
        .add_columns(clusters.c.max_waiting, clusters.c.useful, place, settled.label("may_move"))
        .where(Job.c.halted_since.is_(None))
        .subquery()
    )
    is_idle = and_(waiting.c.place > waiting.c.useful, waiting.c.may_move)
    return select(waiting.c.id, waiting.c.reason).where(or_(waiting.c.place > waiting.c.max_waiting, is_idle))


def _waiting_too_long(clusters: TableValuedAlias, patience: WaitLimits) -> Select[int, str]:
    """Jobs that have waited too long, the newest, as many as have free cores on other clusters of their campaigns.

    The time for which they were held does not count.
    """
    halted = select(Suspension.c.job_id).where(Suspension.c.job_id == Job.c.id).exists()  # or somebody else holds it
    old = Job.c.submitted_at + interval(Job.c.halted_seconds + patience.waiting) <= func.now()
    order = func.row_number().over(partition_by=(Job.c.campaign_id, Job.c.cluster_id), order_by=Job.c.id.desc())
    waiting = (
        _live(clusters, JobState.SUBMITTED, KillReason.WAITING_TOO_LONG)
        .add_columns(Job.c.campaign_id, Job.c.cluster_id, (Job.c.width * order).label("cores"))
        .where(old, ~halted, may_move(patience.moves))
        .cte("waiting")
    )
    free = _free_cores(waiting)
    every = select(free.c.campaign_id, func.sum(free.c.cores).label("cores")).group_by(free.c.campaign_id).subquery()
    here = and_(free.c.campaign_id == waiting.c.campaign_id, free.c.cluster_id == waiting.c.cluster_id)
    return (
        select(waiting.c.id, waiting.c.reason)
        .join(every, every.c.campaign_id == waiting.c.campaign_id)
        .outerjoin(free, here)
        .where(waiting.c.cores <= every.c.cores - func.coalesce(free.c.cores, 0))
    )


def _free_cores(waiting: CTE) -> CTE:
    """Free cores for which no job of ours waits, on the clusters that the campaigns of such jobs may use."""
    part = CampaignCluster
    claimed = (
        select(Job.c.cluster_id, func.sum(Job.c.width).label("cores"))
        .where(Job.c.state.in_(WAITING_JOBS))
        .group_by(Job.c.cluster_id)
        .subquery()
    )
    cores = func.greatest(ClusterState.c.free - func.coalesce(claimed.c.cores, 0), 0)
    return (
        select(part.c.campaign_id, part.c.cluster_id, cores.label("cores"))
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .join(ClusterState, ClusterState.c.cluster_id == part.c.cluster_id)
        .outerjoin(claimed, claimed.c.cluster_id == part.c.cluster_id)
        .where(part.c.campaign_id.in_(select(waiting.c.campaign_id)))
        .where(part.c.blocked_until.is_(None), part.c.sink_since.is_(None), part.c.prologue != StepState.FAILED)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0)
        .cte("free")
    )


def may_move(moves: int) -> ColumnElement[bool]:
    """A job of tasks, none of which was taken out of queues too often already.

    What made way for others does not count: where such tasks go first in line again, they would soon be in the way.
    """
    carried, past = Attempt.alias(), Attempt.alias()
    made_way = select(KillRequest.c.job_id).where(
        KillRequest.c.job_id == past.c.job_id, KillRequest.c.reason == KillReason.FAIRNESS
    )
    often = (
        select(func.count())
        .where(past.c.task_id == carried.c.task_id, past.c.outcome == Outcome.WITHDRAWN, ~made_way.exists())
        .correlate(carried)
        .scalar_subquery()
    )
    stubborn = select(carried.c.task_id).where(carried.c.job_id == Job.c.id, often >= moves).correlate(Job).exists()
    test = select(Campaign.c.id).where(Campaign.c.id == Job.c.campaign_id, Campaign.c.type == CampaignType.TEST)
    return and_(Job.c.kind == JobKind.TASKS, ~test.correlate(Job).exists(), ~stubborn)


def _late(clusters: TableValuedAlias, slack: float) -> Select[int, str]:
    """Jobs that have run for longer than their walltime and `slack` seconds, not counting while they were suspended.

    Of those that their cluster no longer lists nobody knows whether they run at all.
    """
    limit = interval(cast(Job.c.walltime, Float) + Job.c.halted_seconds + slack)
    running = _live(clusters, JobState.RUNNING, KillReason.WALLTIME).where(is_active())
    return running.where(Job.c.started_at + limit <= func.now())


def _never_started(clusters: TableValuedAlias) -> Select[int, str]:
    """Jobs that were listed as running for all of their walltime, and have never written that they started."""
    limit = interval(cast(Job.c.walltime, Float) + Job.c.halted_seconds + NEVER_STARTED_SLACK)
    running = _live(clusters, JobState.RUNNING, KillReason.NOT_STARTED).where(is_active(), Job.c.has_begun.is_(False))
    return running.where(Job.c.started_at + limit <= func.now())


def _live(clusters: TableValuedAlias, state: JobState, reason: KillReason) -> Select[int, str]:
    """Jobs in this state that nobody has asked to kill yet, with the reason to do so."""
    asked = select(KillRequest.c.job_id).where(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open).exists()
    here = select(Job.c.id, literal(reason.value).label("reason")).join(clusters, clusters.c.id == Job.c.cluster_id)
    return here.where(Job.c.state == state, ~asked)
