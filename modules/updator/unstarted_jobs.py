"""Jobs that their cluster lists as running and that have not written that they started: people are told."""

from collections.abc import Sequence

from sqlalchemy import Connection

from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.live_jobs import UnstartedJobs, WatchedJob, count_unstarted, mark_begun, mark_unstarted
from cigri.formats.units import as_duration
from cigri.states import EventLevel
from modules.updator.job_conclusions import JobChanges

JOBS_NOT_STARTED = "JOBS_NOT_STARTED"
NOT_STARTED_REASON = "it is listed as running, and has not written that it started: it is killed after its walltime"


def note_starts(conn: Connection, findings: JobChanges) -> None:
    """Store which starts were found and which were looked for in vain, so that none is looked for twice."""
    if findings.begun:
        mark_begun(conn, [job.job_id for job in findings.begun])
    if news := [job.job_id for job in findings.unstarted if job.has_begun is None]:
        mark_unstarted(conn, news, NOT_STARTED_REASON)


def report_unstarted_jobs(
    conn: Connection, cluster: ClusterRow, jobs: Sequence[WatchedJob], findings: JobChanges
) -> None:
    """One event for each campaign that has such jobs here, closed once all have started, are requeued or have ended.

    It counts anew when there are more of them.
    """
    more = {job.campaign_id for job in findings.unstarted if job.has_begun is None}
    solved = {job.job_id for job in findings.begun}
    solved |= {end.job.job_id for end in findings.ended} | {seen.job_id for seen in findings.seen}
    fewer = {job.campaign_id for job in jobs if job.has_begun is False and job.job_id in solved}
    if not more and not fewer:
        return
    left = {these.campaign_id: these for these in count_unstarted(conn, cluster.id, sorted(more | fewer))}
    put_events(conn, [_event(cluster, left[campaign_id]) for campaign_id in sorted(more & left.keys())])
    healed = [_subject(cluster, campaign_id) for campaign_id in sorted((more | fewer) - left.keys())]
    close_events(conn, [JOBS_NOT_STARTED], healed, "cigri")


def _subject(cluster: ClusterRow, campaign_id: int) -> str:
    return f"campaign {campaign_id} on {cluster.name}"


def _event(cluster: ClusterRow, jobs: UnstartedJobs) -> NewEvent:
    node = f" on {jobs.node}" if jobs.node else ""
    message = (
        f"{cluster.name} has listed {jobs.jobs} jobs (e.g. {jobs.remote_id}{node}) as running for over "
        f"{as_duration(cluster.config.lost_after)}, and they have not written that they started. They hold cores, "
        f"and do nothing. Either the batch system was killed while it started them, or their nodes cannot write to "
        f"the home directory. An operator who deletes them there has their tasks done again at once; otherwise they "
        f"are killed when their walltime is over, and their tasks are done again, free of charge"
    )
    return NewEvent(
        JOBS_NOT_STARTED, EventLevel.WARNING, _subject(cluster, jobs.campaign_id), message, jobs.campaign_id, cluster.id
    )
