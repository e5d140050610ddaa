"""For test campaigns: one task on each cluster."""

from collections.abc import Iterator, Sequence

from modules.campaign_schedulers import Assignment, Place


def choose(waiting: int, places: Sequence[Place]) -> Iterator[Assignment]:
    """The first tasks, one a cluster."""
    for task, place in enumerate(places[:waiting]):
        yield Assignment(place.cluster_id, (task,))
