"""Puts campaigns in line: tests, those that have waited too long, then by priority and as the policy says; pure."""

from collections.abc import Sequence

from cigri.flow.metascheduler_to_campaign_schedulers import Claim
from cigri.settings import PolicySettings
from cigri.states import CampaignType
from modules.metascheduler.policies import Facts, Order, Turn
from modules.metascheduler.policies.fifo import order as fifo

TESTS, STARVING, OTHERS = 0.0, 1.0, 2.0


def line_up(claims: Sequence[Claim], settings: PolicySettings, order: Order, facts: Facts) -> list[Turn]:
    """Who has waited longer than `patience` is given a handful before all others, the one that waited longest first.

    For more it stands in line again as everybody does.
    """
    priorities = {claim.campaign_id: -float(claim.priority) for claim in claims}
    tests = [claim for claim in claims if claim.type is CampaignType.TEST]
    others = [claim for claim in claims if claim.type is not CampaignType.TEST]
    starving = [claim for claim in others if claim.waited > settings.patience]
    turns = [turn._replace(rank=(TESTS, *turn.rank)) for turn in fifo(tests, facts)]
    turns += [
        Turn(claim.campaign_id, claim.clusters, (STARVING, -claim.waited, claim.campaign_id), most=settings.handful)
        for claim in starving
    ]
    turns += [turn._replace(rank=(OTHERS, priorities[turn.campaign_id], *turn.rank)) for turn in order(others, facts)]
    return sorted(turns, key=lambda turn: turn.rank)
