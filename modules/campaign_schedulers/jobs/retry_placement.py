"""Gives tasks that failed on a cluster to another one, if one has room for them or takes others in exchange; pure."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from cigri.flow.launches import NewJob
from cigri.flow.offers import ClaimedOffer
from cigri.flow.tasks import WaitingTask
from cigri.flow.views.job_destinations import BucketClusterKey

TaskPosition = tuple[int, int]
"""A job, and a place in it."""
TaskKind = tuple[int, int, bool]
"""Cluster and bucket of a task, and whether it is alone in its job."""


def move_failed_tasks(
    jobs: Sequence[NewJob], offers: Mapping[int, ClaimedOffer], closed: Collection[BucketClusterKey] = ()
) -> list[NewJob]:
    """As many tasks as before, in jobs of the same sizes, no more of them on a cluster than it was offered.

    None goes where its bucket is `closed`: one that it changes places with is of the same bucket.
    What fits nowhere else stays where it is: it is tried there again. A task that has died with its job stays alone.
    """
    made = [job._replace(tasks=list(job.tasks)) for job in jobs]
    if not any(_is_misplaced(job, task) for job in jobs for task in job.tasks):
        return made
    left = {cluster_id: offer.jobs for cluster_id, offer in offers.items()}
    for job in jobs:
        left[job.cluster_id] -= job.side
    willing, stuck = _willing(jobs), defaultdict[TaskKind, list[TaskPosition]](list)
    for number, job in enumerate(made):
        for place, task in enumerate(job.tasks):
            if not _is_misplaced(job, task):
                continue
            if len(job.tasks) == 1 and (free := _roomy(left, job.cluster_id, task, closed)) is not None:
                left[job.cluster_id] += 1
                left[free] -= 1
                made[number] = NewJob(free, offers[free].width, offers[free].walltime, [task])
            elif (other := _partner(willing, job, task) or _partner(stuck, job, task)) is not None:
                _swap(made, (number, place), other)
            elif not task.deaths or len(job.tasks) == 1:
                stuck[job.cluster_id, task.bucket_id, len(job.tasks) == 1].append((number, place))
    return made


def _is_misplaced(job: NewJob, task: WaitingTask) -> bool:
    return task.failed_on == job.cluster_id


def _willing(jobs: Sequence[NewJob]) -> Mapping[TaskKind, list[TaskPosition]]:
    """Tasks that may go anywhere, the last ones first."""
    willing: dict[TaskKind, list[TaskPosition]] = defaultdict(list)
    for number, job in enumerate(jobs):
        for place, task in enumerate(job.tasks):
            if task.failed_on is None and (not task.deaths or len(job.tasks) == 1):
                willing[job.cluster_id, task.bucket_id, len(job.tasks) == 1].append((number, place))
    return willing


def _roomy(left: Mapping[int, int], unlike: int, task: WaitingTask, closed: Collection[BucketClusterKey]) -> int | None:
    free = (cluster_id for cluster_id, jobs in left.items() if jobs > 0 and cluster_id != unlike)
    return next((cluster_id for cluster_id in free if (task.bucket_id, cluster_id) not in closed), None)


def _partner(willing: Mapping[TaskKind, list[TaskPosition]], job: NewJob, task: WaitingTask) -> TaskPosition | None:
    for (cluster_id, bucket_id, is_alone), places in willing.items():
        is_fit = is_alone or not task.deaths
        if places and cluster_id != job.cluster_id and bucket_id == task.bucket_id and is_fit:
            return places.pop()
    return None


def _swap(jobs: list[NewJob], here: TaskPosition, other: TaskPosition) -> None:
    for (number, place), task in ((here, _at(jobs, other)), (other, _at(jobs, here))):
        tasks = [*jobs[number].tasks]
        tasks[place] = task
        jobs[number] = jobs[number]._replace(tasks=tasks)


def _at(jobs: Sequence[NewJob], where: TaskPosition) -> WaitingTask:
    return jobs[where[0]].tasks[where[1]]
