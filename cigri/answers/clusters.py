"""How clusters are, how full they were, and what their queues have."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.text.plain import INLINE


class ClusterView(NamedTuple):
    """A cluster: cores at the last visit (None: never visited), our live jobs, since when and why it is away.

    `drained_by`: when it is to be empty, if the operator drains it. `sick_nodes` and `drained_nodes` get no jobs now.
    `pace`: the part of the usual that is asked of it, for the `stress` it is under.
    """

    id: int
    name: str
    config: dict[str, Any]
    is_enabled: bool
    paused_until: datetime | None
    visited_at: datetime | None
    total: int | None
    free: int | None
    used: int | None
    used_by_us: int | None
    unavailable: int | None
    waiting: int
    running: int
    away_since: datetime | None
    why: str | None
    drained_by: datetime | None
    sick_nodes: list[str]
    drained_nodes: list[str]
    pace: float
    stress: str


class Usage(NamedTuple):
    """Mean cores of a cluster in the period that begins `at`."""

    cluster: str
    at: datetime
    total: int
    free: int
    used: int
    used_by_us: int
    unavailable: int


class ClusterStatus(NamedTuple):
    """`state`: in one word, with its `reason`; `host`: its front-end."""

    cluster: Annotated[ClusterView, INLINE]
    state: str
    reason: str | None
    host: str


class PropertyView(NamedTuple):
    """What nodes have, also as people write it, and who says so."""

    value: object
    shown: str
    source: str


class ClassView(NamedTuple):
    """Nodes that are alike, and their number; None: nobody has looked at them."""

    nodes: int | None
    properties: dict[str, PropertyView]


class QueueProperties(NamedTuple):
    """A queue, by its logical name; `unreadable`: what was wrong with its cluster's last answer about its nodes."""

    cluster: str
    site: str
    queue: str
    remote_name: str
    driver: str | None
    requires: dict[str, Any] | None
    unreadable: str
    classes: list[ClassView]
