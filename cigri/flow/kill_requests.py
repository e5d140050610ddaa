"""Kills: jobs that somebody wants dead, until they are.
Given by: metascheduler, operator, runner, updator, users; taken by: killer.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, literal, or_, select, true, union, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.selectable import FromClause

from cigri.database import IDS, values_table
from cigri.flow.cluster_visits import is_account_paused
from cigri.states import JobState, KillReason
from cigri.tables.clusters import Drain, NodeDrain
from cigri.tables.grid import Event
from cigri.tables.job_requests import CheckpointRequest, KillRequest, ShutdownNotice
from cigri.tables.jobs import Batch, Job

KILL_PROBLEM = "KILL_PROBLEM"


class DueKill(NamedTuple):
    """A job to be killed on its cluster; `tries` counts this one."""

    job_id: int
    local_user: str
    remote_id: str
    tries: int


def request_kills(conn: Connection, job_ids: Sequence[int], reason: KillReason, by: str) -> int:
    """Ask for jobs to be killed; a user's wish replaces any other reason. Give the number of new or changed wishes."""
    if not job_ids:
        return 0
    wanted = values_table("wanted", IDS, [(job_id,) for job_id in job_ids])
    live = select(Job.c.id, literal(reason, KillRequest.c.reason.type), func.now(), literal(by))
    statement = insert(KillRequest).from_select(
        ["job_id", "reason", "asked_at", "asked_by"],
        live.where(Job.c.id == wanted.c.id, Job.c.state != JobState.ENDED),
    )
    changed = conn.execute(
        statement.on_conflict_do_update(
            index_elements=[KillRequest.c.job_id],
            set_={"reason": reason, "asked_by": by},
            where=and_(
                KillRequest.c.is_open, KillRequest.c.reason != reason, statement.excluded.reason == KillReason.USER
            ),
        ).returning(KillRequest.c.job_id)
    )
    return len(changed.all())


def list_clusters_with_requests(conn: Connection) -> set[int]:
    """Clusters of which somebody wishes something: a job's death or checkpoint, a drain, or the end of one."""
    wished = [select(Drain.c.cluster_id), select(NodeDrain.c.cluster_id)]
    for wish, is_open in (
        (KillRequest, KillRequest.c.is_open),
        (CheckpointRequest, CheckpointRequest.c.is_open),
        (ShutdownNotice, true()),
    ):
        wished.append(select(Job.c.cluster_id).join(wish, wish.c.job_id == Job.c.id).where(is_open))
    return set(conn.scalars(union(*wished)))


def claim_due_kills(conn: Connection, cluster_id: int, verify_after: float) -> list[DueKill]:
    """Kills of jobs in a queue that were never sent, or had no effect for `verify_after` seconds; marked as sent.

    What should only have made way for others, or could not start, and runs meanwhile, goes on. The remote id of a job
    that its cluster does not list may be another job's by now: after a crash ids are given anew.
    """
    is_due = or_(KillRequest.c.sent_at.is_(None), KillRequest.c.sent_at <= func.now() - timedelta(seconds=verify_after))
    here = and_(Job.c.id == KillRequest.c.job_id, Job.c.cluster_id == cluster_id)
    is_moot = KillRequest.c.reason.in_((KillReason.FAIRNESS, KillReason.CANNOT_START))
    spared = delete(KillRequest).where(here, KillRequest.c.is_open, is_moot, is_due)
    conn.execute(spared.where(Job.c.state == JobState.RUNNING))
    is_there = and_(Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)), Job.c.missing_since.is_(None))
    due = (
        select(KillRequest.c.job_id)
        .join(Job, here)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(
            KillRequest.c.is_open,
            or_(is_there, KillRequest.c.reason == KillReason.LISTED_AGAIN),
            Job.c.remote_id.is_not(None),
            ~is_account_paused(Batch.c.local_user, cluster_id),
            is_due,
        )
        .order_by(KillRequest.c.job_id)
        .limit(10_000)
        .with_for_update(of=KillRequest, skip_locked=True)
    )
    taken = conn.execute(
        update(KillRequest)
        .where(KillRequest.c.job_id.in_(due), Job.c.id == KillRequest.c.job_id, Batch.c.id == Job.c.batch_id)
        .values(sent_at=func.now(), tries=KillRequest.c.tries + 1)
        .returning(KillRequest.c.job_id, Batch.c.local_user, Job.c.remote_id, KillRequest.c.tries)
    )
    return [DueKill(row.job_id, row.local_user, row.remote_id or "", row.tries) for row in taken]


def mark_kills_unsent(conn: Connection, job_ids: Sequence[int], *, were_tried: bool = True) -> None:
    """The cluster did not take these kills, or was not asked: they are due again at once."""
    of_these = update(KillRequest).where(KillRequest.c.job_id.in_(job_ids), KillRequest.c.is_open)
    conn.execute(of_these.values(sent_at=None, tries=KillRequest.c.tries - (0 if were_tried else 1)))


def close_kill_problems(conn: Connection) -> None:
    """Close the events about kills on clusters where no job is left that was to be killed in vain."""
    in_vain = select(KillRequest.c.job_id).join(Job, Job.c.id == KillRequest.c.job_id)
    in_vain = in_vain.where(Job.c.cluster_id == Event.c.cluster_id, KillRequest.c.is_open)
    in_vain = in_vain.where(
        or_(KillRequest.c.tries > 1, and_(KillRequest.c.tries > 0, KillRequest.c.sent_at.is_(None)))
    )
    problems = Event.c.code == KILL_PROBLEM, Event.c.closed_at.is_(None)
    conn.execute(update(Event).where(*problems, ~in_vain.exists()).values(closed_at=func.now(), closed_by="cigri"))


def closing(ended: FromClause) -> Update:
    """Nobody wishes any longer that jobs are killed which have ended."""
    return update(KillRequest).where(KillRequest.c.job_id == ended.c.id, KillRequest.c.is_open).values(is_open=False)
