"""What a user is told of a queue that was judged for several buckets of a campaign; pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.states import RejectCode


class BucketVerdict(NamedTuple):
    """A queue is eligible for a bucket (`code` None), or why not, as in a Reject; and since when."""

    code: RejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None


class SummedVerdict(NamedTuple):
    """A queue was judged for `buckets` buckets, is eligible for `eligible` of them, and `shown` stands for them all."""

    buckets: int
    eligible: int
    shown: BucketVerdict


NO_VERDICT = BucketVerdict(None, "", "", "", None)


def sum_up(verdicts: Sequence[BucketVerdict]) -> SummedVerdict:
    """The first refusal is shown, or else the first verdict: a user has to know what to change, not what goes well."""
    refused = [verdict for verdict in verdicts if verdict.code is not None]
    shown = next(iter(refused or verdicts), NO_VERDICT)
    return SummedVerdict(len(verdicts), len(verdicts) - len(refused), shown)


def pool_on(cluster_id: int, pools: Mapping[int, int]) -> int:
    """The pool of a bucket there, of `pools` by cluster; where it has none, that on the first of its clusters."""
    return pools.get(cluster_id, next(iter(pools.values())))
