"""Withdrawals: jobs that no cluster has taken, or shall have; their tasks wait again.
Given by: operator, runner, users; taken by: runner.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, bindparam, func, or_, select, tuple_
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.selectable import Select

from cigri.database import id_list
from cigri.database.typed_rows import read_all
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended, put_unsent
from cigri.flow.views.job_destinations import is_closed, is_share_held
from cigri.lifecycle.verdicts import AttemptCounts, decide_verdict
from cigri.settings.sections import JobSettings
from cigri.states import BatchState, CampaignState, JobKind, JobState, KillReason, Outcome
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import transition_to

NOT_LAUNCHED = (
    "the campaign was held, or the cluster away, set aside for it, outside its hours or not eligible, before "
    "it was launched"
)


class LaunchingBatch(NamedTuple):
    """A batch whose submission was begun and whose outcome nobody noted."""

    id: int
    tag: str
    campaign_id: int
    local_user: str
    size: int


def list_launching(conn: Connection, cluster_id: int) -> list[LaunchingBatch]:
    """Under the runner's lock of the cluster these are the remains of a crash or of a lost answer."""
    return read_all(conn, LaunchingBatch, _launching(), {"here": cluster_id})


@cache
def _launching() -> Select[*tuple[Any, ...]]:
    return (
        select(Batch.c.id, Batch.c.tag, Batch.c.campaign_id, Batch.c.local_user, Batch.c.size)
        .where(Batch.c.cluster_id == bindparam("here", type_=BigInteger), Batch.c.state == BatchState.LAUNCHING)
        .order_by(Batch.c.created_at, Batch.c.id)
    )


def return_tasks(
    conn: Connection, cluster_id: int, batch_id: int, outcome: Outcome, reason: str, limits: JobSettings
) -> int:
    """The batch was never submitted and never will be: end its jobs, judge their tasks, and give the number of jobs."""
    voided = conn.execute(_voiding().where(Batch.c.id == batch_id).returning(Batch.c.campaign_id)).one_or_none()
    if voided is None:
        return 0
    jobs = conn.execute(
        select(Job.c.id, Job.c.kind).where(Job.c.batch_id == batch_id, Job.c.state == JobState.LAUNCHING)
    ).all()
    attempts = _attempts(conn, [job.id for job in jobs], outcome, limits)
    ended = [EndedJob(job.id, voided.campaign_id, JobKind(job.kind), outcome, None, "", reason, None) for job in jobs]
    put_ended(conn, cluster_id, attempts, ended)
    return len(jobs)


def put_back_unlaunched(conn: Connection, limits: JobSettings, shut: Collection[tuple[int, int]] = ()) -> int:
    """End jobs to launch that cannot be launched now, so that they hold neither tasks nor places; give their number.

    Their campaign is held, or their cluster is disabled, does not answer, is `shut` or set aside for the
    campaign, or has no eligible queue any more; or all that they carry is over.
    """
    is_held = is_share_held(Job.c.campaign_id, Job.c.cluster_id)
    is_shut = tuple_(Job.c.campaign_id, Job.c.cluster_id).in_([tuple(share) for share in shut])
    is_stuck = or_(Campaign.c.state != CampaignState.IN_TREATMENT, ~Cluster.c.is_enabled, Cluster.c.failures > 0)
    is_superseded = select(KillRequest.c.job_id).where(
        KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open, KillRequest.c.reason == KillReason.SUPERSEDED
    )
    part = CampaignCluster
    there = part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id
    is_set_aside = select(part.c.campaign_id).where(*there, part.c.blocked_until > func.now()).exists()
    is_to_end = or_(is_stuck, is_held, is_shut, is_set_aside, is_superseded.exists())
    is_barred = is_closed(Job.c.bucket_id, Job.c.cluster_id)
    stuck = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Job.c.cluster_id, Job.c.kind)
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .where(Job.c.state == JobState.TO_LAUNCH, or_(is_to_end, is_barred))
        .order_by(Job.c.id)
        .with_for_update(of=Job, skip_locked=True, key_share=True)  # whoever locks the tasks first asks to kill them
    ).all()
    end_unsent(conn, stuck, Outcome.WITHDRAWN, NOT_LAUNCHED, limits)
    return len(stuck)


def withdraw_all(conn: Connection, reason: str, limits: JobSettings) -> int:
    """End all jobs that are, or may be, on clusters, whatever becomes of them there; give their number."""
    there = (JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING)
    jobs = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Job.c.cluster_id, Job.c.kind).where(Job.c.state.in_(there))
    ).all()
    conn.execute(_voiding())
    end_unsent(conn, jobs, Outcome.WITHDRAWN, reason, limits)
    return len(jobs)


def _voiding() -> Update:
    return transition_to(Batch.c.state, BatchState.VOID).values(settled_at=func.now())


def end_unsent(
    conn: Connection, jobs: Sequence[Row[int, int, int, JobKind]], outcome: Outcome, reason: str, limits: JobSettings
) -> None:
    """Settle jobs (id, campaign_id, cluster_id, kind), of any campaigns and clusters, of which no record will come."""
    by_cluster: dict[int, list[EndedJob]] = defaultdict(list)
    for job in jobs:
        end = EndedJob(job.id, job.campaign_id, job.kind, outcome, None, "", reason, None)
        by_cluster[job.cluster_id].append(end)
    if by_cluster:
        put_unsent(conn, _attempts(conn, [job.id for job in jobs], outcome, limits), by_cluster)


def _attempts(conn: Connection, job_ids: Sequence[int], outcome: Outcome, limits: JobSettings) -> list[EndedAttempt]:
    carried = conn.execute(
        select(
            Task.c.campaign_id,
            Attempt.c.job_id,
            Attempt.c.task_id,
            Attempt.c.number,
            Task.c.failures,
            Task.c.deaths,
            Task.c.resubmissions,
        )
        .join(Task, Task.c.id == Attempt.c.task_id)
        .where(Attempt.c.job_id.in_(id_list(job_ids)), Attempt.c.outcome.is_(None))
    )
    return [
        EndedAttempt(
            row.campaign_id,
            row.job_id,
            row.task_id,
            row.number,
            outcome,
            None,
            None,
            None,
            decide_verdict(outcome, AttemptCounts(row.failures, row.deaths, row.resubmissions, 0), limits),
        )
        for row in carried
    ]
