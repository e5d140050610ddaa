"""Which campaigns' jobs died at once, as nothing of them was recorded, and whose jobs did work; pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cigri.flow.ends import EndedJob
from cigri.flow.live_jobs import WatchedJob
from cigri.lifecycle.verdicts import SHORTEST_RUN
from cigri.states import JobKind, Outcome
from cigri.wrapper import JournalState, TaskRecord
from modules.updator.job_conclusions import JournalSummary, VisitEnds

DIED = frozenset({Outcome.LOST, Outcome.NODE_FAILURE})


class IdleDeaths(NamedTuple):
    """`examples`: by campaign, a job of it that died so, while none of its jobs did anything; `working`: of the others,
    those whose jobs did."""

    examples: dict[int, str]
    working: set[int]


def find_idle_deaths(
    ends: VisitEnds,
    begun: Iterable[WatchedJob],
    records: Mapping[int, Mapping[int, TaskRecord]],
    journals: Mapping[int, JournalSummary],
) -> IdleDeaths:
    """Of the jobs that ended, and of those that were seen to have begun; `records` and `journals` by job.

    A task that has not found its inputs did nothing.
    """
    working = {job.campaign_id for job in begun}
    working |= {
        attempt.campaign_id
        for attempt in ends.attempts
        if attempt.position in records.get(attempt.job_id, {}) and attempt.outcome is not Outcome.LOST
    }
    working |= {job.campaign_id for job in ends.jobs if job.kind is not JobKind.TASKS and records.get(job.job_id)}
    died = [job for job in ends.jobs if not records.get(job.job_id) and _has_died_idle(job, journals)]
    examples = {job.campaign_id: f"job {job.job_id}: {job.reason or job.outcome}" for job in died}
    return IdleDeaths({id: example for id, example in examples.items() if id not in working}, working)


def _has_died_idle(job: EndedJob, journals: Mapping[int, JournalSummary]) -> bool:
    """Nobody has killed it, it has not lasted, and its journal, which was looked for, does not say that it started."""
    journal = journals.get(job.job_id)
    if journal is None or journal.has_start or journal.state is JournalState.UNREAD:
        return False
    return job.outcome in DIED and (job.lasted is None or job.lasted < SHORTEST_RUN)
