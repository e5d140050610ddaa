"""Submit pools: which jobs demand the same, and which queues are eligible for all of these; pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cigri.eligibility.queues import Eligible, QueueLike, Wanted, decide, wanted_of
from cigri.requirements import NO_REQUIREMENT, Kinds, Reject, digest, parse_requirement

Plain = tuple[object, ...] | dict[str, Any] | None
"""A verdict as it is kept: why not; or else, for an eligible queue, what nodes have to be chosen by (None: any)."""


class UnpooledShare(NamedTuple):
    """A bucket on one of its campaign's clusters: what the campaign requires, its settings there, and the bucket's."""

    bucket_id: int
    cluster_id: int
    project: str
    required: Any
    resources: Any
    walltime: Any
    queue: Any
    bucket: dict[str, Any]


class PooledShare(NamedTuple):
    """A bucket on one of its campaign's clusters, and what its jobs demand there, which has this digest."""

    bucket_id: int
    cluster_id: int
    project: str
    digest: str
    wanted: Wanted


class Pool(NamedTuple):
    """Jobs of a project that demand the same."""

    id: int
    project: str
    wanted: Wanted


class JudgedPool(NamedTuple):
    """The verdict on each queue, and the clusters that have none that is eligible."""

    pool_id: int
    verdicts: Mapping[int, Plain]
    closed: list[int]


def pooled(shares: Iterable[UnpooledShare], kinds: Kinds) -> Iterator[PooledShare]:
    """In the order of the shares; those whose jobs demand the same have the same digest."""
    by_key: dict[str, tuple[str, Wanted]] = {}  # few are distinct
    for share in shares:
        key = json.dumps(share[2:], sort_keys=True)
        if key not in by_key:
            requirement = NO_REQUIREMENT if share.required is None else parse_requirement(share.required, kinds)
            settings = {"resources": share.resources, "walltime": share.walltime, "queue": share.queue}
            wanted = wanted_of(requirement, settings, share.bucket)
            by_key[key] = digest(wanted.canonical(), share.project), wanted
        yield PooledShare(share.bucket_id, share.cluster_id, share.project, *by_key[key])


def judge_pools(pools: Iterable[Pool], queues: Mapping[str, Sequence[QueueLike]], kinds: Kinds) -> list[JudgedPool]:
    """One for each pool, in their order; `queues` are by project, as its jobs see them."""
    return [_judge_pool(pool, queues[pool.project], kinds) for pool in pools]


def _judge_pool(pool: Pool, queues: Sequence[QueueLike], kinds: Kinds) -> JudgedPool:
    verdicts = decide(pool.wanted, queues, kinds)
    open_to = {queue.cluster_id for queue in queues if isinstance(verdicts[queue.queue_id], Eligible)}
    closed = {queue.cluster_id for queue in queues} - open_to
    return JudgedPool(pool.id, {queue_id: _plain(verdict) for queue_id, verdict in verdicts.items()}, sorted(closed))


def _plain(verdict: Reject | Eligible) -> Plain:
    if isinstance(verdict, Reject):
        return verdict.code, verdict.name, verdict.wanted, verdict.found
    return None if verdict.condition is None else verdict.condition.canonical()
