"""Jobs that are over, and in their batch system's queue again, or still: they shall die."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cigri.drivers import RemoteJob
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.live_jobs import WatchedJob
from cigri.flow.relisted_jobs import put_listed_again
from cigri.flow.views.unwanted_jobs import list_over
from cigri.flow.waiting_reasons import WaitingGroup
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel
from modules.updator.job_conclusions import JobChanges

JOBS_LISTED_AGAIN = "JOBS_LISTED_AGAIN"


class VisitedAccount(NamedTuple):
    """One of a cluster, and its jobs that are watched there; `is_relisted`: others were listed that are over.

    `waiting`: what was said at the last visit of those that waited.
    """

    name: str
    jobs: list[WatchedJob]
    is_relisted: bool = False
    waiting: Sequence[WaitingGroup] = ()

    @property
    def has_jobs(self) -> bool:
        """Is there anything to ask this account for: a watched job, or one that was listed though it is over?"""
        return bool(self.jobs) or self.is_relisted


def find_relisted(
    tools: PassContext,
    cluster: ClusterRow,
    account: VisitedAccount,
    listed: Sequence[RemoteJob] | None,
    findings: JobChanges,
) -> PassReport:
    """Ask for the death of those that are over for longer than a batch system's word may lag behind.

    Those whose end this visit has found count as watched, but for those that ended although they are listed.
    """
    if listed is None:
        return Counter()
    over = {end.job.job_id for end in findings.ended if end.job.is_undead and end.state is not None}
    watched = {(job.tag, job.array_index) for job in account.jobs if job.job_id not in over}
    others = [(job.tag, job.index, job.remote_id) for job in listed if (job.tag, job.index) not in watched]
    remote_ids: dict[int, str] = {}
    if others:
        with tools.database.read() as conn:
            times = cluster.config.lost_after, tools.gateway.end_delay(cluster)
            remote_ids = list_over(conn, cluster.id, account.name, others, *times)
    if not remote_ids and not account.is_relisted:
        return Counter()
    subject = f"jobs of {account.name} on {cluster.name}"
    with tools.database.begin() as conn:
        again = put_listed_again(conn, cluster.id, account.name, remote_ids)
        if again.new:
            message = (
                f"{again.jobs} jobs that are over (e.g. {again.example}) are in the queue of {cluster.name} again, or "
                f"still: has its batch system come back with older state? They are killed there, and hold cores until "
                f"then. Those that no kill ends an operator deletes by force (Grid Engine: `qdel -f`)"
            )
            put_events(conn, [NewEvent(JOBS_LISTED_AGAIN, EventLevel.WARNING, subject, message, cluster_id=cluster.id)])
        elif not again.jobs:
            close_events(conn, [JOBS_LISTED_AGAIN], [subject], "cigri")
    return Counter({"jobs listed again": again.new})
