"""Why a campaign has no more jobs somewhere."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import CutReason, RejectCode


class QueueReason(NamedTuple):
    """A queue, as `queue@cluster`, judged for `buckets` buckets of tasks, and eligible for `eligible` of them.

    `code`: what is missing, of `name`: `wanted` and `found`; since when it is so, and `why` in a sentence.
    """

    place: str
    queue: str
    is_eligible: bool
    is_used: bool
    buckets: int
    eligible: int
    code: RejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None
    why: str


class ClusterReason(NamedTuple):
    """A cluster of the grid: the `state` of the campaign there, its jobs, and `why` there are no more.

    `reason`: what kept it from more in the last cycle, `used` of `most`. `is_used`: it is one of the campaign's.
    """

    cluster: str
    state: str
    is_used: bool
    to_launch: int
    waiting: int
    running: int
    since: datetime | None
    why: str
    reason: CutReason | None
    name: str | None
    used: int | None
    most: int | None
    queues: list[QueueReason]
