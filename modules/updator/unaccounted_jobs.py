"""Jobs that are gone from their batch system without a record: those that never started never will, others may run."""

import logging
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.live_jobs import WatchedJob, mark_unaccounted
from cigri.formats.id_ranges import format_ids
from cigri.formats.units import as_utc
from cigri.gateway.requests import RevokeJobs
from cigri.runtime.pass_context import PassContext
from cigri.states import EventLevel
from cigri.wrapper import JournalState
from modules.updator.account_observation import journal_key
from modules.updator.job_conclusions import NO_JOURNAL, JobChanges, VisitObservation

logger = logging.getLogger(__name__)

JOB_UNACCOUNTED = "JOB_UNACCOUNTED"
UNACCOUNTED_REASON = (
    "it was started, and left neither a record nor the batch system's word: until its walltime is over it may run"
)
UNACCOUNTED_REASON_OF_MANY = (
    "they were started, and left neither a record nor the batch system's word: until their walltime is over they may "
    "run"
)


def revoke_unstarted(
    tools: PassContext, cluster: ClusterRow, key: str, user: str, findings: JobChanges, sight: VisitObservation
) -> JobChanges:
    """Without the ends of jobs that did not start, but still could: a batch system may come back with older state."""
    unstarted = {
        journal_key(end.job): end
        for end in findings.ended
        if end.state is not None and sight.journals.get(end.job.job_id, NO_JOURNAL).state is JournalState.ABSENT
    }
    if not unstarted:
        return findings
    keys = list(unstarted)
    try:
        harmless = tools.gateway.request(cluster, user, RevokeJobs(key, keys))
    except (TransportError, UnreadableOutput) as error:
        logger.warning("Cluster %s: jobs that did not start are not known to be harmless: %s", cluster.name, error)
        harmless = set()
    doubtful = [unstarted[place] for place in keys if place not in harmless]
    return findings._replace(ended=[end for end in findings.ended if end not in doubtful])


def report_unaccounted_jobs(
    conn: Connection, cluster: ClusterRow, jobs: Sequence[WatchedJob], findings: JobChanges
) -> None:
    """An event for each batch of which jobs perhaps still run, until each is seen again or known to have ended."""
    news = {job.job_id for job in findings.unaccounted if not job.is_unaccounted}
    solved = {end.job.job_id for end in findings.ended} | {seen.job_id for seen in findings.seen}
    doubtful: defaultdict[int, list[WatchedJob]] = defaultdict(list)
    for job in jobs:
        if (job.is_unaccounted or job.job_id in news) and job.job_id not in solved:
            doubtful[job.batch_id].append(job)
    if news:
        mark_unaccounted(conn, list(news), UNACCOUNTED_REASON)
        told = [of_batch for of_batch in doubtful.values() if any(job.job_id in news for job in of_batch)]
        put_events(conn, [_event(cluster, of_batch) for of_batch in told])
    over = [job for job in jobs if job.is_unaccounted and job.job_id in solved]
    subjects = [f"job {job.job_id}" for job in over]  # as earlier versions had it
    subjects += [_subject(job) for job in over if job.batch_id not in doubtful]
    close_events(conn, [JOB_UNACCOUNTED], subjects, "cigri")


def _subject(job: WatchedJob) -> str:
    return f"batch {job.batch_id}"


def _event(cluster: ClusterRow, doubtful: Sequence[WatchedJob]) -> NewEvent:
    first, number = doubtful[0], len(doubtful)
    name = f"{first.remote_id or first.tag} on {cluster.name}"
    ids = format_ids([job.job_id for job in doubtful])
    gone, tasks = f"{name} is gone from the batch system: {UNACCOUNTED_REASON}", "Its tasks"
    if number > 1:
        who = f"{number} jobs of a batch, {name} among them, are gone from the batch system"
        gone, tasks = f"{who}: {UNACCOUNTED_REASON_OF_MANY}", "Their tasks"
    ends = [job.runs_until for job in doubtful if job.runs_until]
    until = as_utc(max(ends)) if ends else "then"
    message = f"{gone} ({until}). {tasks} are not done elsewhere before; `griddel -j {ids}` gives them up"
    about = (first.campaign_id, cluster.id, first.job_id)
    return NewEvent(JOB_UNACCOUNTED, EventLevel.WARNING, _subject(first), message, *about)
