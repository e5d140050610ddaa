"""What a pilot says of itself in JOBSTATUS (draft 0.99), what its end would waste, and whom to take first; pure.

Times are seconds since 1970, wastes are CPU seconds. Values come from users and sites: what cannot be believed is
ignored, and what is not known is None, never 0.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

FIGURE = re.compile(r"[+-]?\d{1,20}(\.\d{0,20})?([eE][+-]?\d{1,2})?", re.ASCII)
LARGEST_FIGURE = 1e12
NUMBERS = {
    "used_CPU": "used_cpu",
    "last_job_start": "last_job_start",
    "first_exp_job_end": "first_exp_job_end",
    "last_exp_job_end": "last_exp_job_end",
    "last_max_job_end": "last_max_job_end",
    "add_uncom_time": "add_uncom_time",
    "add_final_exp_waste": "add_final_exp_waste",
}
KEYS = (*NUMBERS, "can_postpone_last_job", "priority_factor")


class JobStatusReport(NamedTuple):
    """`can_postpone_last_job`: ends are those of the jobs within the pilot so far; it may start more of them."""

    used_cpu: float | None = None
    last_job_start: float | None = None
    first_exp_job_end: float | None = None
    last_exp_job_end: float | None = None
    last_max_job_end: float | None = None
    add_uncom_time: float | None = None
    add_final_exp_waste: float | None = None
    can_postpone_last_job: bool | None = None
    priority_factor: float | None = None


class ParsedJobStatus(NamedTuple):
    """What could be believed, and why the rest could not."""

    status: JobStatusReport
    ignored: tuple[str, ...]


class AssessedJob(NamedTuple):
    """A running job as the grid knows it; `begun`: when each of its tasks did that run now, empty if nobody knows.

    It runs up to `side` tasks side by side.
    """

    job_id: int
    user: str
    cores: int
    begun: tuple[float, ...]
    estimate: float | None  # seconds of a task
    limit: float | None  # when its walltime is over
    side: int = 1

    @property
    def last_start(self) -> float | None:
        """When the task that began last did so, in seconds since 1970; None when nobody knows."""
        return max(self.begun, default=None)


class TerminationCost(NamedTuple):
    """What the end of a running job would waste."""

    remaining_time: float | None
    """Seconds to its own end."""
    enforced_time: float | None
    """Seconds to the enforced limit."""
    draining_waste: float | None
    """Core-seconds that draining the node would waste."""
    kill_waste: float | None
    """Core-seconds that killing the job now would waste."""
    priority: float | None
    """What the job says of its own worth."""
    is_own: bool
    """Whether the job itself says so."""


class KillCandidate(NamedTuple):
    """A job that could be killed, and what that wastes."""

    job: AssessedJob
    figures: TerminationCost


def parse_status(values: Mapping[str, str], allocated: int) -> ParsedJobStatus:
    """Read a set of values; one that claims more cores than the job has is not believed in anything."""
    read: dict[str, float | bool] = {}
    ignored = []
    for key, text in values.items():
        try:
            read[NUMBERS.get(key, key)] = _value(key, text)
        except ValueError as error:
            ignored.append(f"{key}: {error}")
    used = read.get("used_cpu")
    if used is not None and used > allocated:
        return ParsedJobStatus(
            JobStatusReport(), (*ignored, f"used_CPU: {used:g} of {allocated} cores: nothing of it is believed")
        )
    return ParsedJobStatus(JobStatusReport(**read), tuple(ignored))  # type: ignore[arg-type]  # _value gives each its type


def remaining_time(status: JobStatusReport, now: float, *, is_enforced: bool = False) -> float | None:
    """Seconds until the last job within the pilot ends, as it expects or (`is_enforced`) as its limit enforces."""
    end = status.last_max_job_end if is_enforced else status.last_exp_job_end
    return None if end is None else max(end - now, 0.0)


def draining_waste(status: JobStatusReport, allocated: int, now: float) -> float | None:
    """CPU seconds that are idle from now on if the pilot starts nothing more; None: its status does not tell."""
    used, first, later = status.used_cpu, status.first_exp_job_end, status.add_final_exp_waste
    if used is None or first is None or later is None:
        return None
    return (allocated - used) * max(first - now, 0.0) + later


def kill_waste(status: JobStatusReport, now: float) -> float | None:
    """CPU seconds computed so far that would be lost if the pilot were killed now; None: its status does not tell."""
    used, start, before = status.used_cpu, status.last_job_start, status.add_uncom_time
    if used is None or start is None or before is None:
        return None
    return before + used * max(now - start, 0.0)


def known_to_grid(job: AssessedJob) -> JobStatusReport:
    """The status of a job that says nothing, as cigri/wrapper/features.sh would write it from what the grid knows."""
    last, share = job.last_start, job.cores / job.side
    if last is None:
        return JobStatusReport(used_cpu=float(job.cores), last_max_job_end=job.limit)
    ends = [] if job.estimate is None else [start + job.estimate for start in job.begun]
    first_end, last_end = min(ends, default=None), max(ends, default=None)
    idle: float | None = 0.0 if job.side == 1 else None
    if first_end is not None and last_end is not None:
        idle = job.cores * (last_end - first_end) - share * sum(end - first_end for end in ends)
    return JobStatusReport(
        used_cpu=share * len(job.begun),
        last_job_start=last,
        first_exp_job_end=first_end,
        last_exp_job_end=last_end,
        last_max_job_end=job.limit,
        add_uncom_time=share * sum(last - start for start in job.begun),
        add_final_exp_waste=idle,
    )


def assess(job: AssessedJob, status: JobStatusReport, now: float) -> TerminationCost:
    """The figures of a job; each that its own status does not yield is the grid's."""
    grid, own = known_to_grid(job), status.used_cpu is not None
    chosen = [status, grid] if own else [grid]

    def first(formula: Callable[[JobStatusReport], float | None]) -> float | None:
        return next((figure for source in chosen if (figure := formula(source)) is not None), None)

    return TerminationCost(
        first(lambda source: remaining_time(source, now)),
        first(lambda source: remaining_time(source, now, is_enforced=True)),
        first(lambda source: draining_waste(source, job.cores, now)),
        first(lambda source: kill_waste(source, now)),
        status.priority_factor,
        own,
    )


def least_waste_first(victims: Iterable[KillCandidate]) -> list[KillCandidate]:
    """In the order in which to kill: least waste for each core first, then the youngest; unknown ones last.

    A priority counts among jobs of one user only: it changes who of them goes, never which user is hit.
    """
    by_waste = sorted(victims, key=_cost)
    by_user: dict[str, list[KillCandidate]] = {}
    for victim in by_waste:
        by_user.setdefault(victim.job.user, []).append(victim)
    turns = {user: iter(sorted(jobs, key=_priority)) for user, jobs in by_user.items()}
    return [next(turns[victim.job.user]) for victim in by_waste]


def enough(victims: Sequence[KillCandidate], cores: int) -> list[KillCandidate]:
    """The first of them that free so many cores; all, when they are too few."""
    chosen, freed = [], 0
    for victim in victims:
        if freed >= cores:
            break
        chosen.append(victim)
        freed += victim.job.cores
    return chosen


def _cost(victim: KillCandidate) -> tuple[float, float, int]:
    waste, start = victim.figures.kill_waste, victim.job.last_start
    return (math.inf if waste is None else waste / victim.job.cores, -(start or 0.0), victim.job.job_id)


def _priority(victim: KillCandidate) -> float:
    """A job that says nothing ranks like 0."""
    return victim.figures.priority or 0.0


def _value(key: str, text: str) -> float | bool:
    text = text.strip()
    if key == "can_postpone_last_job":
        if text not in ("True", "False"):
            raise ValueError(f"{text[:40]!r} is neither True nor False")
        return text == "True"
    if key not in KEYS:
        raise ValueError("no key of JOBSTATUS")
    if not FIGURE.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no number")
    value = float(text)
    if key == "priority_factor":
        if abs(value) > LARGEST_FIGURE:
            raise ValueError(f"{text} is too large")
        return value
    if not 0 <= value <= LARGEST_FIGURE:
        raise ValueError(f"{text} is below 0 or too large")
    return value
