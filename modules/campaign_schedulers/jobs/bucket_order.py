"""Which of the waiting tasks choose among the places first, by buckets: a job has tasks of one bucket only; pure."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from cigri.flow.tasks import WaitingTask
from cigri.flow.views.job_destinations import BucketClusterKey


def by_bucket(
    tasks: Sequence[WaitingTask], cluster_ids: Collection[int], closed: Collection[BucketClusterKey]
) -> Iterator[tuple[list[WaitingTask], bool]]:
    """Tasks of one bucket, as they were sorted, and whether each of them goes alone: it died with its job before,
    or has amounts of its own.

    Those that go alone stand before all others. Else the bucket whose first task is most urgent comes first, and
    of those alike the one that may go to fewer of the clusters: the others find places elsewhere.
    """
    buckets: dict[int, list[WaitingTask]] = defaultdict(list)
    for task in tasks:
        buckets[task.bucket_id].append(task)

    def rank(bucket_id: int) -> tuple[int, int]:
        places = sum((bucket_id, cluster_id) not in closed for cluster_id in cluster_ids)
        return -buckets[bucket_id][0].priority, places

    ranked = sorted(buckets, key=rank) if len(buckets) > 1 else list(buckets)
    for is_alone in (True, False):
        for bucket_id in ranked:
            if alike := [task for task in buckets[bucket_id] if (task.is_special or task.deaths > 0) is is_alone]:
                yield alike, is_alone
