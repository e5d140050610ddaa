"""Drains a cluster that the operator wants empty: jobs are told, and at the end those killed that waste least first."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cigri.database import server_time
from cigri.errors import AnswerUnreadable, TransportError
from cigri.flow.anyone_to_clusters import ClusterRow, grid_key, list_refused
from cigri.flow.anyone_to_killer import ask_kills
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.operator_to_killer import DrainWish, ToldJob, find_drain, list_unfit, put_told, take_back
from cigri.flow.runner_to_anyone import RunningJob, list_running
from cigri.jobfeatures import Victim, assess, enough, least_waste_first, parse_status
from cigri.program import Report, Tools
from cigri.states import EventLevel, KillReason
from cigri.wrapper import JobKey
from cigri.wrapper.status import announce, parse_status_files, parse_told, read_status, withdraw

logger = logging.getLogger(__name__)

EXAMPLES = 20  # jobs whose figures an event gives


def drain(tools: Tools, cluster: ClusterRow, now: datetime | None) -> Report:
    """One step: waiting jobs that would not fit are taken back, running ones told, and at the deadline killed."""
    with tools.database.begin() as conn:
        wish = find_drain(conn, cluster.id)
        allowed = take_back(conn, cluster.id) if wish is None else []
        base = tools.gateway.base(cluster, grid_key(conn)) if wish or allowed else ""
    if wish is None:
        return Counter({"jobs that may go on": _withdraw(tools, cluster, base, allowed)}) if allowed else Counter()
    with tools.database.begin() as conn:
        present = server_time(conn, now)
        waiting = list_unfit(conn, cluster.id, wish.deadline, now)
        report: Report = Counter({"drain kills": ask_kills(conn, waiting, KillReason.DRAIN, wish.asked_by, now)})
        paused = {user for user, is_over in list_refused(conn, cluster, now).items() if not is_over}
        running = [job for job in list_running(conn, cluster_id=cluster.id) if job.local_user not in paused]
    deadline = wish.deadline.timestamp()
    late = [job for job in running if job.job.limit is None or job.job.limit > deadline]
    told = [job for job in late if job.told == deadline]
    new = [job for job in late if job.told != deadline]
    if present >= wish.deadline and wish.kills and _cores(late) > wish.keep:
        victims = least_waste_first(_assess(tools, cluster, base, told or late, present))
        report["drain kills"] += _kill(tools, cluster, wish, enough(victims, _cores(late) - wish.keep), now)
    elif present < wish.deadline and new and _cores(new) > wish.keep:
        victims = least_waste_first(_assess(tools, cluster, base, new, present))
        report["jobs told"] = _announce(tools, cluster, base, wish, new, enough(victims, _cores(new) - wish.keep), now)
    return +report


def _cores(jobs: Iterable[RunningJob]) -> int:
    return sum(job.job.cores for job in jobs)


def _assess(
    tools: Tools, cluster: ClusterRow, base: str, running: Sequence[RunningJob], present: datetime
) -> list[Victim]:
    """The figures of each job; of a user whose files cannot be read they are the grid's."""
    by_user = _by_user(running)

    def read(user: str) -> dict[JobKey, dict[str, str]]:
        keys = [job.key for job in by_user[user]]
        try:
            return parse_status_files(tools.gateway.run(cluster, user, read_status(base, keys)), keys)
        except (TransportError, AnswerUnreadable) as error:
            logger.warning("Cluster %s: the status of the jobs of %s is not known: %s", cluster.name, user, error)
            return {}

    said: dict[JobKey, Mapping[str, str]] = {}
    for answer in tools.gateway.side_by_side(by_user, read):
        said.update(answer)
    victims = []
    for job in running:
        status, ignored = parse_status(said.get(job.key, {}), job.job.cores)
        if ignored:
            logger.info("Cluster %s: job %d says of itself: %s", cluster.name, job.job.job_id, "; ".join(ignored))
        victims.append(Victim(job.job, assess(job.job, status, present.timestamp())))
    return victims


def _announce(
    tools: Tools,
    cluster: ClusterRow,
    base: str,
    wish: DrainWish,
    running: Sequence[RunningJob],
    victims: Sequence[Victim],
    now: datetime | None,
) -> int:
    deadline = wish.deadline.timestamp()
    chosen = {victim.job.job_id for victim in victims}
    by_user = _by_user([job for job in running if job.job.job_id in chosen])

    def tell(user: str) -> list[tuple[int, bool]]:
        mine = by_user[user]
        try:
            answer = tools.gateway.run(cluster, user, announce(base, [job.key for job in mine], int(deadline)))
            heard = parse_told(answer)
        except (TransportError, AnswerUnreadable) as error:
            logger.warning("Cluster %s: the jobs of %s could not be told: %s", cluster.name, user, error)
            return []
        return [(job.job.job_id, job.key in heard) for job in mine]

    told = [one for some in tools.gateway.side_by_side(by_user, tell) for one in some]
    if not told:
        return 0
    ids = {job_id for job_id, _ in told}
    with tools.database.begin() as conn:
        put_told(conn, told, wish.deadline)
        words = f"told to end by {wish.deadline:%Y-%m-%d %H:%M:%S %Z}"
        put_events(conn, [_event(cluster, words, [v for v in victims if v.job.job_id in ids])], now)
    return len(told)


def _kill(tools: Tools, cluster: ClusterRow, wish: DrainWish, victims: Sequence[Victim], now: datetime | None) -> int:
    with tools.database.begin() as conn:
        asked = ask_kills(conn, [victim.job.job_id for victim in victims], KillReason.DRAIN, wish.asked_by, now)
        if asked:
            put_events(conn, [_event(cluster, "killed", victims)], now)
    return asked


def _withdraw(tools: Tools, cluster: ClusterRow, base: str, allowed: Sequence[ToldJob]) -> int:
    by_user: dict[str, list[JobKey]] = defaultdict(list)
    for job in allowed:
        by_user[job.local_user].append(job.key)

    def tell(user: str) -> int:
        try:
            return len(parse_told(tools.gateway.run(cluster, user, withdraw(base, by_user[user]))))
        except (TransportError, AnswerUnreadable) as error:
            logger.warning("Cluster %s: the jobs of %s still expect a shutdown: %s", cluster.name, user, error)
            return 0

    return sum(tools.gateway.side_by_side(by_user, tell))


def _by_user(running: Sequence[RunningJob]) -> dict[str, list[RunningJob]]:
    found: dict[str, list[RunningJob]] = defaultdict(list)
    for job in running:
        found[job.local_user].append(job)
    return found


def _event(cluster: ClusterRow, verb: str, victims: Sequence[Victim]) -> NewEvent:
    """What was decided, with the figures, in CPU seconds and in the order of the decision."""
    cores = sum(victim.job.cores for victim in victims)
    lines = [_line(victim) for victim in victims[:EXAMPLES]]
    more = [f"and {len(victims) - EXAMPLES} more"] if len(victims) > EXAMPLES else []
    message = f"{len(victims)} jobs on {cores} cores {verb}: {'; '.join([*lines, *more])}"
    return NewEvent("CLUSTER_DRAIN", EventLevel.INFO, f"cluster {cluster.name}", message, cluster_id=cluster.id)


def _line(victim: Victim) -> str:
    figures = victim.figures
    waste = ", ".join(
        f"{name} {'unknown' if value is None else f'{value:.0f}'}"
        for name, value in (("kill_waste", figures.kill_waste), ("draining_waste", figures.draining_waste))
    )
    return f"job {victim.job.job_id} of {victim.job.user} ({victim.job.cores} cores): {waste}"
