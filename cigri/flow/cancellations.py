"""Stops: jobs that their user wants no more; what was never submitted ends at once.
Given by: users; taken by: users.
"""

from sqlalchemy import Connection, func, select

from cigri.database import IDS, values_table, wake
from cigri.errors import NotFound
from cigri.flow.kill_requests import request_kills
from cigri.flow.views.ownership import is_own
from cigri.identity.callers import Caller
from cigri.states import JobState, KillReason, Outcome, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.jobs import Job
from cigri.tables.tasks import TaskCount

IS_LIVE = Job.c.state != JobState.ENDED


def kill_job(conn: Connection, job_id: int, caller: Caller) -> bool:
    """Ask for one job of the caller's to die, and its tasks with it; False when it has ended already."""
    job = (
        select(Job.c.state).join(Campaign, Campaign.c.id == Job.c.campaign_id).where(Job.c.id == job_id, is_own(caller))
    )
    state = conn.scalar(job)
    if state is None:
        raise NotFound(f"you have no job {job_id}; `gridstat` lists yours")
    if state is JobState.ENDED:
        return False
    cancel_jobs(conn, [job_id], caller.user)
    wake(conn)
    return True


def count_remaining(conn: Connection, campaign_id: int) -> tuple[dict[TaskState, int], int]:
    """How many tasks of a campaign are in each state, and how many of its jobs have not ended."""
    counted = select(TaskCount.c.state, func.sum(TaskCount.c.n)).where(TaskCount.c.campaign_id == campaign_id)
    tasks = {state: int(number) for state, number in conn.execute(counted.group_by(TaskCount.c.state)) if number}
    jobs = select(func.count()).select_from(Job).where(Job.c.campaign_id == campaign_id, IS_LIVE)
    return tasks, conn.execute(jobs).scalar_one()


def cancel_jobs(conn: Connection, job_ids: list[int], user: str) -> None:
    """End what was never submitted here and now; ask the killer for the rest."""
    _end_unsent(conn, job_ids)
    request_kills(conn, job_ids, KillReason.USER, user)


def _end_unsent(conn: Connection, job_ids: list[int]) -> None:
    wanted = values_table("wanted", IDS, [(job_id,) for job_id in job_ids])
    unsent = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Job.c.cluster_id, Job.c.kind)
        .join(wanted, wanted.c.id == Job.c.id)
        .where(Job.c.state == JobState.TO_LAUNCH)
        .order_by(Job.c.id)
        .with_for_update(of=Job, key_share=True)
    ).all()
    if unsent:
        from cigri.flow.withdrawals import end_unsent  # takes a moment
        from cigri.settings.sections import JobSettings

        end_unsent(conn, unsent, Outcome.KILLED, "", JobSettings())  # no limit counts for what is killed
