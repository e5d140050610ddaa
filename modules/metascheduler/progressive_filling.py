"""Shares the clusters among campaigns, in the order of the policy; pure.

Rank by rank; within a rank by weighted max-min, filled up step by step: whoever holds the fewest cores for its weight
gets the next portion (progressive filling: Bertsekas and Gallager, "Data Networks", 1992). So the cores held come to be
in proportion to the weights, to within a portion, and what one cannot use goes to the others.
"""

from bisect import insort
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, groupby

from cigri.flow.ceilings import Ceilings
from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.settings.sections import PolicySettings
from modules.metascheduler.canary_jobs import CanaryLimit
from modules.metascheduler.policies import PolicyFacts, RankCampaigns, RankedCampaign, pools
from modules.metascheduler.policies.fifo import order as fifo
from modules.metascheduler.ranking import rank_campaigns
from modules.metascheduler.remaining_capacity import RemainingCapacity
from modules.metascheduler.wide_jobs import queue_wide_jobs

PORTIONS = 4  # in which each of several campaigns is served in its turn
NO_FACTS = PolicyFacts()
NO_CEILINGS = Ceilings({}, {}, {})
DEFAULTS = PolicySettings()


def share_clusters(
    rooms: Sequence[SchedulableCluster],
    wants: Sequence[ClusterDemand],
    claims: Sequence[PendingCampaign],
    settings: PolicySettings = DEFAULTS,
    order: RankCampaigns = fifo,
    facts: PolicyFacts = NO_FACTS,
    ceilings: Ceilings = NO_CEILINGS,
) -> RemainingCapacity:
    """Serve the campaigns in order, each where it is expected to end a task first.

    A cluster takes what its free cores can start at once and `keep_waiting` jobs more, but never more than
    `max_waiting` jobs wait on it. Nobody is offered more than it has tasks waiting that may go there. The first in line
    that finds too few cores free anywhere, and has waited for a while, has those of one cluster kept for it. Free cores
    that nobody else can use are for second attempts at the tasks of campaigns near their end. Jobs that take much of a
    node wait in the queues beside narrow ones, whoever is first in line.
    """
    stock = RemainingCapacity(rooms, wants, ceilings, CanaryLimit(settings.scouts, settings.stake, settings.scouting))
    waited = {claim.campaign_id: claim.waited for claim in claims}
    line = rank_campaigns(claims, settings, order, facts)
    queue_wide_jobs(stock, line)
    for _, turns in groupby(line, key=lambda turn: turn.rank):
        sides = [_CampaignGroup([_ServedCampaign(turn) for turn in members]) for members in pools(turns)]
        _serve(stock, sides)
        for served in chain.from_iterable(side.members for side in sides) if not stock.reserved else ():
            if waited[served.campaign_id] > settings.reserve_after and stock.reserve(served.campaign_id):
                break
    _give_spare(stock)
    return stock


class _ServedCampaign:
    """A turn under way; what the campaign wants is looked at when it is its turn."""

    def __init__(self, turn: RankedCampaign) -> None:
        self.campaign_id, self.clusters = turn.campaign_id, turn.clusters
        self.weight, self.most = turn.weight, turn.max_jobs
        self.line: list[tuple[float, int, ClusterDemand]] | None = None
        self.shunned: list[ClusterDemand] = []

    def next(self, stock: RemainingCapacity) -> tuple[ClusterDemand, int] | None:
        """Where it is expected to end a task first, and how many jobs may go there before it is asked again.

        Each job that waits on a cluster makes the next one wait longer, so that what a campaign has left is spread over
        the queues. Where it may be given nothing, it is nothing for the rest of the cycle. Where tasks have failed,
        they are offered a place only when all others have been asked.
        """
        if self.line is None:
            self._line_up(stock, stock.open_to(self.campaign_id, self.clusters))
        while (self.line or self.shunned) and not stock.is_served(self.campaign_id):
            if not self.line:
                self._line_up(stock, [want._replace(avoiding=0) for want in self.shunned])
            if (place := self._first(stock)) is not None:
                return place
        return None

    def _line_up(self, stock: RemainingCapacity, wants: Sequence[ClusterDemand]) -> None:
        """The best last; of those alike the emptiest."""
        self.line = sorted([(-stock.seconds(want), -place, want) for place, want in enumerate(wants)])
        self.shunned = [want for want in wants if want.avoiding]

    def _first(self, stock: RemainingCapacity) -> tuple[ClusterDemand, int] | None:
        """Those in line may have become worse since they were looked at, never better."""
        line = self.line or []
        while line:
            best = line.pop()
            want = best[2]
            if not (most := stock.max_jobs(want)):
                continue
            if not (jobs := stock.startable(want)):
                best = -stock.seconds(want), best[1], want
                jobs = stock.jobs_until_next_end(want)
            if not line or best > line[-1]:
                line.append(best)
                return want, min(most, jobs)
            insort(line, best)
        return None


class _CampaignGroup:
    """Campaigns that stand side by side with others as one; what the first cannot use goes to the next."""

    def __init__(self, members: Sequence[_ServedCampaign]) -> None:
        self.members = members
        self.weight = sum(member.weight for member in members)

    def held(self, stock: RemainingCapacity) -> int:
        """Cores of the live jobs of all its members."""
        return sum(stock.held(member.campaign_id) for member in self.members)

    def next(self, stock: RemainingCapacity) -> tuple[ClusterDemand, int] | None:
        """As that of the first member that can use anything; None: none can."""
        for member in self.members:
            if (place := member.next(stock)) is not None:
                return place
        return None


def _serve(stock: RemainingCapacity, sides: Sequence[_CampaignGroup]) -> None:
    """One alone takes all it can use; of several, the one that holds the fewest cores for its weight gets a portion.

    A portion is the free cores / (PORTIONS * campaigns), and one job at least: the smaller, the nearer to the weights,
    and the longer it takes.
    """
    if len(sides) == 1:
        for member in sides[0].members:
            _serve_alone(stock, member)
        return
    everybody = [member for side in sides for member in side.members]
    idle = stock.idle(set(chain.from_iterable({member.clusters for member in everybody})))  # most want the same ones
    portion = int(idle) // (PORTIONS * len(everybody))
    line = [((held := side.held(stock)) / side.weight, place, held) for place, side in enumerate(sides)]
    heapify(line)
    while line and stock.has_room_for(everybody[0].campaign_id):
        _, place, held = heappop(line)
        if (offered := sides[place].next(stock)) is None:
            continue
        want, most = offered
        jobs = min(most, max(1, portion // want.width))
        stock.allocate(want, jobs)
        held += jobs * want.width
        heappush(line, (held / sides[place].weight, place, held))


def _give_spare(stock: RemainingCapacity) -> None:
    """Free cores for second attempts; the campaigns with the fewest tasks left come first."""
    for campaign_id, left in sorted(stock.spares.items(), key=lambda pair: pair[1]):
        for want in sorted(stock.open_to(campaign_id, tuple(stock.wants[campaign_id])), key=stock.seconds):
            if (jobs := stock.most_spare(want, left)) > 0:
                stock.allocate(want, jobs)
                left -= jobs


def _serve_alone(stock: RemainingCapacity, served: _ServedCampaign) -> None:
    left = served.most
    while left != 0 and (place := served.next(stock)) is not None:
        want, most = place
        jobs = most if left is None else min(most, left)
        stock.allocate(want, jobs)
        left = None if left is None else left - jobs
