"""How many jobs of each bucket still fit into the queues of clusters, where a campaign has several buckets; pure."""

from collections import Counter
from collections.abc import Mapping

from cigri.flow.matcher_to_anyone import Share
from cigri.flow.metascheduler_to_campaign_schedulers import TakenOffer


class Queues:
    """`queued` jobs of each bucket wait on each cluster. None: it has one bucket, and the offers say it all."""

    def __init__(self, offers: Mapping[int, TakenOffer], queued: Mapping[Share, int] | None) -> None:
        self._offers = offers
        self._queued = None if queued is None else Counter(queued)
        self._at_once = {cluster_id: offer.at_once for cluster_id, offer in offers.items()}

    def room(self, bucket_id: int, cluster_id: int) -> int:
        """Jobs that start at once, and those that may wait."""
        offer = self._offers[cluster_id]
        if self._queued is None:
            return offer.jobs
        return self._at_once[cluster_id] + max(0, offer.most_queued - self._queued[bucket_id, cluster_id])

    def take(self, bucket_id: int, cluster_id: int, jobs: int) -> None:
        """Those that can start at once do."""
        starts = min(jobs, self._at_once[cluster_id])
        self._at_once[cluster_id] -= starts
        if self._queued is not None:
            self._queued[bucket_id, cluster_id] += jobs - starts

    def full(self) -> set[Share]:
        """Buckets and clusters: no more jobs of the one may go to the other."""
        known = self._queued or ()
        return {(bucket, one) for bucket, one in known if one in self._offers and self.room(bucket, one) <= 0}
