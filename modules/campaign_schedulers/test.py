"""For test campaigns, and for others until the first of their tasks has succeeded: every cluster is tried."""

from collections.abc import Iterator, Sequence

from modules.campaign_schedulers import Assignment, JobSlots


def choose(waiting: int, places: Sequence[JobSlots]) -> Iterator[Assignment]:
    """One task a job, one job on each cluster in turn."""
    longest = max((place.jobs for place in places), default=0)
    turns = (place for turn in range(longest) for place in places if turn < place.jobs)
    for task, place in zip(range(waiting), turns, strict=False):
        yield Assignment(place.cluster_id, (task,))
