"""The operator drains clusters; the killer tells the jobs there, and kills those that are left at the end."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Boolean, Connection, Float, cast, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import clock, rows, wake
from cigri.errors import NotFound
from cigri.states import JobState
from cigri.tables.clusters import Cluster, Drain
from cigri.tables.jobs import Batch, Job
from cigri.tables.wishes import Kill, Shutdown
from cigri.wrapper import JobKey


class DrainWish(NamedTuple):
    """A cluster is to be empty at `deadline`, or our jobs to have `keep` cores; `kills` those that do not go."""

    deadline: datetime
    kills: bool
    keep: int
    asked_by: str


class ToldJob(NamedTuple):
    job_id: int
    key: JobKey
    local_user: str


def put_drain(conn: Connection, cluster: str, wish: DrainWish, now: datetime | None = None) -> None:
    """The cluster gets no more jobs; a later wish replaces an earlier one. Enabling the cluster ends it."""
    cluster_id = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == cluster))
    if cluster_id is None:
        raise NotFound(f"no cluster {cluster}; `cigri cluster list` shows them")
    conn.execute(update(Cluster).where(Cluster.c.id == cluster_id).values(is_enabled=False))
    values = {**wish._asdict(), "asked_at": clock(now)}
    statement = insert(Drain).values(cluster_id=cluster_id, **values)
    conn.execute(statement.on_conflict_do_update(index_elements=[Drain.c.cluster_id], set_=values))
    wake(conn)


def find_drain(conn: Connection, cluster_id: int) -> DrainWish | None:
    statement = select(Drain.c.deadline, Drain.c.kills, Drain.c.keep, Drain.c.asked_by)
    row = conn.execute(statement.where(Drain.c.cluster_id == cluster_id)).one_or_none()
    return DrainWish._make(row) if row else None


def list_unfit(conn: Connection, cluster_id: int, deadline: datetime, now: datetime | None = None) -> list[int]:
    """Jobs that wait on the cluster, and could not end before the deadline if they started now."""
    asked = select(Kill.c.job_id).where(Kill.c.job_id == Job.c.id, Kill.c.is_open).exists()
    end = clock(now) + func.make_interval(0, 0, 0, 0, 0, 0, cast(Job.c.walltime, Float))
    statement = select(Job.c.id).where(Job.c.cluster_id == cluster_id, Job.c.state == JobState.SUBMITTED)
    return list(conn.scalars(statement.where(end > deadline, ~asked)))


def put_told(conn: Connection, told: Sequence[tuple[int, bool]], at: datetime) -> None:
    """These jobs were told of their shutdown; or could not be, and are not tried again."""
    if not told:
        return
    jobs = rows("told", {"job_id": BigInteger(), "was_heard": Boolean()}, told)
    statement = insert(Shutdown).from_select(
        ["job_id", "at", "was_heard"],
        select(jobs.c.job_id, clock(at), jobs.c.was_heard).join(Job, Job.c.id == jobs.c.job_id),
    )
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[Shutdown.c.job_id],
            set_={"at": statement.excluded.at, "was_heard": statement.excluded.was_heard},
        )
    )


def take_back(conn: Connection, cluster_id: int) -> list[ToldJob]:
    """Jobs of a cluster that is no longer drained, and that still run: they are to be told that they may go on."""
    mine = select(Job.c.id).where(Job.c.cluster_id == cluster_id)
    taken = delete(Shutdown).where(Shutdown.c.job_id.in_(mine)).returning(Shutdown.c.job_id).cte("taken")
    statement = (
        select(Job.c.id, Job.c.campaign_id, Batch.c.id, Job.c.array_index, Batch.c.local_user)
        .join(taken, taken.c.job_id == Job.c.id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(Job.c.state == JobState.RUNNING)
    )
    return [ToldJob(row[0], JobKey(row[1], row[2], row[3] or 0), row[4]) for row in conn.execute(statement)]
