"""Why a campaign has no more jobs somewhere."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import PendingReasonCode, QueueRejectCode


class QueueExplanation(NamedTuple):
    """A queue, judged for the buckets of tasks of a campaign."""

    place: str
    """The queue as queue@cluster."""
    queue: str
    """Its logical name; the default one is ""."""
    is_eligible: bool
    """Whether it satisfies some of the campaign's buckets of tasks."""
    is_used: bool
    """Whether the campaign uses its cluster."""
    buckets: int
    """For how many buckets it was judged."""
    eligible: int
    """For how many of these it is eligible."""
    code: QueueRejectCode | None
    """What kind of thing is missing."""
    name: str
    """Of what it is missing."""
    wanted: str
    """What is wanted of it."""
    found: str
    """What is there."""
    since: datetime | None
    """Since when it is so."""
    why: str
    """The same in a sentence."""


class WaitingJobs(NamedTuple):
    """Jobs of a campaign that wait on a cluster, and what its batch system says of them."""

    said: str
    """The batch system's own words."""
    meaning: str
    """The same in plain words; empty: its own have to do."""
    is_stuck: bool
    """Whether what they wait for does not come by itself."""
    jobs: int
    """How many of the campaign's jobs wait for this."""
    starts_at: datetime | None
    """When the batch system means to start the first of them; null: it does not say."""
    since: datetime
    """Since when the grid has heard this of jobs of the campaign."""


class ClusterExplanation(NamedTuple):
    """A cluster of the grid, and why the campaign has no more jobs there."""

    cluster: str
    """A cluster of the grid."""
    state: str
    """How the campaign stands there, in one word."""
    is_used: bool
    """Whether it is one of the campaign's."""
    to_launch: int
    """The campaign's jobs that are to be submitted there."""
    waiting: int
    """The campaign's jobs that wait there."""
    running: int
    """The campaign's jobs that run there."""
    since: datetime | None
    """Since when there are no more."""
    why: str
    """Why there are no more, in a sentence."""
    reason: PendingReasonCode | None
    """What kept it from more in the last cycle."""
    name: str | None
    """The name of the limit or quota that did."""
    used: int | None
    """How much of this is used."""
    most: int | None
    """How much of it there is."""
    queues: list[QueueExplanation]
    """The cluster's queues."""
    waiting_jobs: list[WaitingJobs]
    """What its batch system says of the campaign's jobs that wait, what does not pass by itself first."""
