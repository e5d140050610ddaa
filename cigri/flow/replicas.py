"""Replicas: several attempts at a task, of which one counts.
Given by: operator, runner, updator, users; taken by: operator, runner, updator, users.
"""

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from sqlalchemy import ARRAY, BigInteger, Connection, bindparam, func, select
from sqlalchemy.sql.selectable import Select

from cigri.database import IDS, values_table
from cigri.flow.kill_requests import request_kills
from cigri.states import JobState, KillReason, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task


class ReplicatedTask(NamedTuple):
    """A task of which more is to be known than one end: its state, and the numbers of its live attempts."""

    state: TaskState
    live: frozenset[int]


def lock_replicated(
    conn: Connection, campaign_ids: Collection[int], task_ids: Collection[int]
) -> dict[int, ReplicatedTask]:
    """Of these tasks those that have several live attempts, or are over; none gets another attempt before the commit.

    Only tasks of campaigns that are replicated can have; they are locked in order, before anything else of them is.
    """
    replicated = list(conn.scalars(_replicated(), {"campaigns": sorted(campaign_ids)})) if campaign_ids else []
    if not replicated:
        return {}
    wanted = values_table("wanted", IDS, [(task_id,) for task_id in task_ids])
    states = {
        row.id: row.state
        for row in conn.execute(
            select(Task.c.id, Task.c.state)
            .join(wanted, wanted.c.id == Task.c.id)
            .where(Task.c.campaign_id.in_(replicated))
            .order_by(Task.c.id)
            .with_for_update(of=Task, key_share=True)
        )
    }
    live: dict[int, set[int]] = defaultdict(set)
    there = select(Attempt.c.task_id, Attempt.c.number).join(wanted, wanted.c.id == Attempt.c.task_id)
    for task_id, number in conn.execute(there.where(Attempt.c.outcome.is_(None))):
        live[task_id].add(number)
    return {
        task_id: ReplicatedTask(state, frozenset(live[task_id]))
        for task_id, state in states.items()
        if state is not TaskState.ASSIGNED or len(live[task_id]) > 1
    }


@cache
def _replicated() -> Select[int]:
    is_chosen = Campaign.c.id == func.any(bindparam("campaigns", type_=ARRAY(BigInteger)))
    return select(Campaign.c.id).where(is_chosen, Campaign.c.max_replicas.is_not(None))


def supersede(conn: Connection, task_ids: Collection[int]) -> None:
    """Ask for the jobs with attempts at these tasks to be killed, if all that they still carry is over."""
    wanted = values_table("wanted", IDS, [(task_id,) for task_id in task_ids])
    jobs = select(Attempt.c.job_id).join(wanted, wanted.c.id == Attempt.c.task_id)
    carried = select(Attempt.c.task_id).where(Attempt.c.job_id == Job.c.id, Attempt.c.outcome.is_(None))
    needed = carried.join(Task, Task.c.id == Attempt.c.task_id).where(Task.c.state == TaskState.ASSIGNED)
    losing = select(Job.c.id).where(
        Job.c.id.in_(jobs), Job.c.state != JobState.ENDED, carried.exists(), ~needed.exists()
    )
    request_kills(conn, list(conn.scalars(losing.order_by(Job.c.id))), KillReason.SUPERSEDED, "cigri")
