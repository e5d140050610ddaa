"""How many jobs still fit into the queues of clusters, by what they ask for: all campaigns fill the same ones; pure."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from cigri.flow.offers import ClaimedOffer
from cigri.flow.views.job_destinations import BucketClusterKey
from cigri.flow.views.queued_jobs import QueuedJobCounts
from cigri.states import CampaignType

EMPTY = QueuedJobCounts()
NO_LIMITS: Mapping[int, int] = MappingProxyType({})


class QueueOccupancy:
    """Jobs of all campaigns that wait for cores: as counted at the beginning of a pass, and those made in it."""

    def __init__(self, queued: Mapping[int, QueuedJobCounts]) -> None:
        self._queued = queued
        self._made = Counter[BucketClusterKey]()

    def behind(self, asked: int, offer: ClaimedOffer) -> int:
        """Those that ask for this, as far as they make up the ones on the cluster that find no free core."""
        there = self._queued.get(offer.cluster_id, EMPTY)
        counted = min(there.asked.get(asked, 0), max(0, there.jobs - offer.starting))
        return counted + self._made[asked, offer.cluster_id]

    def add(self, made: Counter[BucketClusterKey]) -> None:
        """Jobs made in this pass, by what they ask for and cluster."""
        self._made.update(made)


class QueueBudget:
    """One campaign's offers; the jobs of each of its buckets ask for `asked`, beside its settings on a cluster."""

    def __init__(
        self,
        offers: Mapping[int, ClaimedOffer],
        asked: Mapping[int, int] = NO_LIMITS,
        waiting: QueueOccupancy | None = None,
    ) -> None:
        self._offers, self._asked, self._waiting = offers, asked, waiting or QueueOccupancy({})
        self._at_once = {cluster_id: offer.at_once for cluster_id, offer in offers.items()}
        self._made = Counter[BucketClusterKey]()

    def room(self, bucket_id: int, cluster_id: int) -> int:
        """Jobs that start at once, and those that may wait; a test has its one job whatever waits."""
        offer = self._offers[cluster_id]
        if offer.type is CampaignType.TEST:
            return offer.jobs
        place = self._place(bucket_id, cluster_id)
        waiting = self._waiting.behind(place[0], offer) + self._made[place]
        return self._at_once[cluster_id] + max(0, offer.most_queued - waiting)

    def take(self, bucket_id: int, cluster_id: int, jobs: int) -> None:
        """So many jobs are made: those that can start at once hold no place in the queue, the others do."""
        starts = min(jobs, self._at_once[cluster_id])
        self._at_once[cluster_id] -= starts
        self._made[self._place(bucket_id, cluster_id)] += jobs - starts

    def full(self) -> set[BucketClusterKey]:
        """Buckets and clusters: no more jobs of the one may go to the other."""
        return {(bucket, id) for bucket in self._asked for id in self._offers if self.room(bucket, id) <= 0}

    def keep(self) -> None:
        """Count what was taken for all campaigns that are served after this one."""
        self._waiting.add(self._made)

    def _place(self, bucket_id: int, cluster_id: int) -> BucketClusterKey:
        """A number for what its jobs ask for there, besides its settings, and the cluster: the key of one queue."""
        return self._asked.get(bucket_id, 0) ^ self._offers[cluster_id].asked, cluster_id
