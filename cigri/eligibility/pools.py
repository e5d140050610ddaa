"""Submit pools: which jobs demand the same, and which queues are eligible for all of these; pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cigri.eligibility.queues import Eligibility, QueueDemand, QueueFacts, decide, wanted_of
from cigri.requirements import NO_REQUIREMENT, Kinds, QueueRejection, digest, parse_requirement
from cigri.states import QueueRejectCode

VerdictRow = tuple[object, ...] | dict[str, Any] | None
"""A verdict as it is kept: why not; or else, for an eligible queue, what nodes have to be chosen by (None: any)."""


class UnpooledBucket(NamedTuple):
    """A bucket on one of its campaign's clusters: what the campaign requires, its settings there, and the bucket's."""

    bucket_id: int
    cluster_id: int
    project: str
    required: Any
    resources: Any
    walltime: Any
    queue: Any
    bucket: dict[str, Any]


class PooledBucket(NamedTuple):
    """A bucket on one of its campaign's clusters, and what its jobs demand there, which has this digest."""

    bucket_id: int
    cluster_id: int
    project: str
    digest: str
    wanted: QueueDemand


class PoolDemand(NamedTuple):
    """Jobs of a project that demand the same."""

    id: int
    project: str
    wanted: QueueDemand


class PoolVerdicts(NamedTuple):
    """The verdict on each queue, and the clusters that have none that is eligible."""

    pool_id: int
    verdicts: Mapping[int, VerdictRow]
    closed: list[int]


def pooled(shares: Iterable[UnpooledBucket], kinds: Kinds) -> Iterator[PooledBucket]:
    """In the order of the shares; those whose jobs demand the same have the same digest."""
    by_key: dict[str, tuple[str, QueueDemand]] = {}  # few are distinct
    for share in shares:
        key = json.dumps(share[2:], sort_keys=True)
        if key not in by_key:
            requirement = NO_REQUIREMENT if share.required is None else parse_requirement(share.required, kinds)
            settings = {"resources": share.resources, "walltime": share.walltime, "queue": share.queue}
            wanted = wanted_of(requirement, settings, share.bucket)
            by_key[key] = digest(wanted.canonical(), share.project), wanted
        yield PooledBucket(share.bucket_id, share.cluster_id, share.project, *by_key[key])


def judge_pools(
    pools: Iterable[PoolDemand], queues: Mapping[str, Sequence[QueueFacts]], kinds: Kinds
) -> list[PoolVerdicts]:
    """One for each pool, in their order; `queues` are by project, as its jobs see them."""
    return [_judge_pool(pool, queues[pool.project], kinds) for pool in pools]


def _judge_pool(pool: PoolDemand, queues: Sequence[QueueFacts], kinds: Kinds) -> PoolVerdicts:
    verdicts = decide(pool.wanted, queues, kinds)
    open_to = {queue.cluster_id for queue in queues if isinstance(verdicts[queue.queue_id], Eligibility)}
    closed = {queue.cluster_id for queue in queues} - open_to
    return PoolVerdicts(pool.id, {queue_id: _plain(verdict) for queue_id, verdict in verdicts.items()}, sorted(closed))


def _plain(verdict: QueueRejection | Eligibility) -> VerdictRow:
    if isinstance(verdict, QueueRejection):
        return verdict.code, verdict.name, verdict.wanted, verdict.found
    return None if verdict.condition is None else verdict.condition.canonical()


# What a user is told of a queue that was judged for several buckets of a campaign; pure.


class BucketVerdict(NamedTuple):
    """A queue is eligible for a bucket (`code` None), or why not, as in a QueueRejection; and since when."""

    code: QueueRejectCode | None
    name: str
    wanted: str
    found: str
    since: datetime | None


class VerdictSummary(NamedTuple):
    """A queue was judged for `buckets` buckets, is eligible for `eligible` of them, and `shown` stands for them all."""

    buckets: int
    eligible: int
    shown: BucketVerdict


NO_VERDICT = BucketVerdict(None, "", "", "", None)


def summarize_verdicts(verdicts: Sequence[BucketVerdict]) -> VerdictSummary:
    """The first refusal is shown, or else the first verdict: a user has to know what to change, not what goes well."""
    refused = [verdict for verdict in verdicts if verdict.code is not None]
    shown = next(iter(refused or verdicts), NO_VERDICT)
    return VerdictSummary(len(verdicts), len(verdicts) - len(refused), shown)


def pool_on(cluster_id: int, pools: Mapping[int, int]) -> int:
    """The pool of a bucket there, of `pools` by cluster; where it has none, that on the first of its clusters."""
    return pools.get(cluster_id, next(iter(pools.values())))
