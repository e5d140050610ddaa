"""The runner gives back jobs that no cluster has taken: their tasks wait again."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, or_, select, tuple_, update

from cigri.database import clock
from cigri.flow.updator_to_predictor import EndedAttempt, EndedJob, put_ended
from cigri.flow.user_to_anyone import is_share_held
from cigri.settings import JobSettings
from cigri.states import BatchState, CampaignState, JobKind, JobState, Outcome
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task
from cigri.verdicts import TaskPast, judge

NOT_LAUNCHED = "the campaign was paused or held, or the cluster away or outside its hours, before it was launched"


class LaunchingBatch(NamedTuple):
    """A batch whose submission was begun and whose outcome nobody noted."""

    id: int
    tag: str
    campaign_id: int
    local_user: str
    size: int


def list_launching(conn: Connection, cluster_id: int) -> list[LaunchingBatch]:
    """Under the runner's lock of the cluster these are the remains of a crash or of a lost answer."""
    found = conn.execute(
        select(Batch.c.id, Batch.c.tag, Batch.c.campaign_id, Batch.c.local_user, Batch.c.size)
        .where(Batch.c.cluster_id == cluster_id, Batch.c.state == BatchState.LAUNCHING)
        .order_by(Batch.c.id)
    )
    return [LaunchingBatch._make(row) for row in found]


def put_back(
    conn: Connection,
    cluster_id: int,
    batch_id: int,
    outcome: Outcome,
    reason: str,
    limits: JobSettings,
    now: datetime | None = None,
) -> int:
    """The batch was never submitted and never will be: end its jobs, judge their tasks, and give the number of jobs."""
    voided = conn.execute(
        update(Batch)
        .where(Batch.c.id == batch_id, Batch.c.state == BatchState.LAUNCHING)
        .values(state=BatchState.VOID, settled_at=clock(now))
        .returning(Batch.c.campaign_id)
    ).one_or_none()
    if voided is None:
        return 0
    jobs = conn.execute(
        select(Job.c.id, Job.c.kind).where(Job.c.batch_id == batch_id, Job.c.state == JobState.LAUNCHING)
    ).all()
    attempts = _attempts(conn, [job.id for job in jobs], voided.campaign_id, outcome, limits)
    ended = [EndedJob(job.id, voided.campaign_id, JobKind(job.kind), outcome, None, "", reason, None) for job in jobs]
    put_ended(conn, cluster_id, attempts, ended, now)
    return len(jobs)


def put_back_unlaunched(
    conn: Connection, limits: JobSettings, now: datetime | None = None, shut: Collection[tuple[int, int]] = ()
) -> int:
    """End jobs to launch that cannot be launched now, so that they hold neither tasks nor places; give their number.

    Their campaign is paused or held, or their cluster is disabled, does not answer, or is `shut` for the campaign.
    """
    is_held = is_share_held(Job.c.campaign_id, Job.c.cluster_id)
    is_shut = tuple_(Job.c.campaign_id, Job.c.cluster_id).in_([tuple(share) for share in shut])
    is_stuck = or_(Campaign.c.state != CampaignState.IN_TREATMENT, ~Cluster.c.is_enabled, Cluster.c.failures > 0)
    stuck = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Job.c.cluster_id, Job.c.kind)
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .where(Job.c.state == JobState.TO_LAUNCH, or_(is_stuck, is_held, is_shut))
        .order_by(Job.c.id)
        .with_for_update(of=Job, skip_locked=True)
    ).all()
    by_part: dict[tuple[int, int], list[EndedJob]] = defaultdict(list)
    for job in stuck:
        end = EndedJob(job.id, job.campaign_id, job.kind, Outcome.WITHDRAWN, None, "", NOT_LAUNCHED, None)
        by_part[(job.cluster_id, job.campaign_id)].append(end)
    for (cluster_id, campaign_id), ended in by_part.items():
        ids = [job.job_id for job in ended]
        put_ended(conn, cluster_id, _attempts(conn, ids, campaign_id, Outcome.WITHDRAWN, limits), ended, now)
    return len(stuck)


def _attempts(
    conn: Connection, job_ids: Sequence[int], campaign_id: int, outcome: Outcome, limits: JobSettings
) -> list[EndedAttempt]:
    found = conn.execute(
        select(
            Attempt.c.job_id, Attempt.c.task_id, Attempt.c.number, Task.c.failures, Task.c.deaths, Task.c.resubmissions
        )
        .join(Task, Task.c.id == Attempt.c.task_id)
        .where(Attempt.c.job_id.in_(job_ids), Attempt.c.outcome.is_(None))
    )
    return [
        EndedAttempt(
            campaign_id,
            row.job_id,
            row.task_id,
            row.number,
            outcome,
            None,
            None,
            None,
            judge(outcome, TaskPast(row.failures, row.deaths, row.resubmissions, 0), limits),
        )
        for row in found
    ]
