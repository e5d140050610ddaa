"""The grid in figures, for whoever draws curves of them: none of them grows with campaigns or users."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import Outcome


class ClusterMetrics(NamedTuple):
    """A cluster as last seen."""

    cluster: str
    """Its name."""
    is_enabled: bool
    """Whether it gets jobs."""
    failures: int
    """Visits in a row that have failed."""
    visited: float | None
    """Seconds since it was looked at; null: never."""
    ours: int | None
    """Cores with our jobs; null: it was never seen."""
    others: int | None
    """Cores that others use."""
    free: int | None
    """Cores that nobody uses."""
    down: int | None
    """Cores that nobody can use."""
    pace: float
    """What may be asked of its front-end, as a part of the usual."""
    clock_skew: int | None
    """Seconds by which the clock of its front-end is ahead of the grid's, at the least; null: it was not asked."""
    waiting: int
    """Our jobs that wait for it."""
    running: int
    """Our jobs that run there."""
    stuck: int
    """Our jobs that wait for what does not come by itself."""


class OutcomeMetric(NamedTuple):
    """What has ended in one way on one cluster since the grid began."""

    cluster: str
    """Its name."""
    outcome: Outcome
    """How it ended."""
    is_replica: bool
    """Whether another attempt at the task lived."""
    attempts: int
    """Attempts at tasks."""
    jobs: int
    """Jobs; one has the outcome of its first task that did not end well."""
    core_seconds: float
    """What these jobs used."""


class RemoteCommandMetric(NamedTuple):
    """What a module has asked of a cluster's front-end since the grid began."""

    cluster: str
    """The cluster's name."""
    module: str
    """The module's name."""
    commands: int
    """Remote commands, answered or not."""
    seconds: float
    """How long they took, together."""
    sessions: int
    """SSH sessions that its process kept open after its last pass."""


class ModuleMetrics(NamedTuple):
    """A module since it was first seen."""

    name: str
    """Its name."""
    passes: int
    """Its passes."""
    failures: int
    """Passes that failed."""
    seconds: float | None
    """Of the last pass; null: it is not over."""
    age: float
    """Seconds since the last pass was noted."""
    is_failing: bool
    """Whether the last pass failed."""


class GridMetrics(NamedTuple):
    """The grid at one instant."""

    now: datetime
    """The instant, by the grid's clock."""
    campaigns: dict[str, int]
    """Campaigns by state."""
    tasks: dict[str, int]
    """Tasks by state, those of campaigns that are not archived yet."""
    events: dict[str, int]
    """Open events by level."""
    clusters: list[ClusterMetrics]
    """All clusters, by name."""
    ended: list[OutcomeMetric]
    """Each way in which something has ended somewhere."""
    commands: list[RemoteCommandMetric]
    """Each module on each cluster of which it has asked anything."""
    modules: list[ModuleMetrics]
    """All modules that were ever seen."""
    has_almighty: bool
    """Whether an almighty is connected to the database, and has not stalled."""
    calibration: float | None
    """The share of 90 % intervals, of campaigns that ended in the last day, that held the end; null: there is none."""
    stalled: int = 0
    """Processes that make passes, are connected to the database, and do not go on."""
    intervals: int = 0
    """How many intervals `calibration` is the share of."""


class UsedWork(NamedTuple):
    """Core-seconds that ended jobs used in the days asked for, together for what was not asked to be told apart."""

    day: datetime | None
    """When the day begins, in UTC; null: of all days."""
    user: str | None
    """Whose campaigns they were of; null: of everybody's."""
    project: str | None
    """The project of these campaigns, "" of none; null: of all."""
    cluster: str | None
    """The cluster; null: on all."""
    type: str | None
    """The type of the jobs, "" of some that were archived long ago; null: of all."""
    jobs: int
    """How many ended."""
    well: float
    """Core-seconds of those that succeeded."""
    failed: float
    """Core-seconds of those that failed by their own fault, or came to the limit of time or memory."""
    lost: float
    """Core-seconds of others: preempted, killed, lost, or with a result that is doubted."""
    replicas: float
    """Core-seconds of those that tried tasks at the same time as others."""
    asked: float
    """Core-seconds that all of them had asked for by their walltimes, each on the day of its end."""


class AccountingEntry(NamedTuple):
    """Core-seconds that ended jobs of somebody used on a cluster in the days asked for."""

    user: str
    """Whose campaigns they were of."""
    project: str
    """The project of these campaigns; empty: none."""
    cluster: str
    """The cluster."""
    jobs: int
    """How many ended."""
    well: float
    """Core-seconds of those that succeeded."""
    lost: float
    """Core-seconds of others: failed, preempted, killed, lost."""
    replicas: float
    """Core-seconds of those that tried tasks at the same time as others."""
