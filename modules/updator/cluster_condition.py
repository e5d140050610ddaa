"""Notes how a cluster bears what is asked of it, and how full it is."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.drivers import Capacity
from cigri.errors import UnreadableOutput
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.clusters import ClusterRow
from cigri.flow.front_end_stress import FrontEndSample, put_front_end_pace, take_front_end_pace
from cigri.flow.live_jobs import WatchedJob
from cigri.gateway.requests import ClusterResponses, ReadCapacity, ReadFrontEndLoad
from cigri.runtime.pass_context import PassContext
from cigri.states import JobState
from modules.updator.stress import next_pace

NOTED_EVERY = 60.0  # seconds between two notes of how a cluster without stress answers


class CapacityRequests(NamedTuple):
    """What the visitor asks of a cluster; a host that runs the jobs itself has their load, and is not asked for it."""

    capacity: ReadCapacity
    load: ReadFrontEndLoad | None

    def orders(self) -> list[ReadCapacity | ReadFrontEndLoad]:
        """What is sent, in this order: the load, where it is asked for, and then how full the cluster is."""
        return [self.capacity] if self.load is None else [self.load, self.capacity]


def questions_about(cluster: ClusterRow) -> CapacityRequests:
    """Its load is asked for only where commands run on another host, through SSH."""
    return CapacityRequests(ReadCapacity(), ReadFrontEndLoad() if cluster.config.in_use.transport == "ssh" else None)


def note(
    tools: PassContext,
    cluster: ClusterRow,
    asked: CapacityRequests,
    answers: ClusterResponses,
    seconds: float,
    watched: Sequence[WatchedJob],
) -> list[str]:
    """Store how the cluster bears what is asked of it, and how full it is, or give why that cannot be known."""
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
        if capacity is not None:
            put_cluster_state(conn, cluster.id, capacity, min(ours, capacity.used))
    return problems


def _note_pace(conn: Connection, cluster: ClusterRow, load: float | None, seconds: float) -> None:
    """Store the pace of its front-end (stress.py) while it is under stress, else once in NOTED_EVERY seconds."""
    before, refused, elapsed = take_front_end_pace(conn, cluster.id)
    strain = FrontEndSample(seconds, load, refused, elapsed)
    after = next_pace(before, strain, cluster.config.most_load)
    if after.pace < 1.0 or before.pace < 1.0 or before.usual is None or elapsed >= NOTED_EVERY:
        put_front_end_pace(conn, cluster.id, after)
