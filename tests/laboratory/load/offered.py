"""What a list of local jobs asks of a cluster."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter

from modules.laboratory.load import Load, LocalJob, jobs_of

LOADS: TypeAdapter[Load] = TypeAdapter(Load)
HOUR, DAY = 3600.0, 86400.0


def described(**fields: object) -> Load:
    return LOADS.validate_python(fields)


def jobs(load: Load, cores: int = 100, seconds: float = DAY, seed: int = 1, directory: Path = Path()) -> list[LocalJob]:
    return list(jobs_of(load, cores, seconds, seed, directory))


def core_seconds(jobs: Iterable[LocalJob], start: float, end: float) -> float:
    """Held between two moments if each job starts when it is submitted."""
    return sum(job.cores * max(0.0, min(end, job.submitted + job.seconds) - max(start, job.submitted)) for job in jobs)
