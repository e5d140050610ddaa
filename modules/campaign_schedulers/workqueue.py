"""The default: fill what is offered, the best tasks first, one task a job."""

from collections.abc import Iterator, Sequence

from modules.campaign_schedulers import Assignment, Place


def choose(waiting: int, places: Sequence[Place]) -> Iterator[Assignment]:
    """Fill the places in the order of the offers."""
    task = 0
    for place in places:
        for _ in range(min(place.jobs, waiting - task)):
            yield Assignment(place.cluster_id, (task,))
            task += 1
