"""Fills of what is offered only what is forecast to start at once: jobs per core times free cores, and one at least.

So nothing waits on a cluster behind what can start, whatever the cluster's `keep_waiting` says.
"""

from collections.abc import Iterator, Sequence

from modules.campaign_schedulers import Assignment, JobSlots
from modules.campaign_schedulers.workqueue import choose as workqueue


def choose(waiting: int, places: Sequence[JobSlots]) -> Iterator[Assignment]:
    """As the work queue, in the places that are left; where nothing is forecast, in all."""
    yield from workqueue(waiting, [place._replace(jobs=_jobs(place)) for place in places])


def _jobs(place: JobSlots) -> int:
    return place.jobs if place.startable is None else min(place.jobs, max(1, place.startable))
