"""Notes how a cluster bears what is asked of it, and how full it is."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from cigri.drivers import Capacity
from cigri.errors import AnswerUnreadable
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.clusters import ClusterRow
from cigri.flow.live_jobs import WatchedJob
from cigri.flow.stress import Strain, put_front_end_pace, take_front_end_pace
from cigri.program.tools import Tools
from cigri.script.answers import Answer
from cigri.states import JobState
from modules.updator.stress import next_pace, parse_load

NOTED_EVERY = 60.0  # seconds between two notes of how a cluster without stress answers


def note(
    tools: Tools,
    cluster: ClusterRow,
    answers: Mapping[str, Answer],
    seconds: float,
    watched: Sequence[WatchedJob],
    now: datetime | None,
) -> list[str]:
    """Store how the cluster bears what is asked of it, and how full it is, or give why that cannot be known."""
    ours = sum(job.width for job in watched if job.state is JobState.RUNNING and job.missing_since is None)
    capacity: Capacity | None = None
    problems = []
    try:
        capacity = tools.gateway.driver(cluster).parse_capacity(answers["capacity"])
    except AnswerUnreadable as error:
        problems.append(str(error))
    with tools.database.begin() as conn:
        load = parse_load(answers["load"]) if is_front_end(cluster) else None
        _note_pace(conn, cluster, load, seconds, now)
        if capacity is not None:
            put_cluster_state(conn, cluster.id, capacity, min(ours, capacity.used), now)
    return problems


def is_front_end(cluster: ClusterRow) -> bool:
    """A host that runs the jobs itself has their load."""
    return cluster.config.in_use.transport == "ssh"


def _note_pace(conn: Connection, cluster: ClusterRow, load: float | None, seconds: float, now: datetime | None) -> None:
    """What may be asked of it from now on."""
    before, refused, elapsed = take_front_end_pace(conn, cluster.id, now)
    strain = Strain(seconds, load, refused, elapsed)
    after = next_pace(before, strain, cluster.config.most_load)
    if after.pace < 1.0 or before.pace < 1.0 or before.usual is None or elapsed >= NOTED_EVERY:
        put_front_end_pace(conn, cluster.id, after, now)
