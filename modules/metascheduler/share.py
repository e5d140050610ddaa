"""Shares the clusters among campaigns, in the order of the policy; pure."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import NamedTuple

from cigri.flow.metascheduler_to_campaign_schedulers import Claim, Offer, Want
from cigri.flow.updator_to_metascheduler import Room
from cigri.states import CampaignType
from modules.metascheduler.policies import Facts, Order, Turn
from modules.metascheduler.policies.fifo import order as fifo
from modules.metascheduler.stock import Stock

PORTIONS = 4  # in which each of several campaigns is served in its turn


def share(
    rooms: Sequence[Room],
    wants: Sequence[Want],
    claims: Sequence[Claim],
    order: Order = fifo,
    facts: Facts = Facts(),  # noqa: B008  # immutable
) -> list[Offer]:
    """Serve the campaigns in order, each on the emptiest clusters first.

    A cluster takes what its free cores can start at once and `keep_waiting` jobs more, but never more than
    `max_waiting` jobs wait on it. Nobody is offered more than it has tasks waiting that may go there.
    """
    stock = Stock(rooms, wants)
    for _, turns in groupby(line_up(claims, order, facts), key=lambda turn: turn.rank):
        _serve(stock, [_Served(turn.weight, stock.open_to(turn.campaign_id, turn.clusters)) for turn in turns])
    return [
        Offer(*pair, jobs * stock.wants[pair[0]][pair[1]].width, jobs, rank)
        for rank, (pair, jobs) in enumerate(stock.given.items())
    ]


def line_up(claims: Sequence[Claim], order: Order, facts: Facts) -> list[Turn]:
    """Test campaigns in the order of submission; then by priority, and among equals as the policy says."""
    priorities = {claim.campaign_id: claim.priority for claim in claims}
    tests = [claim for claim in claims if claim.type is CampaignType.TEST]
    others = [claim for claim in claims if claim.type is not CampaignType.TEST]
    turns = [turn._replace(rank=(0.0, *turn.rank)) for turn in fifo(tests, facts)]
    turns += [
        turn._replace(rank=(1.0, -float(priorities[turn.campaign_id]), *turn.rank)) for turn in order(others, facts)
    ]
    return sorted(turns, key=lambda turn: turn.rank)


class _Served(NamedTuple):
    """A turn: its weight beside others of the same rank, and what the campaign wants in it, the best clusters first."""

    weight: float
    wants: list[Want]

    def open(self, stock: Stock) -> Iterator[tuple[Want, int]]:
        """What it may be given now."""
        for want in self.wants:
            if (most := stock.most(want)) > 0:
                yield want, most


def _serve(stock: Stock, group: Sequence[_Served]) -> None:
    """One alone takes all it can use; several take turns in portions, the one with the least for its weight next."""
    if len(group) == 1:
        for want, most in group[0].open(stock):
            stock.take(want, most)
        return
    idle = sum(stock.clusters[cluster].idle for cluster in {want.cluster_id for one in group for want in one.wants})
    portion = int(idle) // (PORTIONS * len(group))
    line = [(1 / one.weight, place, 0) for place, one in enumerate(group)]
    heapify(line)
    while line:
        _, place, had = heappop(line)
        for want, most in group[place].open(stock):
            jobs = min(most, max(1, portion // want.width))
            stock.take(want, jobs)
            had += jobs * want.width
            heappush(line, ((had + want.width) / group[place].weight, place, had))
            break
