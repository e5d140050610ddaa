"""What one account's answer to a visit says, parsed; whether it is believed, job_conclusions.py decides. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.errors import UnreadableOutput
from cigri.flow.live_jobs import WatchedJob
from cigri.gateway.requests import ClusterResponses, CollectRecords, ListJobs, ReadJobHistory, ReadJournals
from cigri.states import KillReason
from cigri.wrapper import JobJournal, JobKey, JournalState, OutboxContents, OutboxReceipt, TaskRecord
from modules.updator.job_conclusions import JournalSummary

STARTS_AT_ONCE = 1000


class AccountRequests(NamedTuple):
    """What one account is asked; the list of jobs comes before the records, so that no end falls between."""

    listed: ListJobs
    outbox: CollectRecords
    journals: ReadJournals | None
    history: ReadJobHistory | None

    def orders(self) -> list[ListJobs | CollectRecords | ReadJournals | ReadJobHistory]:
        """What is sent, in this order; without jobs to ask after, neither journals nor history."""
        return [order for order in self if order is not None]


class AccountObservation(NamedTuple):
    """What one account's answer says; `listed` None when the batch system did not answer sensibly.

    `records` by job and position of the task, `journals` by job; `problems` are sentences for the operator.
    """

    listed: list[RemoteJob] | None
    history: list[RemoteJob]
    records: dict[int, dict[int, TaskRecord]]
    collected: OutboxContents
    journals: dict[int, JournalSummary]
    problems: list[str]


def questions(key: str, jobs: Sequence[WatchedJob], receipt: OutboxReceipt) -> AccountRequests:
    """What to ask one account of its watched jobs; `key` of this grid, `receipt`: what is stored of its outbox."""
    journals, history = None, None
    if missing := list_asked_after(jobs):
        history = ReadJobHistory([(job.tag, job.array_index, job.remote_id) for job in missing])
    if looked_into := [*missing, *list_start_due(jobs)]:
        journals = ReadJournals(key, [journal_key(job) for job in looked_into])
    return AccountRequests(ListJobs(f"cigri.{key}."), CollectRecords(key, receipt), journals, history)


def read(
    asked: AccountRequests, answers: ClusterResponses, jobs: Sequence[WatchedJob], now: datetime
) -> AccountObservation:
    """Never raises for what cannot be read: that becomes one of the glimpse's problems."""
    glimpse = AccountObservation(None, [], defaultdict(dict), OutboxContents((), {}, 0), {}, [])
    try:
        glimpse = glimpse._replace(listed=answers.of(asked.listed))
    except UnreadableOutput as error:
        glimpse.problems.append(str(error))
    places = {(job.batch_id, job.array_index): job for job in jobs}
    try:
        glimpse = glimpse._replace(collected=answers.of(asked.outbox))
        for posted in glimpse.collected.records:
            _keep(glimpse, places.get((posted.batch_id, posted.index)), posted.record, now)
    except UnreadableOutput as error:
        glimpse.problems.append(str(error))
    if asked.journals is None:
        return glimpse
    missing = {journal_key(job): job for job in list_asked_after(jobs)}
    looked_into = missing | {journal_key(job): job for job in list_start_due(jobs)}
    try:
        if asked.history is not None:
            glimpse = glimpse._replace(history=answers.of(asked.history))
        for place, journal in answers.of(asked.journals).items():
            job = looked_into[place]
            for record in journal.records:
                _keep(glimpse, job, record, now)
            if place in missing and journal.state is JournalState.UNREAD and glimpse.listed is not None:
                glimpse.listed.append(_not_looked_at(job))
            glimpse.journals[job.job_id] = JournalSummary(
                _seconds(journal, job, now), journal.is_stopped, journal.state, journal.start is not None
            )
    except UnreadableOutput as error:
        glimpse.problems.append(str(error))
        glimpse = glimpse._replace(listed=None)  # without history nobody is declared lost
    return glimpse


def _keep(glimpse: AccountObservation, job: WatchedJob | None, record: TaskRecord, now: datetime) -> None:
    """A record is a file of the user's: it counts only for the very job that this place belongs to."""
    if job is not None and record.job_id == job.job_id:
        glimpse.records[job.job_id].setdefault(record.position, record.possible(job.submitted_at, now))


def _seconds(journal: JobJournal, job: WatchedJob, now: datetime) -> float:
    """That the ended tasks of a job took, as far as they can be believed."""
    return sum(record.possible(job.submitted_at, now).seconds or 0.0 for record in journal.records)


def _not_looked_at(job: WatchedJob) -> RemoteJob:
    """As if it were listed still: it is looked for again, and nothing is concluded before."""
    return RemoteJob(job.tag, job.array_index, job.remote_id, RemoteJobState.UNKNOWN)


def list_asked_after(jobs: Sequence[WatchedJob]) -> list[WatchedJob]:
    """Those whose end is looked for: not listed before, or being killed as another attempt has succeeded.

    The last to be missed come first: whose journal was not read, as the answer was full, is missed anew.
    """
    asked = [job for job in jobs if job.missing_since is not None or job.kill is KillReason.SUPERSEDED]
    return sorted(asked, key=lambda job: job.missing_since.timestamp() if job.missing_since else 0.0, reverse=True)


def list_start_due(jobs: Sequence[WatchedJob]) -> list[WatchedJob]:
    """Return running jobs whose start is looked for, beside those whose end is: at most STARTS_AT_ONCE in a visit.

    Those that were not looked for before come first: most of them have started, and are never looked for again.
    """
    due = [job for job in jobs if job.is_start_due and job.kill is not KillReason.SUPERSEDED]
    return sorted(due, key=lambda job: job.has_begun is not None)[:STARTS_AT_ONCE]


def journal_key(job: WatchedJob) -> JobKey:
    """How the files of a job are found on its cluster: by campaign, batch and place in the batch's array."""
    return JobKey(job.campaign_id, job.batch_id, job.array_index)
