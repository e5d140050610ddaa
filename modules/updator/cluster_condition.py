"""Notes how a cluster bears what is asked of it, and how full it is."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.database import server_time
from cigri.drivers import Capacity
from cigri.errors import UnreadableOutput
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.clusters import ClusterRow, put_clock_skew
from cigri.flow.front_end_stress import FrontEndSample, put_front_end_pace, take_front_end_pace
from cigri.flow.live_jobs import WatchedJob
from cigri.gateway.requests import ClusterResponses, ReadCapacity, ReadFrontEndClock, ReadFrontEndLoad
from cigri.runtime.pass_context import PassContext
from cigri.states import JobState
from modules.updator.stress import next_pace

NOTED_EVERY = 60.0  # seconds between two notes of how a cluster without stress answers


class CapacityRequests(NamedTuple):
    """What the visitor asks of a cluster; a host that runs the jobs itself has their load, and the grid's own clock."""

    capacity: ReadCapacity
    load: ReadFrontEndLoad | None
    clock: ReadFrontEndClock | None

    def orders(self) -> list[ReadCapacity | ReadFrontEndLoad | ReadFrontEndClock]:
        """What is sent, in this order: of the front-end, where it is asked, and then how full the cluster is."""
        return [each for each in (self.clock, self.load, self.capacity) if each]


def questions_about(cluster: ClusterRow) -> CapacityRequests:
    """Load and clock are asked for only where commands run on another host, through SSH."""
    if cluster.config.in_use.transport != "ssh":
        return CapacityRequests(ReadCapacity(), None, None)
    return CapacityRequests(ReadCapacity(), ReadFrontEndLoad(), ReadFrontEndClock())


def note(
    tools: PassContext,
    cluster: ClusterRow,
    asked: CapacityRequests,
    answers: ClusterResponses,
    asked_at: datetime,
    seconds: float,
    watched: Sequence[WatchedJob],
) -> list[str]:
    """Store how the cluster bears what is asked of it, its clock, and how full it is, or give why that is not known.

    It was asked at `asked_at` or later, and answered in so many `seconds`.
    """
    ours = sum(job.width for job in watched if job.state is JobState.RUNNING and job.missing_since is None)
    capacity: Capacity | None = None
    problems = []
    try:
        capacity = answers.of(asked.capacity)
    except UnreadableOutput as error:
        problems.append(str(error))
    with tools.database.begin() as conn:
        load = answers.of(asked.load) if asked.load else None
        _note_pace(conn, cluster, load, seconds)
        if asked.clock and (clock := answers.of(asked.clock)) is not None:
            put_clock_skew(conn, cluster.id, clock_skew(clock, asked_at, server_time(conn)))
        if capacity is not None:
            put_cluster_state(conn, cluster.id, capacity, min(ours, capacity.used))
    return problems


def clock_skew(clock: int, asked_at: datetime, answered_at: datetime) -> int:
    """Whole seconds by which a clock that says `clock` is ahead, or, below 0, behind, at the least; pure.

    It was read between these two moments, and tells no part of a second.
    """
    ahead, behind = clock - answered_at.timestamp(), clock + 1 - asked_at.timestamp()
    return int(max(ahead, 0.0) or min(behind, 0.0))


def _note_pace(conn: Connection, cluster: ClusterRow, load: float | None, seconds: float) -> None:
    """Store the pace of its front-end (stress.py) while it is under stress, else once in NOTED_EVERY seconds."""
    before, refused, elapsed = take_front_end_pace(conn, cluster.id)
    strain = FrontEndSample(seconds, load, refused, elapsed)
    after = next_pace(before, strain, cluster.config.most_load)
    if after.pace < 1.0 or before.pace < 1.0 or before.usual is None or elapsed >= NOTED_EVERY:
        put_front_end_pace(conn, cluster.id, after)
