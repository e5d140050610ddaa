"""Drains clusters and nodes that operators want empty: jobs are told, and at the end those go that waste least."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from cigri.database import server_time
from cigri.flow.cluster_visits import list_refused
from cigri.flow.clusters import ClusterRow
from cigri.flow.drains import (
    ClusterDrain,
    NodeDrainRequest,
    find_drain,
    list_jobs_to_reprieve,
    list_node_drains,
    list_past,
    list_unfit,
)
from cigri.flow.events import NewEvent, put_events
from cigri.flow.grid_identity import grid_key
from cigri.flow.kill_requests import request_kills
from cigri.flow.views.running_jobs import RunningJob, list_running
from cigri.formats.units import as_utc
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel, KillReason
from cigri.wrapper.termination_cost import KillCandidate, enough, least_waste_first
from modules.killer.shutdowns import ShutdownContext, assess_jobs, forget_past, notify_jobs, retract_notices

MOST_VICTIMS_SHOWN = 20  # jobs whose figures an event gives


def drain(tools: PassContext, cluster: ClusterRow) -> PassReport:
    """One step: waiting jobs that would not fit are taken back, running ones told, and at the deadline killed."""
    with tools.database.begin() as conn:
        wish, nodes = find_drain(conn, cluster.id), list_node_drains(conn, cluster.id)
        allowed, past = list_jobs_to_reprieve(conn, cluster.id), list_past(conn, cluster.id)
        if wish is None and not (nodes or allowed or past):
            return Counter()
        place = ShutdownContext(tools, cluster, grid_key(conn), server_time(conn))
        paused = {user for user, is_over in list_refused(conn, cluster).items() if not is_over}
        jobs = list_running(conn, cluster_id=cluster.id) if wish or nodes else []
    running = [job for job in jobs if job.local_user not in paused]
    report: PassReport = Counter({"jobs that may go on": retract_notices(place, allowed)})
    if past := [job for job in past if job.local_user not in paused]:
        forget_past(place, past)
    claimed: set[int] = set()
    for node in nodes:
        if wish is None or node.deadline <= wish.deadline:
            there = [job for job in running if job.node == node.node]
            claimed |= {job.job.job_id for job in there}
            report.update(_drain_node(place, node, there))
    if wish is not None:
        report.update(_drain_cluster(place, wish, running, claimed))
    return +report


def _drain_node(place: ShutdownContext, drain: NodeDrainRequest, running: Sequence[RunningJob]) -> PassReport:
    """The jobs that run there are told of the deadline; none is killed."""
    if place.present >= drain.deadline:
        return Counter()
    late = _late([job for job in running if job.told != drain.deadline.timestamp()], drain.deadline)
    victims = least_waste_first(assess_jobs(place, late)) if late else []
    number = _announce(place, f"node {drain.node} of {place.cluster.name}", drain.deadline, running, victims)
    return Counter({"jobs told": number})


def _drain_cluster(
    place: ShutdownContext, wish: ClusterDrain, running: Sequence[RunningJob], claimed: set[int]
) -> PassReport:
    """`claimed` jobs are told of their node, which is to be empty before."""
    with place.tools.database.begin() as conn:
        waiting = list_unfit(conn, place.cluster.id, wish.deadline)
        asked = request_kills(conn, waiting, KillReason.DRAIN, wish.asked_by)
        report: PassReport = Counter({"drain kills": asked})
    deadline = wish.deadline.timestamp()
    late = _late(running, wish.deadline)
    if place.present >= wish.deadline:
        warned = [job for job in late if job.told == deadline]
        if wish.kills and _cores(late) > wish.keep:
            victims = least_waste_first(assess_jobs(place, warned or late))
            report["drain kills"] += _kill(place, wish, enough(victims, _cores(late) - wish.keep))
        return report
    unclaimed = [job for job in running if job.job.job_id not in claimed]
    new = _late([job for job in unclaimed if job.told != deadline], wish.deadline)
    chosen: list[KillCandidate] = []
    if new and _cores(new) > wish.keep:
        victims = least_waste_first(assess_jobs(place, new))
        chosen = enough(victims, _cores(new) - wish.keep)
    ids = {victim.job.job_id for victim in chosen}
    going = unclaimed if not wish.keep else [job for job in unclaimed if job.job.job_id in ids]
    report["jobs told"] = _announce(place, f"cluster {place.cluster.name}", wish.deadline, going, chosen)
    return report


def _late(running: Iterable[RunningJob], deadline: datetime) -> list[RunningJob]:
    """Those that by their walltime could last beyond the deadline; without a walltime they could."""
    return [job for job in running if job.job.limit is None or job.job.limit > deadline.timestamp()]


def _cores(jobs: Iterable[RunningJob]) -> int:
    return sum(job.job.cores for job in jobs)


def _announce(
    place: ShutdownContext,
    subject: str,
    deadline: datetime,
    running: Sequence[RunningJob],
    victims: Sequence[KillCandidate],
) -> int:
    """Tell `victims` to end by then, the other running jobs that their machine will go; give how many victims heard.

    Those of them that cannot be told count, too (`notify_jobs`).
    """
    ids = {victim.job.job_id for victim in victims}
    at = deadline.timestamp()
    if others := [job for job in running if job.machine_told != at and job.job.job_id not in ids]:
        notify_jobs(place, others, deadline, machine_only=True)
    warned = notify_jobs(place, [job for job in running if job.job.job_id in ids], deadline) if ids else set()
    if warned:
        words = f"told to end by {as_utc(deadline)}"
        event = _event(place.cluster, subject, words, [victim for victim in victims if victim.job.job_id in warned])
        with place.tools.database.begin() as conn:
            put_events(conn, [event])
    return len(warned)


def _kill(place: ShutdownContext, wish: ClusterDrain, victims: Sequence[KillCandidate]) -> int:
    with place.tools.database.begin() as conn:
        ids = [victim.job.job_id for victim in victims]
        asked = request_kills(conn, ids, KillReason.DRAIN, wish.asked_by)
        if asked:
            event = _event(place.cluster, f"cluster {place.cluster.name}", "killed", victims)
            put_events(conn, [event])
    return asked


def _event(cluster: ClusterRow, subject: str, verb: str, victims: Sequence[KillCandidate]) -> NewEvent:
    """What was decided, with the figures, in CPU seconds and in the order of the decision."""
    cores = sum(victim.job.cores for victim in victims)
    lines = [_line(victim) for victim in victims[:MOST_VICTIMS_SHOWN]]
    more = [f"and {len(victims) - MOST_VICTIMS_SHOWN} more"] if len(victims) > MOST_VICTIMS_SHOWN else []
    message = f"{len(victims)} jobs on {cores} cores {verb}: {'; '.join([*lines, *more])}"
    return NewEvent("CLUSTER_DRAIN", EventLevel.INFO, subject, message, cluster_id=cluster.id)


def _line(victim: KillCandidate) -> str:
    figures = victim.figures
    waste = ", ".join(
        f"{name} {'unknown' if value is None else f'{value:.0f}'}"
        for name, value in (("kill_waste", figures.kill_waste), ("draining_waste", figures.draining_waste))
    )
    return f"job {victim.job.job_id} of {victim.job.user} ({victim.job.cores} cores): {waste}"
