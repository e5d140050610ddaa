"""Which waiting jobs of those above their share stand before jobs of those below theirs, and are taken back; pure.

Only what frees a core for them in its turn. Jobs that take much of a node wait beside narrow ones, whoever is above his
share (wide_jobs.py): were the narrow ones taken back, a node would stand idle while the batch system gathers it.

A share is in cores: of those that our jobs run on and those that are free, by weighted max-min (`compute_shares`).
docs/explanation/scheduling.md#order tells it at length, under Waiting jobs make way.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from cigri.estimates.fair_shares import fair_shares
from cigri.flow.events import NewEvent
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.flow.views.occupancy import Occupancy, WithdrawalRange, WithdrawnJob
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.states import EventLevel
from modules.metascheduler.policies import RankedCampaign, pools
from modules.metascheduler.ranking import STARVING
from modules.metascheduler.remaining_capacity import RemainingCapacity

POLICIES = ("fairshare",)  # those that have shares
SHORT_OF_SHARE = 0.95  # of a share: who runs on less is below it
EXCESS = 1.0  # of a share: who runs on more is above it
BEHIND_ALL = 2**62  # the id of a job that is sent in this cycle: whatever waits stands before it
CAMPAIGNS_TOLD = 5  # campaigns below their share that an event names


class CampaignShare(NamedTuple):
    """Cores that jobs of a campaign run on, that it could run on in all, and that are its share now."""

    running: int
    wanted: int
    share: float

    @property
    def is_below(self) -> bool:
        """By more than a twentieth of its share: waiting jobs of others make way for it."""
        return self.running < SHORT_OF_SHARE * self.share

    @property
    def is_above(self) -> bool:
        """By anything: waiting jobs of it may be taken back."""
        return self.running > EXCESS * self.share


class SharingResult(NamedTuple):
    """What was given away, and the jobs that are to be taken back for it."""

    stock: RemainingCapacity
    recalled: Sequence[WithdrawnJob] = ()
    standing: Mapping[int, CampaignShare] = MappingProxyType({})


def compute_shares(
    turns: Iterable[RankedCampaign],
    holdings: Iterable[Occupancy],
    wants: Iterable[ClusterDemand],
    rooms: Iterable[SchedulableCluster],
) -> dict[int, CampaignShare]:
    """Of each campaign in line: those who go first have what they want, those side by side in proportion to weight.

    All cores on which jobs of ours run, or which are free, are divided rank by rank; within a rank by weighted max-min
    (cigri/estimates/fair_shares.py), a pool as one whose first member has what it wants. A campaign wants the cores of
    its jobs that run and wait, and of one job for each task that waits.
    """
    running, wanted = Counter[int](), Counter[int]()
    for held in holdings:
        running[held.campaign_id] += held.running
        wanted[held.campaign_id] += held.running + held.waiting
    for campaign_id, want in {want.campaign_id: want for want in wants}.items():
        wanted[campaign_id] += max(0, want.waiting) * want.width
    left = float(running.total() + sum(max(0, room.free) for room in rooms))
    cores: dict[int, CampaignShare] = {}
    for rank, group in groupby(turns, key=lambda turn: turn.rank):
        sides = dict(enumerate(pools(turn for turn in group if rank[0] != STARVING)))
        weights = {number: sum(turn.weight for turn in side) for number, side in sides.items()}
        most = {number: float(sum(wanted[turn.campaign_id] for turn in side)) for number, side in sides.items()}
        for number, share in fair_shares(left, most, weights).items():
            left -= share
            for turn in sides[number]:
                due = min(share, wanted[turn.campaign_id])
                cores[turn.campaign_id] = CampaignShare(running[turn.campaign_id], wanted[turn.campaign_id], due)
                share -= due
    return cores


def withdraw_for_fairness(
    standing: Mapping[int, CampaignShare],
    holdings: Sequence[Occupancy],
    rooms: Sequence[SchedulableCluster],
    wants: Sequence[ClusterDemand],
    find: Callable[[Sequence[WithdrawalRange]], Sequence[WithdrawnJob]],
    share: Callable[[Sequence[SchedulableCluster], Sequence[ClusterDemand]], RemainingCapacity],
) -> SharingResult:
    """Share as if what is taken back were gone already; nothing is, where those below their share are given nothing."""
    below = {campaign_id for campaign_id, cores in standing.items() if cores.is_below}
    at = {room.cluster_id: room for room in rooms}
    hopeful = [want for want in wants if want.campaign_id in below and want.waiting and want.cluster_id in at]
    sent = {want.cluster_id for want in hopeful if not at[want.cluster_id].is_wide(want.width)}
    holdings = [held for held in holdings if held.cluster_id in at and not at[held.cluster_id].is_wide(held.width)]
    is_first = True
    while True:  # three times at most
        plan = plan_withdrawals(standing, holdings, sent)
        recalled = find(plan) if plan else []
        stock = share(*subtract_withdrawn(recalled, rooms, wants))
        helped = {cluster_id for campaign_id, cluster_id in stock.given if campaign_id in below}
        if not recalled or sent <= helped:
            return SharingResult(stock, recalled, standing)
        sent = sent & helped if is_first else set()
        is_first = False


def plan_withdrawals(
    standing: Mapping[int, CampaignShare], holdings: Sequence[Occupancy], sent: Collection[int]
) -> list[WithdrawalRange]:
    """In each queue, what those above their share have before the last job of those below, who are `sent` to some."""
    last: dict[int, int] = defaultdict(int, dict.fromkeys(sent, BEHIND_ALL))
    in_line = [held for held in holdings if held.campaign_id in standing and held.waiting]
    for held in in_line:
        if standing[held.campaign_id].is_below:
            last[held.cluster_id] = max(last[held.cluster_id], held.newest_job_id)
    return [
        WithdrawalRange(held.campaign_id, held.cluster_id, last[held.cluster_id])
        for held in in_line
        if last[held.cluster_id] and standing[held.campaign_id].is_above
    ]


def subtract_withdrawn(
    recalled: Iterable[WithdrawnJob], rooms: Iterable[SchedulableCluster], wants: Iterable[ClusterDemand]
) -> tuple[list[SchedulableCluster], list[ClusterDemand]]:
    """Rooms and wants as they are once these jobs are gone."""
    jobs_gone = _by_place(recalled)
    gone_from: dict[int, list[WithdrawnJob]] = defaultdict(list)
    for job in recalled:
        gone_from[job.cluster_id].append(job)
    left = [_room_without(gone_from[room.cluster_id], room) for room in rooms]
    fewer = [
        want._replace(live=want.live - gone, queued=want.queued - gone)
        for want in wants
        for gone in (jobs_gone[want.campaign_id, want.cluster_id],)
    ]
    return left, fewer


def _room_without(gone: Sequence[WithdrawnJob], room: SchedulableCluster) -> SchedulableCluster:
    asked = Counter(job.asked for job in gone)
    return room._replace(
        waiting=room.waiting - len(gone),
        waiting_cores=room.waiting_cores - sum(job.width for job in gone),
        queued_by_request={request: jobs - asked[request] for request, jobs in room.queued_by_request.items()},
    )


def count_withdrawn(shared: SharingResult) -> dict[tuple[int, int], tuple[int, int]]:
    """By campaign and cluster: how many jobs, and the cores that are the campaign's share."""
    jobs_at = _by_place(shared.recalled)
    return {place: (jobs, round(shared.standing[place[0]].share)) for place, jobs in jobs_at.items()}


def withdrawal_events(shared: SharingResult) -> Iterator[NewEvent]:
    """One event for each campaign that jobs were taken from, with the figures."""
    below = [(campaign_id, cores) for campaign_id, cores in shared.standing.items() if cores.is_below]
    named = [
        f"campaign {campaign_id} on {cores.running} of {cores.share:.0f}"
        for campaign_id, cores in below[:CAMPAIGNS_TOLD]
    ]
    more = [f"{len(below) - CAMPAIGNS_TOLD} more"] if len(below) > CAMPAIGNS_TOLD else []
    places = _by_place(shared.recalled)
    for campaign_id in sorted({campaign_id for campaign_id, _ in places}):
        clusters = shared.stock.clusters
        taken = {clusters[there].name: jobs for (owner, there), jobs in places.items() if owner == campaign_id}
        where = ", ".join(f"{jobs} on {name}" for name, jobs in sorted(taken.items()))
        cores = shared.standing[campaign_id]
        message = (
            f"waiting jobs were taken back: {where}; its jobs run on {cores.running} cores, its share is "
            f"{cores.share:.0f}; below theirs are {', '.join([*named, *more])}"
        )
        yield NewEvent("JOBS_TAKEN_BACK", EventLevel.INFO, f"campaign {campaign_id}", message, campaign_id)


def _by_place(recalled: Iterable[WithdrawnJob]) -> Counter[tuple[int, int]]:
    return Counter((job.campaign_id, job.cluster_id) for job in recalled)
