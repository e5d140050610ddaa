"""The default: fill what is offered, the best tasks first, as many in a job as it may carry."""

from collections.abc import Iterator, Sequence

from modules.campaign_schedulers import Assignment, JobSlots


def choose(waiting: int, places: Sequence[JobSlots]) -> Iterator[Assignment]:
    """Fill the places in the order of the offers."""
    task = 0
    for place in places:
        for _ in range(place.jobs):
            if tasks := tuple(range(task, min(task + place.tasks, waiting))):
                yield Assignment(place.cluster_id, tasks)
            task += len(tasks)
