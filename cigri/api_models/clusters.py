"""How clusters are, how full they were, and what their queues have."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.formats.json_values import INLINE
from cigri.formats.units import as_utc


class ClusterView(NamedTuple):
    """A cluster: its cores at the last visit, and our live jobs."""

    id: int
    """The cluster's number."""
    name: str
    """Its name."""
    config: dict[str, Any]
    """Its configuration, secrets as ***."""
    is_enabled: bool
    """Whether the operator wants it to be used."""
    paused_until: datetime | None
    """When a cluster that is away is visited again."""
    visited_at: datetime | None
    """When it was last visited."""
    total: int | None
    """Its cores at the last visit; null: never visited."""
    free: int | None
    """Cores that are free."""
    used: int | None
    """Cores that are in use, by others or by the grid."""
    used_by_us: int | None
    """Those of them that the grid's jobs use."""
    unavailable: int | None
    """Cores that nobody can use."""
    waiting: int
    """The grid's jobs that wait there."""
    running: int
    """The grid's jobs that run there."""
    away_since: datetime | None
    """Since when it does not answer."""
    why: str | None
    """What it said when it was last not to be reached."""
    drained_by: datetime | None
    """When it is to be empty, if the operator drains it."""
    sick_nodes: list[str]
    """Nodes that get no jobs now, by the grid's finding."""
    drained_nodes: list[str]
    """Nodes that get no jobs now, by the operator's word."""
    pace: float
    """The part of the usual that is asked of it."""
    stress: str
    """The stress it is under, for which less is asked of it."""
    clock_skew: int | None = None
    """Seconds by which the clock of its front-end is ahead of the grid's, at the least; null: it was not asked."""


class ClusterUsagePeriod(NamedTuple):
    """Mean cores of a cluster in the period that begins `at`, to a hundredth of a core."""

    cluster: str
    """A cluster."""
    at: datetime
    """When the period begins."""
    total: float
    """Its cores, on the mean."""
    free: float
    """Cores that were free."""
    used: float
    """Cores that were in use, by others or by the grid."""
    used_by_us: float
    """Those of them that the grid's jobs used."""
    unavailable: float
    """Cores that nobody could use."""


class ClusterStatus(NamedTuple):
    """A cluster, and how it stands."""

    cluster: Annotated[ClusterView, INLINE]
    """What is known of it."""
    state: str
    """Its state in one word."""
    reason: str | None
    """Why it is in this state."""
    host: str
    """Its front-end."""


class ClusterDayReport(NamedTuple):
    """A cluster, and how full it was in the last 24 hours."""

    status: Annotated[ClusterStatus, INLINE]
    """How it is now: its queue, its pace, its last visit."""
    usage: list[ClusterUsagePeriod]
    """The mean of each quarter of an hour, the oldest first; without those in which nobody visited it."""
    sessions: dict[str, int]
    """SSH sessions that modules keep open there from pass to pass; without those that keep none."""


class NodePropertyView(NamedTuple):
    """What nodes have of one property."""

    value: object
    """What the nodes have."""
    shown: str
    """The same as people write it."""
    source: str
    """Who says so."""


class NodeClassView(NamedTuple):
    """Nodes that are alike."""

    nodes: int | None
    """How many nodes are alike; null: nobody has looked at them."""
    properties: dict[str, NodePropertyView]
    """What each of them has, by name."""


class QueueProperties(NamedTuple):
    """A queue of a cluster, and what its nodes have."""

    cluster: str
    """The queue's cluster."""
    site: str
    """The cluster's site."""
    queue: str
    """Its logical name; the default one is ""."""
    remote_name: str
    """Its name in the batch system."""
    driver: str | None
    """The driver of its batch system."""
    requires: dict[str, Any] | None
    """What its jobs must satisfy."""
    unreadable: str
    """What was wrong with the cluster's last answer about its nodes; "": nothing."""
    classes: list[NodeClassView]
    """Its nodes, those that are alike together."""


class AccountMapping(NamedTuple):
    """A grid user whose jobs run under another name on a cluster."""

    grid_user: str
    """The name on the grid."""
    local_user: str
    """The account that runs their jobs there."""


class ClusterSnapshot(NamedTuple):
    """A cluster as last seen, in cores, and our jobs there; null: it has never been seen."""

    name: str
    """Its name."""
    config: dict[str, Any]
    """Its configuration as it is stored."""
    is_enabled: bool
    """Whether the operator wants it to be used."""
    failures: int
    """Visits in a row that failed."""
    blocked_until: datetime | None
    """When a cluster that is away is visited again."""
    visited_at: datetime | None
    """When it was last visited."""
    total: int | None
    """Its cores."""
    free: int | None
    """Cores that are free."""
    used_by_us: int | None
    """Cores that the grid's jobs use."""
    unavailable: int | None
    """Cores that nobody can use."""
    waiting: int
    """The grid's jobs that wait there."""
    running: int
    """The grid's jobs that run there."""
    drained_by: datetime | None
    """When it is to be empty, if the operator drains it."""
    clock_skew: int | None
    """Seconds by which the clock of its front-end is ahead of the grid's, at the least; null: it was not asked."""

    @property
    def state(self) -> str:
        """In words for operators; failures go before a drain, and that before being disabled."""
        if self.failures:
            return "failing" if self.is_enabled else "failing, disabled"
        if self.drained_by is not None:
            return f"draining, by {as_utc(self.drained_by)}"
        if not self.is_enabled:
            return "disabled"
        return "ok" if self.visited_at else "not visited yet"


class DeclaredCluster(NamedTuple):
    """A cluster as its operator has declared it, and how it stands."""

    standing: Annotated[ClusterSnapshot, INLINE]
    """What is known of it."""
    state: str
    """How it stands, in words."""
    accounts: list[AccountMapping]
    """Grid users whose jobs run there under another name."""


class FallbackDecision(NamedTuple):
    """Whether another batch system has to stand in for that of a cluster."""

    because: str
    """Why it has to; empty: the cluster's own is there."""


# Nodes that get no jobs.


class ExcludedNodeView(NamedTuple):
    """A node that is sick, on trial after that, or drained."""

    cluster: str
    """Its cluster."""
    node: str
    """Its name."""
    since: datetime
    """When it was left out."""
    until: datetime
    """When it gets jobs again; of a drained one, when it is to be empty, and it stays out after that."""
    strikes: int
    """How many times in a row it was found sick."""
    reason: str
    """What was found, or who drains it."""
    asked_by: str
    """Who left it out: cigri, or an operator."""
    is_out: bool
    """Whether it gets no job now; else it is on trial, until a task has ended there well."""
    is_drained: bool = False
    """Whether an operator wants it empty."""
