"""What one user's answer tells, read and not yet believed: pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.drivers import Driver, RemoteJob, RemoteState
from cigri.errors import AnswerUnreadable
from cigri.flow.live_jobs import WatchedJob
from cigri.script.answers import Answer
from cigri.states import KillReason
from cigri.wrapper import Collected, JobKey, Journal, JournalState, TaskRecord, parse_collect, parse_journal
from modules.updator.observation import Told


class Glimpse(NamedTuple):
    """What one user's answer tells; `listed` None when the batch system did not answer sensibly."""

    listed: list[RemoteJob] | None
    history: list[RemoteJob]
    records: dict[int, dict[int, TaskRecord]]
    collected: Collected
    told: dict[int, Told]
    problems: list[str]


def read(
    driver: Driver, prefix: str, jobs: Sequence[WatchedJob], answers: Mapping[str, Answer], now: datetime
) -> Glimpse:
    glimpse = Glimpse(None, [], defaultdict(dict), Collected((), {}, 0), {}, [])
    try:
        glimpse = glimpse._replace(listed=driver.parse_status(answers["status"], prefix))
    except AnswerUnreadable as error:
        glimpse.problems.append(str(error))
    places = {(job.batch_id, job.array_index): job for job in jobs}
    try:
        glimpse = glimpse._replace(collected=parse_collect(answers["collect"]))
        for posted in glimpse.collected.records:
            _keep(glimpse, places.get((posted.batch_id, posted.index)), posted.record, now)
    except AnswerUnreadable as error:
        glimpse.problems.append(str(error))
    if "history" not in answers:
        return glimpse
    missing = {journal_key(job): job for job in list_asked_after(jobs)}
    try:
        glimpse = glimpse._replace(history=driver.parse_history(answers["history"]))
        for place, found in parse_journal(answers["journal"], list(missing)).items():
            for record in found.records:
                _keep(glimpse, missing[place], record, now)
            if found.state is JournalState.UNREAD and glimpse.listed is not None:
                glimpse.listed.append(_not_looked_at(missing[place]))
            glimpse.told[missing[place].job_id] = Told(
                _seconds(found, missing[place], now), found.is_stopped, found.state
            )
    except AnswerUnreadable as error:
        glimpse.problems.append(str(error))
        glimpse = glimpse._replace(listed=None)  # without history nobody is declared lost
    return glimpse


def _keep(glimpse: Glimpse, job: WatchedJob | None, record: TaskRecord, now: datetime) -> None:
    """A record is a file of the user's: it counts only for the very job that this place belongs to."""
    if job is not None and record.job_id == job.job_id:
        glimpse.records[job.job_id].setdefault(record.position, record.possible(job.submitted_at, now))


def _seconds(journal: Journal, job: WatchedJob, now: datetime) -> float:
    """That the ended tasks of a job took, as far as they can be believed."""
    return sum(record.possible(job.submitted_at, now).seconds or 0.0 for record in journal.records)


def _not_looked_at(job: WatchedJob) -> RemoteJob:
    """As if it were listed still: it is looked for again, and nothing is concluded before."""
    return RemoteJob(job.tag, job.array_index, job.remote_id, RemoteState.UNKNOWN)


def list_asked_after(jobs: Sequence[WatchedJob]) -> list[WatchedJob]:
    """Those whose end is looked for: not listed before, or being killed as another attempt has succeeded.

    The last to be missed come first: whose journal was not read, as the answer was full, is missed anew.
    """
    asked = [job for job in jobs if job.missing_since is not None or job.kill is KillReason.SUPERSEDED]
    return sorted(asked, key=lambda job: job.missing_since.timestamp() if job.missing_since else 0.0, reverse=True)


def journal_key(job: WatchedJob) -> JobKey:
    return JobKey(job.campaign_id, job.batch_id, job.array_index)
