"""Drains: clusters and nodes that are to be empty by a date.
Given by: killer, users; taken by: killer, users.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Boolean, Connection, Float, cast, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.selectable import Select

from cigri.database import interval, values_table, wake
from cigri.database.typed_rows import read_all, read_one
from cigri.errors import NotFound
from cigri.states import JobState
from cigri.tables.clusters import Cluster, Drain
from cigri.tables.clusters import NodeDrain as NodeDrainRow
from cigri.tables.job_requests import KillRequest, ShutdownNotice
from cigri.tables.jobs import Batch, Job
from cigri.wrapper import JobKey


class ClusterDrain(NamedTuple):
    """A cluster is to be empty at `deadline`, or our jobs to have `keep` cores; `kills` those that do not go."""

    deadline: datetime
    kills: bool
    keep: int
    asked_by: str


class NodeDrainRequest(NamedTuple):
    """A node is to be empty at `deadline`; nobody is killed for it."""

    node: str
    deadline: datetime
    asked_by: str


class JobToNotify(NamedTuple):
    job_id: int
    key: JobKey
    local_user: str


def put_drain(conn: Connection, cluster: str, wish: ClusterDrain) -> None:
    """The cluster gets no more jobs; a later wish replaces an earlier one. Enabling the cluster ends it."""
    cluster_id = conn.scalar(select(Cluster.c.id).where(Cluster.c.name == cluster))
    if cluster_id is None:
        raise NotFound(f"no cluster {cluster}; `cigri cluster list` shows them")
    conn.execute(update(Cluster).where(Cluster.c.id == cluster_id).values(is_enabled=False))
    values = {**wish._asdict(), "asked_at": func.now()}
    statement = insert(Drain).values(cluster_id=cluster_id, **values)
    conn.execute(statement.on_conflict_do_update(index_elements=[Drain.c.cluster_id], set_=values))
    wake(conn)


def find_drain(conn: Connection, cluster_id: int) -> ClusterDrain | None:
    """None: the cluster is not drained."""
    statement = select(Drain.c.deadline, Drain.c.kills, Drain.c.keep, Drain.c.asked_by)
    return read_one(conn, ClusterDrain, statement.where(Drain.c.cluster_id == cluster_id))


def find_longest_notice(conn: Connection, cluster_id: int) -> int:
    """Seconds before a shutdown at which jobs that are there now were promised to hear of it; 0: none were."""
    there = select(func.max(Batch.c.promised_notice)).join(Job, Job.c.batch_id == Batch.c.id)
    is_live = Job.c.state.in_([JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING])
    return conn.scalar(there.where(Job.c.cluster_id == cluster_id, is_live)) or 0


def put_node_drain(conn: Connection, cluster_id: int, drain: NodeDrainRequest) -> None:
    """The node gets no more jobs; a later wish replaces an earlier one."""
    values = {**drain._asdict(), "asked_at": func.now()}
    statement = insert(NodeDrainRow).values(cluster_id=cluster_id, **values)
    conn.execute(statement.on_conflict_do_update(index_elements=["cluster_id", "node"], set_=values))
    wake(conn)


def end_node_drains(conn: Connection, cluster_id: int, nodes: Collection[str]) -> None:
    """These nodes get jobs again, as far as nothing else is held against them."""
    conn.execute(delete(NodeDrainRow).where(NodeDrainRow.c.cluster_id == cluster_id, NodeDrainRow.c.node.in_(nodes)))
    wake(conn)


def list_node_drains(conn: Connection, cluster_id: int) -> list[NodeDrainRequest]:
    """Sorted by node; also those whose deadline is past, for the node stays out until its operator admits it again."""
    row = NodeDrainRow.c
    here = select(row.node, row.deadline, row.asked_by).where(row.cluster_id == cluster_id)
    return read_all(conn, NodeDrainRequest, here.order_by(row.node))


def list_unfit(conn: Connection, cluster_id: int, deadline: datetime) -> list[int]:
    """Jobs that wait on the cluster, and could not end before the deadline if they started now."""
    asked = select(KillRequest.c.job_id).where(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open).exists()
    end = func.now() + interval(cast(Job.c.walltime, Float))
    statement = select(Job.c.id).where(Job.c.cluster_id == cluster_id, Job.c.state == JobState.SUBMITTED)
    return list(conn.scalars(statement.where(end > deadline, ~asked)))


def record_notified_jobs(
    conn: Connection, answers: Sequence[tuple[int, bool]], at: datetime, *, machine_only: bool = False
) -> None:
    """`answers`: did each job hear of its shutdown then, or (`machine_only`) of its machine's? Who did not is not
    retried."""
    if not answers:
        return
    jobs = values_table("new", {"job_id": BigInteger(), "was_heard": Boolean()}, answers)
    statement = insert(ShutdownNotice).from_select(
        ["job_id", "at", "was_heard", "machine_only"],
        select(jobs.c.job_id, literal(at, ShutdownNotice.c.at.type), jobs.c.was_heard, literal(machine_only)).join(
            Job, Job.c.id == jobs.c.job_id
        ),
    )
    fresh = {name: statement.excluded[name] for name in ("at", "was_heard", "machine_only", "is_past")}
    conn.execute(statement.on_conflict_do_update(index_elements=[ShutdownNotice.c.job_id], set_=fresh))


def list_jobs_to_reprieve(conn: Connection, cluster_id: int) -> list[JobToNotify]:
    """Running jobs whose cluster and node are no longer drained: they are to be told that they may go on."""
    row = NodeDrainRow.c
    of_cluster = select(Drain.c.cluster_id).where(Drain.c.cluster_id == Job.c.cluster_id)
    of_node = select(row.node).where(row.cluster_id == Job.c.cluster_id, row.node == Job.c.node)
    undrained = select(Job.c.id).where(Job.c.cluster_id == cluster_id, ~of_cluster.exists(), ~of_node.exists())
    taken = (
        delete(ShutdownNotice)
        .where(ShutdownNotice.c.job_id.in_(undrained))
        .returning(ShutdownNotice.c.job_id)
        .cte("taken")
    )
    return [*_told(conn, select(taken.c.job_id))]


def list_past(conn: Connection, cluster_id: int) -> list[JobToNotify]:
    """Running jobs whose machine was to be down by now: they are to find no such time any longer."""
    past = select(ShutdownNotice.c.job_id).join(Job, Job.c.id == ShutdownNotice.c.job_id)
    return [
        *_told(
            conn,
            past.where(Job.c.cluster_id == cluster_id, ShutdownNotice.c.at <= func.now(), ~ShutdownNotice.c.is_past),
        )
    ]


def mark_shutdown_passed(conn: Connection, job_ids: Collection[int]) -> None:
    """Note that these jobs find no shutdown time any longer, so that `list_past` leaves them out."""
    conn.execute(update(ShutdownNotice).where(ShutdownNotice.c.job_id.in_(job_ids)).values(is_past=True))


def _told(conn: Connection, jobs: Select[int]) -> Iterator[JobToNotify]:
    """Those of these jobs that run, with where their files are."""
    running = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Batch.c.id, Job.c.array_index, Batch.c.local_user)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(Job.c.id.in_(jobs), Job.c.state == JobState.RUNNING)
    )
    for job_id, campaign_id, batch_id, index, local_user in running:
        yield JobToNotify(job_id, JobKey(campaign_id, batch_id, index or 0), local_user)
