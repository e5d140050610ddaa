"""Traces in the Standard Workload Format 2.2 of the Parallel Workloads Archive, on a cluster of another size.

https://www.cs.huji.ac.il/labs/parallel/workload/swf.html: a job a line, 18 numbers, -1 for what is not known; lines
that begin with `;` are comments, those at the top say how large the machine was.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from itertools import takewhile
from math import floor, isfinite
from pathlib import Path
from random import Random
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt

from cigri.errors import ConfigError
from cigri.formats.units import DAY
from modules.laboratory.load.job import LocalJob

SWF_FIELDS = 18
UNKNOWN_FIELD = -1
CANCELLED_STATUS = 5
PARTIAL_STATUSES = (2, 3, 4)  # stretches of a job that was stopped and continued; a line of its own has the whole job
STATUSES = (UNKNOWN_FIELD, 0, 1, *PARTIAL_STATUSES, CANCELLED_STATUS)
LARGEST_SWF = 1e12  # seconds and cores; what is more is no trace

_HEADER = re.compile(r"\s*;\s*(MaxProcs|MaxNodes):\s*(\d{1,9})\b")

Factor = Annotated[float, Field(ge=0.001, le=1000)]


class SwfLoad(BaseModel):
    """A trace, from `offset` seconds of its own time on; what waited or ran then is there at the scenario's start.

    Cores are scaled from `machine_cores` (None: as the header says) to the cluster's. `time_scale` multiplies all
    times; `load_scale` divides those between submissions only. A trace that is too short begins again the next day.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["swf"]
    file: Annotated[str, Field(min_length=1)]
    offset: NonNegativeFloat = 0.0
    time_scale: Factor = 1.0
    load_scale: Factor = 1.0
    machine_cores: PositiveInt | None = None


class TraceJob(NamedTuple):
    """A line, in the trace's time and cores."""

    submitted: float
    waited: float
    seconds: float
    cores: int
    walltime: float
    user: str


class HeaderCores(NamedTuple):
    """A line of the header that says how many cores there were."""

    cores: int
    counts_cores: bool  # else it counts nodes


def jobs(load: SwfLoad, cores: int, seconds: float, random: Random, directory: Path) -> Iterator[LocalJob]:
    """The trace's jobs on a cluster of so many cores; ConfigError names file and line."""
    path = directory / load.file
    factor = cores / (load.machine_cores or machine_cores(path))
    pace = load.time_scale / load.load_scale
    for at, job in _from_offset(path, load.offset):
        if at * pace >= seconds:
            return
        if width := min(cores, _rounded(job.cores * factor, random)):
            run, walltime = job.seconds * load.time_scale, job.walltime * load.time_scale
            yield LocalJob(at * pace, width, run, walltime, job.user)


def machine_cores(path: Path) -> int:
    """MaxProcs of the header, or MaxNodes where that is missing."""
    header = takewhile(lambda line: isinstance(line, HeaderCores), read(path))
    said = {line.counts_cores: line.cores for line in header if isinstance(line, HeaderCores)}
    cores = said.get(True) or said.get(False)
    if not cores:
        raise ConfigError(f"{path} does not say in its header how large the machine was: give `machine_cores`")
    return cores


def read(path: Path) -> Iterator[TraceJob | HeaderCores]:
    """The jobs of a trace, plain or gz, in its order; raise ConfigError at a line that cannot be read."""
    latest = 0.0
    for number, line in _lines(path):
        try:
            parsed = parse_line(line)
            if isinstance(parsed, TraceJob):
                if parsed.submitted < latest:
                    raise ValueError(f"submitted at {parsed.submitted:g}, before the line above: sort by the 2nd field")
                latest = parsed.submitted
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from None
        if parsed is not None:
            yield parsed


def parse_line(line: str) -> TraceJob | HeaderCores | None:
    """A job or a machine's size; None: a comment, or no job that ran as a whole; ValueError says what is wrong."""
    if not line.strip() or line.lstrip().startswith(";"):
        header = _HEADER.match(line)
        return HeaderCores(int(header[2]), header[1] == "MaxProcs") if header else None
    values = [_number(word) for word in line.split()]
    if len(values) != SWF_FIELDS:
        raise ValueError(f"{len(values)} fields instead of {SWF_FIELDS}")
    submitted, waited, run, allocated, requested, wished = (values[index] for index in (1, 2, 3, 4, 7, 8))
    status, user = _whole(values[10], "status"), _whole(values[11], "user")
    if status not in STATUSES:
        raise ValueError(f"status {status} is none of {', '.join(map(str, STATUSES))}")
    width = _whole(allocated if allocated > 0 else requested, "number of processors")
    if status in PARTIAL_STATUSES or run < 0 or width <= 0 or (status == CANCELLED_STATUS and run == 0):
        return None
    if submitted < 0:
        raise ValueError(f"submit time {submitted:g} is negative")
    return TraceJob(
        submitted, max(0.0, waited), run, width, max(wished, run), f"user{user}" if user >= 0 else "unknown"
    )


def _from_offset(path: Path, offset: float) -> Iterator[tuple[float, TraceJob]]:
    """Jobs with their seconds since the offset, again and again."""
    began = -offset
    while True:
        last = None
        for job in read(path):
            if isinstance(job, TraceJob):
                last = job.submitted
                at = began + job.submitted
                if at >= 0:
                    yield at, job
                elif left := _what_is_left(job, -at):
                    yield 0.0, left
        if last is None:
            raise ConfigError(f"{path} has no job that ran")
        if began + last < 0:
            raise ConfigError(f"{path} ends after {last:g} s: `offset` {offset:g} is behind that")
        began += DAY * (last // DAY + 1)


def _what_is_left(job: TraceJob, ago: float) -> TraceJob | None:
    """A job submitted so long ago as it is now: waiting, running, or None."""
    ran = max(0.0, ago - job.waited)
    return job._replace(seconds=job.seconds - ran, walltime=job.walltime - ran) if ran < job.seconds else None


def _rounded(cores: float, random: Random) -> int:
    """Up or down so that the mean is kept; a part of a core is a whole core so often, else nothing."""
    whole = floor(cores)
    return whole + (random.random() < cores - whole)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        zipped = path.suffix == ".gz"
        with gzip.open(path, "rt", errors="replace") if zipped else path.open(errors="replace") as lines:
            yield from enumerate(lines, start=1)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path} cannot be read as a trace: {error}") from None


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{word[:40]!r} is no number") from None
    if not isfinite(value) or abs(value) > LARGEST_SWF:
        raise ValueError(f"{word[:40]!r} is no number that a trace can hold")
    return value


def _whole(value: float, name: str) -> int:
    if not value.is_integer():
        raise ValueError(f"{name} {value:g} is no whole number")
    return int(value)
