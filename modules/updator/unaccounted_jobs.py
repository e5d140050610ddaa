"""Jobs that are gone from their batch system without a record: those that never started never will, others may run."""

import logging
from collections.abc import Sequence

from sqlalchemy import Connection

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.live_jobs import WatchedJob, mark_unaccounted
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
    """An event for each job that perhaps still runs, closed once the job is seen again or known to have ended."""
    news = [job for job in findings.unaccounted if not job.is_unaccounted]
    if news:
        mark_unaccounted(conn, [job.job_id for job in news], UNACCOUNTED_REASON)
        put_events(conn, [_event(cluster, job) for job in news])
    solved = {end.job.job_id for end in findings.ended} | {seen.job_id for seen in findings.seen}
    subjects = [_subject(job) for job in jobs if job.is_unaccounted and job.job_id in solved]
    close_events(conn, [JOB_UNACCOUNTED], subjects, "cigri")


def _subject(job: WatchedJob) -> str:
    return f"job {job.job_id}"


def _event(cluster: ClusterRow, job: WatchedJob) -> NewEvent:
    until = as_utc(job.runs_until) if job.runs_until else "then"
    message = (
        f"{job.remote_id or job.tag} on {cluster.name} is gone from the batch system: {UNACCOUNTED_REASON} ({until}). "
        f"Its tasks are not done elsewhere before; `griddel -j {job.job_id}` gives them up"
    )
    ids = (job.campaign_id, cluster.id, job.job_id)
    return NewEvent(JOB_UNACCOUNTED, EventLevel.WARNING, _subject(job), message, *ids)
