"""Simple loads for experiments: none, constant, day and night, bursts; what is offered is exactly what is asked.

A share of a cluster is held by streams of jobs: each holds the cores of one width, a job being submitted when the one
before it would end. What is left, less than a width, is one more stream that runs only so much of the time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from heapq import heapify, heapreplace, merge
from itertools import takewhile
from math import inf
from random import Random
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

from cigri.errors import ConfigError
from cigri.settings.operating_hours import OperatingHours, parse_hours, readable_windows
from modules.laboratory.load.job import LocalJob
from modules.laboratory.load.submitters import pick_name, pick_walltime

MONDAY = datetime(2024, 1, 1, tzinfo=UTC)

LoadShare = Annotated[float, Field(ge=0, le=1)]
"""Of a cluster's cores."""


class NoLoad(BaseModel):
    """The cluster is the grid's alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none"]


class _LoadShape(BaseModel):
    """Jobs of these widths (cores) and durations (seconds), each as likely as the others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    widths: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (1,)
    durations: Annotated[tuple[Annotated[float, Field(ge=1)], ...], Field(min_length=1)] = (3600.0,)


class ConstantLoad(_LoadShape):
    """This share of the cores, always."""

    kind: Literal["constant"]
    utilisation: LoadShare


class DayNightLoad(_LoadShape):
    """One share in the working hours and another outside; jobs end with the hours that they are for."""

    kind: Literal["daynight"]
    day: LoadShare
    night: LoadShare
    working: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(readable_windows)] = (
        "mon-fri 08:00-19:00",
    )
    start_hour: Annotated[float, Field(ge=0, lt=168)] = 0.0  # of the week: 0 is Monday, midnight


class BurstyLoad(_LoadShape):
    """A steady share, and bursts that take `share` more at once for `lasts` seconds, each `every` seconds on average.

    Between the end of a burst and the next one is a time drawn from an exponential distribution.
    """

    kind: Literal["bursty"]
    share: LoadShare
    lasts: PositiveFloat
    every: PositiveFloat
    utilisation: LoadShare = 0.0

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.every <= self.lasts:
            raise ValueError(f"bursts of {self.lasts:g} s cannot come every {self.every:g} s: make `every` larger")
        if self.utilisation + self.share > 1:
            raise ValueError("`utilisation` and `share` are more than the cluster: together at most 1")
        return self


class TimeSpan(NamedTuple):
    """Seconds since the scenario's start."""

    start: float
    end: float


class _JobStream(NamedTuple):
    """When its next job comes, how wide its jobs are, and the chance that a job is really submitted."""

    next: float
    order: int
    width: int
    chance: float


def jobs(
    load: ConstantLoad | DayNightLoad | BurstyLoad, cores: int, seconds: float, random: Random
) -> Iterator[LocalJob]:
    """Raise ConfigError when a width does not fit the cluster."""
    if max(load.widths) > cores:
        raise ConfigError(f"local jobs of {max(load.widths)} cores do not fit a cluster of {cores}: change `widths`")
    steady, more, spans = _parts(load, random)
    begun = takewhile(lambda span: span.start < seconds, spans)
    always = _held(load, steady * cores, TimeSpan(0.0, inf), seconds, Random(random.getrandbits(64)), staggered=True)
    others = (job for span in begun for job in _held(load, more * cores, span, seconds, random, staggered=False))
    return merge(always, others, key=lambda job: job.submitted)


def _parts(load: ConstantLoad | DayNightLoad | BurstyLoad, random: Random) -> tuple[float, float, Iterator[TimeSpan]]:
    """The share held always, the share held besides in some spans, and these without end."""
    match load:
        case ConstantLoad():
            return load.utilisation, 0.0, iter(())
        case DayNightLoad():
            spans = _hours(load, wanted=load.day > load.night)
            return min(load.day, load.night), abs(load.day - load.night), spans
        case BurstyLoad():
            return load.utilisation, load.share, _bursts(load, Random(random.getrandbits(64)))


def _hours(load: DayNightLoad, *, wanted: bool) -> Iterator[TimeSpan]:
    """The working hours, or all others, from the scenario's start on."""
    start = MONDAY + timedelta(hours=load.start_hour)
    hours = parse_hours(load.working, "UTC")
    assert isinstance(hours, OperatingHours)
    now = start
    while True:
        stretch = hours.at(now)
        end = inf if stretch.until is None else (stretch.until - start).total_seconds()
        if stretch.is_open is wanted:
            yield TimeSpan((now - start).total_seconds(), end)
        if stretch.until is None:
            return
        now = stretch.until


def _bursts(load: BurstyLoad, random: Random) -> Iterator[TimeSpan]:
    start = 0.0
    while True:
        start += random.expovariate(1.0 / (load.every - load.lasts))
        yield TimeSpan(start, start + load.lasts)
        start += load.lasts


def _held(
    load: _LoadShape, held: float, span: TimeSpan, seconds: float, random: Random, *, staggered: bool
) -> Iterator[LocalJob]:
    """Jobs that hold `held` cores through the span; `staggered`: as if the streams had run before it began."""
    streams = list(_streams(load.widths, held, span.start, random))
    early = {stream.order for stream in streams} if staggered else set[int]()
    heapify(streams)
    while streams and streams[0].next < min(span.end, seconds):
        now, order, width, chance = streams[0]
        whole = random.choice(load.durations)
        lasts = whole * (1.0 - random.random()) if order in early else whole
        early.discard(order)
        lasts = min(lasts, span.end - now)
        if random.random() < chance:
            yield LocalJob(now, width, lasts, pick_walltime(random, whole), pick_name(random))
        heapreplace(streams, _JobStream(now + lasts, order, width, chance))


def _streams(widths: tuple[int, ...], held: float, start: float, random: Random) -> Iterator[_JobStream]:
    order = 0
    while fitting := [width for width in widths if width <= held]:
        width = random.choice(fitting)
        yield _JobStream(start, order, width, 1.0)
        held -= width
        order += 1
    if held > 0:
        yield _JobStream(start, order, min(widths), held / min(widths))
