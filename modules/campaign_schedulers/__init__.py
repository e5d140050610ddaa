"""Fills each campaign's offers with its tasks; which task goes where is the campaign's own scheduler's choice.

A scheduler is a file here with a pure function `choose`; its name stands in `campaigns.scheduler`.
"""

import importlib
import pkgutil
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.errors import ConfigError
from cigri.flow.launches import NewJob, put_jobs, put_replicas
from cigri.flow.offers import ClaimedOffer, take_offers
from cigri.flow.task_places import take_furnished
from cigri.flow.tasks import Backlog, WaitingTask, list_backlogs, take_continuing, take_waiting
from cigri.flow.views.job_destinations import BucketClusterKey, list_closed
from cigri.flow.views.job_sizing import list_duration_statistics, list_job_sizing_statistics, list_live_job_totals
from cigri.flow.views.queued_jobs import list_asked, list_queued, lock_queues
from cigri.flow.views.stragglers import list_stragglers, sum_wasted_core_seconds
from cigri.lifecycle.active_scheduler import active_scheduler
from cigri.runtime.failure_isolation import FAULTS, FailureIsolation, once_more_isolated
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.runtime.time_limit import PURE_LIMIT, refuse_stopped, time_limit
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from modules.campaign_schedulers.jobs.bucket_order import by_bucket
from modules.campaign_schedulers.jobs.completion_model import CompletionModel
from modules.campaign_schedulers.jobs.grouping import JobSize, Paces, Sizes, limit_offer, size_jobs
from modules.campaign_schedulers.jobs.longest_first import OfferedJobs, TaskAllotment, allot_longest_first
from modules.campaign_schedulers.jobs.queue_budget import QueueBudget, QueueOccupancy
from modules.campaign_schedulers.jobs.retry_placement import move_failed_tasks

CAMPAIGN_SCHEDULERS = "campaign_schedulers"
MOST_TRIES = 20_000  # live attempts that are looked at in a cycle


class JobSlots(NamedTuple):
    """Room for `jobs` jobs on a cluster, each with at most `tasks` tasks; `startable`: as forecast, start at once."""

    cluster_id: int
    jobs: int
    tasks: int = 1
    startable: int | None = None


class Assignment(NamedTuple):
    """These tasks (indexes into the list given) are one job on this cluster."""

    cluster_id: int
    tasks: tuple[int, ...]


ChooseAssignments = Callable[[int, Sequence[JobSlots]], Iterator[Assignment]]
"""Given the number of waiting tasks, best first, and the places: no task twice, no more jobs or tasks than offered."""


class SchedulingFacts(NamedTuple):
    """All that is read before campaigns are served: what they have done, and what they may have.

    `closed` by campaign: buckets that may not go to a cluster. `asked` by campaign and bucket: what its jobs ask the
    batch system for, as a number. `waiting`: jobs in queues, of all campaigns. `backlogs`: of campaigns whose tasks ran
    before.
    """

    paces: Paces
    closed: Mapping[int, Collection[BucketClusterKey]]
    asked: Mapping[int, Mapping[int, int]]
    waiting: QueueOccupancy
    backlogs: Mapping[int, Backlog]
    stopped: Counter[str]  # schedulers that went on for ever, and how often in this pass


def run_once(tools: PassContext) -> PassReport:
    """Turn every offer into jobs to launch."""
    return once_more_isolated(lambda is_isolated: _pass(tools, is_isolated=is_isolated))


def _pass(tools: PassContext, *, is_isolated: bool) -> PassReport:
    report: PassReport = Counter()
    with tools.database.begin() as conn:
        offers = take_offers(conn)
        if not offers:
            return report
        isolation = FailureIsolation(conn, CAMPAIGN_SCHEDULERS)
        offers = [offer for offer in offers if not isolation.is_left_out(offer.campaign_id)]
        by_campaign: dict[int, list[ClaimedOffer]] = defaultdict(list)
        for offer in offers:
            by_campaign[offer.campaign_id].append(offer)
        served = set(by_campaign)
        paces = _paces(conn, offers)
        closed, asked, backlogs = list_closed(conn, served), list_asked(conn, served), list_backlogs(conn, served)
        lock_queues(conn)
        campaigns = SchedulingFacts(paces, closed, asked, QueueOccupancy(list_queued(conn)), backlogs, Counter())
        for campaign_id, in_turn in groupby(offers, key=lambda offer: offer.campaign_id):
            tools.mark(campaign_id)
            with isolation.savepoint(campaign_id) if is_isolated else nullcontext():
                report.update(_serve(conn, tools.settings, by_campaign[campaign_id], list(in_turn), campaigns))
        tools.mark(0)
        isolation.settle(served)
    return +report


def _serve(
    conn: Connection,
    settings: Settings,
    offers: Sequence[ClaimedOffer],
    in_turn: Sequence[ClaimedOffer],
    campaigns: SchedulingFacts,
) -> PassReport:
    """Make jobs for those of the offers to a campaign that stand together in line: `in_turn`."""
    campaign_id = offers[0].campaign_id
    sizes = size_jobs(offers, campaigns.paces, settings.grouping.target)
    served = _served([limit_offer(offer, sizes) for offer in in_turn], campaigns.paces, settings.policy.scheduler)
    shut = campaigns.closed.get(campaign_id, set())
    by_cluster = {offer.cluster_id: offer for offer in served}
    queues = QueueBudget(by_cluster, campaigns.asked.get(campaign_id, {}), campaigns.waiting)
    backlog, patience = campaigns.backlogs.get(campaign_id), settings.jobs.same_cluster
    scheduler = served[0].scheduler
    refuse_stopped(scheduler, campaigns.stopped[scheduler])
    try:
        jobs = _jobs(conn, campaign_id, served, sizes, shut, queues, patience, backlog)
    except TimeoutError:
        campaigns.stopped[scheduler] += 1
        raise
    made = put_jobs(conn, campaign_id, jobs)
    queues.keep()
    return Counter({"jobs": made, "replicas": _replicate(conn, served, jobs)})


def _paces(conn: Connection, offers: Sequence[ClaimedOffer]) -> Paces:
    """By campaign and cluster, of those that are no tests: a test is one job with one task, whatever its pace."""
    wanted = {offer.campaign_id for offer in offers if offer.type is not CampaignType.TEST}
    return (
        {(pace.campaign_id, pace.cluster_id): pace for pace in list_job_sizing_statistics(conn, wanted)}
        if wanted
        else {}
    )


def _served(offers: Sequence[ClaimedOffer], paces: Paces, default: str) -> list[ClaimedOffer]:
    """One campaign's offers, with the name of the scheduler that serves it now."""
    first = offers[0]
    its_paces = [pace for (campaign_id, _), pace in paces.items() if campaign_id == first.campaign_id]
    name = active_scheduler(
        first.type,
        first.scheduler,
        default,
        has_done=any(pace.done for pace in its_paces),
        has_waiting=any(pace.waiting for pace in its_paces),
        is_replicated=first.max_replicas is not None,
    )
    return [offer._replace(scheduler=name) for offer in offers]


def _jobs(
    conn: Connection,
    campaign_id: int,
    offers: Sequence[ClaimedOffer],
    sizes: Sizes,
    closed: Collection[BucketClusterKey],
    queues: QueueBudget,
    patience: float,
    backlog: Backlog | None,
) -> list[NewJob]:
    """Tasks with a checkpoint come first, and on its cluster; the others as the campaign's scheduler chooses."""
    if offers[0].have_inputs:
        return _where_furnished(conn, campaign_id, offers, sizes, closed, queues, patience)
    stopped, free = take_continuing(conn, campaign_id, {offer.cluster_id: offer.jobs for offer in offers}, patience)
    jobs: list[NewJob] = []
    places = {}
    for offer in offers:
        continued = list(_fitting(stopped[offer.cluster_id], offer.cluster_id, queues))
        jobs += [NewJob(offer.cluster_id, offer.width, offer.walltime, [task]) for task in continued]
        if offer.jobs > len(continued):
            places[offer.cluster_id] = offer._replace(jobs=offer.jobs - len(continued))
    if places:
        most = {cluster_id: sizes.get((campaign_id, cluster_id), JobSize()) for cluster_id in places}
        rooms = {cluster_id: offer.jobs * most[cluster_id].tasks for cluster_id, offer in places.items()}
        shut = {*closed, *queues.full()}
        if backlog is not None:
            line = _portions(conn, campaign_id, backlog, places)
            return jobs + _longest_first(conn, campaign_id, free, places, most, closed, queues, line)
        waiting = take_waiting(conn, campaign_id, sum(rooms.values()) - len(free), rooms, shut)
        jobs += assign([*free, *waiting], places, most, closed, queues)
    return jobs


def _where_furnished(
    conn: Connection,
    campaign_id: int,
    offers: Sequence[ClaimedOffer],
    sizes: Sizes,
    closed: Collection[BucketClusterKey],
    queues: QueueBudget,
    patience: float,
) -> list[NewJob]:
    """Each cluster gets those tasks whose own inputs are there."""
    jobs: list[NewJob] = []
    for offer in offers:
        cluster_id = offer.cluster_id
        most = {cluster_id: sizes.get((campaign_id, cluster_id), JobSize())}
        tasks = take_furnished(conn, campaign_id, cluster_id, offer.jobs * most[cluster_id].tasks, patience)
        jobs += assign(tasks, {cluster_id: offer}, most, {*closed, *queues.full()}, queues)
    return jobs


def _fitting(tasks: Sequence[WaitingTask], cluster_id: int, queues: QueueBudget) -> Iterator[WaitingTask]:
    """Those for which there is room in the queue, a job for each; the others go on waiting."""
    for task in tasks:
        if queues.room(task.bucket_id, cluster_id) > 0:
            queues.take(task.bucket_id, cluster_id, 1)
            yield task


def _portions(
    conn: Connection, campaign_id: int, backlog: Backlog, places: Mapping[int, ClaimedOffer]
) -> list[TaskAllotment]:
    outlook = CompletionModel(list_duration_statistics(conn, campaign_id))
    offered = {id: OfferedJobs(offer.jobs, min(offer.jobs, offer.at_once)) for id, offer in places.items()}
    return allot_longest_first(outlook, list_live_job_totals(conn, campaign_id), backlog, offered)


def _longest_first(
    conn: Connection,
    campaign_id: int,
    free: Sequence[WaitingTask],
    places: Mapping[int, ClaimedOffer],
    most: Mapping[int, JobSize],
    closed: Collection[BucketClusterKey],
    queues: QueueBudget,
    line: Sequence[TaskAllotment],
) -> list[NewJob]:
    """Of tasks that ran before, each portion takes the longest that its cluster is fast enough for."""
    jobs: list[NewJob] = []
    taken: set[int] = set()
    left = list(free)
    for cluster_id, number, seconds in line:
        room = number * most[cluster_id].tasks
        shut = {*closed, *queues.full()}
        waiting = take_waiting(conn, campaign_id, room + len(taken), {cluster_id: room + len(taken)}, shut, seconds)
        tasks = [*left, *(task for task in waiting if task.id not in taken)][:room]
        made = assign(tasks, {cluster_id: places[cluster_id]._replace(jobs=number)}, most, closed, queues)
        taken |= {task.id for job in made for task in job.tasks}
        left = [task for task in left if task.id not in taken]
        jobs += made
    return move_failed_tasks(jobs, places, {*closed, *queues.full()})


def _replicate(conn: Connection, offers: Sequence[ClaimedOffer], jobs: Sequence[NewJob]) -> int:
    """Use what the waiting tasks of a campaign leave of its offers for second attempts, if its user wants them."""
    from modules.campaign_schedulers.finalize import replicate  # a scheduler: it imports from here

    first = offers[0]
    left = Counter({offer.cluster_id: offer.jobs for offer in offers})
    for job in jobs:
        left[job.cluster_id] -= job.side
    if first.have_inputs or first.replica_budget is None or first.max_replicas is None or not +left:
        return 0
    tries = list_stragglers(conn, first.campaign_id, MOST_TRIES)
    outlook = CompletionModel(list_duration_statistics(conn, first.campaign_id), tries)
    budget = first.replica_budget * outlook.used - sum_wasted_core_seconds(conn, first.campaign_id)
    try_of, offer_of = {live.task_id: live for live in tries}, {offer.cluster_id: offer for offer in offers}
    new = []
    for replica in replicate(tries, outlook, +left, first.max_replicas, budget):
        live, offer = try_of[replica.task_id], offer_of[replica.cluster_id]
        new.append(NewJob(offer.cluster_id, offer.width, offer.walltime, [WaitingTask(*live[:3], 0)]))
    return put_replicas(conn, first.campaign_id, new)


def assign(
    tasks: Sequence[WaitingTask],
    offers: Mapping[int, ClaimedOffer],
    most: Mapping[int, JobSize],
    closed: Collection[BucketClusterKey] = (),
    queues: QueueBudget | None = None,
) -> list[NewJob]:
    """The jobs that the campaign's scheduler makes of its tasks, none larger than `most` says of its cluster.

    A job has tasks of one bucket, and goes nowhere where that is `closed`. A task that has failed on a cluster changes
    places with another one, if that takes it elsewhere.
    """
    queues = queues or QueueBudget(offers)
    jobs = list(_assigned(tasks, offers, most, closed, queues))
    return move_failed_tasks(jobs, offers, {*closed, *queues.full()})


def _assigned(
    tasks: Sequence[WaitingTask],
    offers: Mapping[int, ClaimedOffer],
    most: Mapping[int, JobSize],
    closed: Collection[BucketClusterKey],
    queues: QueueBudget,
) -> Iterator[NewJob]:
    """A task that has died with its job before goes alone: it may be what kills them."""
    left = Counter({cluster_id: offer.jobs for cluster_id, offer in offers.items()})
    for alike, is_alone in by_bucket(tasks, offers, closed):
        sizes, bucket_id = dict.fromkeys(most, JobSize()) if is_alone else most, alike[0].bucket_id
        rooms = {
            cluster_id: min(left[cluster_id], queues.room(bucket_id, cluster_id)) // sizes[cluster_id].side
            for cluster_id in offers
            if (bucket_id, cluster_id) not in closed
        }
        places = [_place(offers[cluster_id], jobs, sizes[cluster_id]) for cluster_id, jobs in rooms.items() if jobs]
        for chosen in _choose(offers, len(alike), places) if places else ():
            offer, together = offers[chosen.cluster_id], [alike[index] for index in chosen.tasks]
            side = min(sizes[chosen.cluster_id].side, len(together))
            left[chosen.cluster_id] -= side
            queues.take(bucket_id, chosen.cluster_id, side)
            yield NewJob(chosen.cluster_id, offer.width * side, offer.walltime, together, side)


def _place(offer: ClaimedOffer, jobs: int, size: JobSize) -> JobSlots:
    startable = None if offer.startable is None else offer.startable // size.side
    return JobSlots(offer.cluster_id, jobs, size.tasks, startable)


def _choose(offers: Mapping[int, ClaimedOffer], waiting: int, places: Sequence[JobSlots]) -> list[Assignment]:
    """What the campaign's scheduler says, as far as it keeps to what it was given; raise ValueError otherwise."""
    name = next(iter(offers.values())).scheduler
    try:
        with time_limit(PURE_LIMIT):
            return list(_kept(load(name)(waiting, places), waiting, places))
    except FAULTS as error:
        error.add_note(f"in the campaign scheduler {name!r}")
        raise


def _kept(chosen: Iterable[Assignment], waiting: int, places: Sequence[JobSlots]) -> Iterator[Assignment]:
    by_cluster = {place.cluster_id: place for place in places}
    left = Counter({place.cluster_id: place.jobs for place in places})
    taken: set[int] = set()
    for job in chosen:
        place = by_cluster.get(job.cluster_id)
        if place is None or not left[job.cluster_id]:
            raise ValueError(f"it makes more jobs for cluster {job.cluster_id} than were offered")
        if not 0 < len(job.tasks) <= place.tasks:
            raise ValueError(f"it makes a job of {len(job.tasks)} tasks, where 1 to {place.tasks} may be")
        if not all(0 <= task < waiting for task in job.tasks) or not taken.isdisjoint(job.tasks):
            raise ValueError("it gives a task twice, or one that is not there")
        left[job.cluster_id] -= 1
        taken.update(job.tasks)
        yield job


def names() -> list[str]:
    """Of the files in this directory, by alphabet: what a campaign's scheduler may be."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


def load(name: str) -> ChooseAssignments:
    """The `choose` in the file of that name; raise ConfigError when there is none."""
    if name not in names():
        raise ConfigError(f"no campaign scheduler {name!r}; there are: {', '.join(names())}")
    choose: ChooseAssignments = importlib.import_module(f"{__name__}.{name}").choose
    return choose
