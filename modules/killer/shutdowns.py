"""Tells running jobs when they, or their machines, will be shut down, and asks them what that would waste."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.drains import JobToNotify, mark_shutdown_passed, record_notified_jobs
from cigri.flow.views.running_jobs import RunningJob
from cigri.gateway.requests import AnnounceShutdown, ReadJobStatus, RetractShutdown
from cigri.runtime.pass_context import PassContext
from cigri.wrapper import JobKey
from cigri.wrapper.termination_cost import KillCandidate, assess, parse_status

logger = logging.getLogger(__name__)


class ShutdownContext(NamedTuple):
    """A cluster at a moment; `grid` finds the files of its jobs there."""

    tools: PassContext
    cluster: ClusterRow
    grid: str
    present: datetime


def assess_jobs(place: ShutdownContext, running: Sequence[RunningJob]) -> list[KillCandidate]:
    """The figures of each job; of a user whose files cannot be read they are the grid's."""
    gateway, cluster, by_user = place.tools.gateway, place.cluster, _by_user(running)

    def read(user: str) -> dict[JobKey, dict[str, str]]:
        keys = [job.key for job in by_user[user]]
        try:
            return gateway.request(cluster, user, ReadJobStatus(place.grid, keys))
        except (TransportError, UnreadableOutput) as error:
            logger.warning("Cluster %s: the status of the jobs of %s is not known: %s", cluster.name, user, error)
            return {}

    said: dict[JobKey, Mapping[str, str]] = {}
    for answer in gateway.run_concurrently(cluster, by_user, read).in_time:
        said.update(answer)
    victims = []
    for job in running:
        status, ignored = parse_status(said.get(job.key, {}), job.job.cores)
        if ignored:
            logger.info("Cluster %s: job %d says of itself: %s", cluster.name, job.job.job_id, "; ".join(ignored))
        victims.append(KillCandidate(job.job, assess(job.job, status, place.present.timestamp())))
    return victims


def notify_jobs(
    place: ShutdownContext, running: Sequence[RunningJob], at: datetime, *, machine_only: bool = False
) -> set[int]:
    """The ids of the jobs that were told of the shutdown, or have no way to hear; `machine_only`: they need not end.

    Jobs of a user whose files cannot be reached now are not among them, and are told in the next pass.
    """
    gateway, cluster, by_user = place.tools.gateway, place.cluster, _by_user(running)

    def announced(user: str) -> list[tuple[int, bool]]:
        keys = [job.key for job in by_user[user]]
        news = AnnounceShutdown(place.grid, keys, int(at.timestamp()), machine_only)
        try:
            heard = gateway.request(cluster, user, news)
        except (TransportError, UnreadableOutput) as error:
            logger.warning("Cluster %s: the jobs of %s could not be told: %s", cluster.name, user, error)
            return []
        return [(job.job.job_id, job.key in heard) for job in by_user[user]]

    told = gateway.run_concurrently(cluster, by_user, announced).in_time
    hearings = [hearing for of_user in told for hearing in of_user]
    with place.tools.database.begin() as conn:
        record_notified_jobs(conn, hearings, at, machine_only=machine_only)
    return {job_id for job_id, _ in hearings}


def retract_notices(place: ShutdownContext, allowed: Sequence[JobToNotify]) -> int:
    """These jobs find no shutdown any more, neither of theirs nor of their machine; give how many were reached."""
    return len(_withdraw(place, allowed, machine_only=False))


def forget_past(place: ShutdownContext, past: Sequence[JobToNotify]) -> None:
    """A machine that is still there though its time has come is not told to be going down."""
    withdrawn = _withdraw(place, past, machine_only=True)
    with place.tools.database.begin() as conn:
        mark_shutdown_passed(conn, withdrawn)


def _withdraw(place: ShutdownContext, jobs: Sequence[JobToNotify], *, machine_only: bool) -> list[int]:
    """The jobs of those users whose files could be reached."""
    gateway, cluster = place.tools.gateway, place.cluster
    by_user: dict[str, list[JobToNotify]] = defaultdict(list)
    for job in jobs:
        by_user[job.local_user].append(job)

    def withdrawn(user: str) -> list[int]:
        keys = [job.key for job in by_user[user]]
        try:
            gateway.request(cluster, user, RetractShutdown(place.grid, keys, machine_only))
        except (TransportError, UnreadableOutput) as error:
            logger.warning("Cluster %s: the jobs of %s still expect a shutdown: %s", cluster.name, user, error)
            return []
        return [job.job_id for job in by_user[user]]

    reached = gateway.run_concurrently(cluster, by_user, withdrawn).in_time
    return [job_id for of_user in reached for job_id in of_user]


def _by_user(running: Iterable[RunningJob]) -> dict[str, list[RunningJob]]:
    by_user: dict[str, list[RunningJob]] = defaultdict(list)
    for job in running:
        by_user[job.local_user].append(job)
    return by_user
