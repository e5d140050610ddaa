"""Buckets whose jobs demand the same are of one pool, and a pool is judged against the queues that its project sees."""

from typing import Any

from cigri.eligibility.pools import PoolDemand, PooledBucket, UnpooledBucket, judge_pools, pooled
from cigri.flow.views.queues import QueueView
from cigri.requirements.value_kinds import BUILT_IN
from cigri.states import QueueRejectCode

SHARE = UnpooledBucket(1, 1, "", {"memory": "4 GB"}, None, 3600, None, {})


def a_queue(queue_id: int, cluster_id: int, memory: int) -> QueueView:
    mine: dict[str, Any] = {"memory": memory * 2**30}
    return QueueView(queue_id, cluster_id, f"c{cluster_id}", "", "", "", None, (mine,))


def shares(*given: UnpooledBucket) -> list[PooledBucket]:
    return list(pooled(given, BUILT_IN))


def test_shares_that_demand_the_same_are_of_one_pool() -> None:
    one, other = shares(SHARE, SHARE._replace(bucket_id=2, cluster_id=5))
    assert (other.bucket_id, other.cluster_id) == (2, 5)
    assert (one.digest, one.wanted) == (other.digest, other.wanted)


def test_shares_that_differ_in_what_they_demand_or_in_their_project_are_of_several() -> None:
    given = [
        SHARE,
        SHARE._replace(required=None),
        SHARE._replace(walltime=60),
        SHARE._replace(queue="long"),
        SHARE._replace(resources={"mem": 512}),
        SHARE._replace(project="comets"),
    ]
    assert len({share.digest for share in shares(*given)}) == len(given)


def test_a_cluster_without_an_eligible_queue_is_closed_to_a_pool() -> None:
    (share,) = shares(SHARE)
    queues = [a_queue(11, 1, 8), a_queue(12, 2, 2), a_queue(13, 2, 4), a_queue(14, 3, 2)]
    (judged,) = judge_pools([PoolDemand(7, "", share.wanted)], {"": queues}, BUILT_IN)
    assert (judged.pool_id, judged.closed) == (7, [3])
    reasons = {queue_id: plain[0] for queue_id, plain in judged.verdicts.items() if isinstance(plain, tuple)}
    assert reasons == dict.fromkeys((12, 14), QueueRejectCode.TOO_SMALL)


def test_a_pool_is_held_against_the_queues_that_its_project_sees() -> None:
    (share,) = shares(SHARE)
    pools = [PoolDemand(1, "", share.wanted), PoolDemand(2, "comets", share.wanted)]
    seen = {"": [a_queue(11, 1, 2)], "comets": [a_queue(11, 1, 8)]}
    assert [judged.closed for judged in judge_pools(pools, seen, BUILT_IN)] == [[1], []]
