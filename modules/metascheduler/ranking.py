"""Puts campaigns in line: tests, those that have waited too long, the first jobs of each, the rest as is said; pure.

The rest: by priority, and as the policy says.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from cigri.flow.views.cluster_demands import BegunCampaign, PendingCampaign
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType
from modules.metascheduler.policies import PolicyFacts, RankCampaigns, RankedCampaign
from modules.metascheduler.policies.fifo import order as fifo

TESTS, STARVING, FIRST_JOBS, OTHERS = 0.0, 1.0, 1.5, 2.0


def rank_campaigns(
    claims: Sequence[PendingCampaign], settings: PolicySettings, order: RankCampaigns, facts: PolicyFacts
) -> list[RankedCampaign]:
    """Who has waited longer than `patience` is given a handful before all others, the one that waited longest first.

    For more it stands in line again as everybody does.
    """
    priorities = {claim.campaign_id: -float(claim.priority) for claim in claims}
    tests = [claim for claim in claims if claim.type is CampaignType.TEST]
    others = [claim for claim in claims if claim.type is not CampaignType.TEST]
    starving = [claim for claim in others if claim.waited > settings.patience]
    turns = [turn._replace(rank=(TESTS, *turn.rank)) for turn in fifo(tests, facts)]
    turns += [
        RankedCampaign(
            claim.campaign_id, claim.clusters, (STARVING, -claim.waited, claim.campaign_id), max_jobs=settings.handful
        )
        for claim in starving
    ]
    turns += first_of_each(others, facts.begun, settings.first_jobs)
    ranked = [turn._replace(rank=(OTHERS, priorities[turn.campaign_id], *turn.rank)) for turn in order(others, facts)]
    turns += apply_own_priorities(ranked, others)
    return sorted(turns, key=lambda turn: turn.rank)


def first_of_each(
    claims: Sequence[PendingCampaign], begun: Mapping[int, BegunCampaign], most: int
) -> list[RankedCampaign]:
    """The first jobs of each campaign, so that its user soon sees results: those with the fewest so far go first.

    A user has `most` of them at a time: who makes a hundred campaigns of one gains nothing.
    """
    young: Counter[str] = Counter()
    for one in begun.values():
        ended = one.begun - one.live
        young[one.user] += min(one.live, max(0, most - ended))  # those that began first are thought to end first
    turns = []
    for claim in sorted(claims, key=lambda claim: (_begun(claim, begun), claim.campaign_id)):
        left = most - max(_begun(claim, begun), young[claim.user])
        if claim.campaign_id in begun and left > 0:
            rank = FIRST_JOBS, float(_begun(claim, begun)), claim.campaign_id
            turns.append(RankedCampaign(claim.campaign_id, claim.clusters, rank, max_jobs=left))
            young[claim.user] += left
    return turns


def _begun(claim: PendingCampaign, begun: Mapping[int, BegunCampaign]) -> int:
    return begun[claim.campaign_id].begun if claim.campaign_id in begun else 0


def apply_own_priorities(turns: Sequence[RankedCampaign], claims: Sequence[PendingCampaign]) -> list[RankedCampaign]:
    """As users have put their own campaigns before and behind each other; it makes nobody else wait any longer.

    One that stands before a campaign of the same user of higher own priority steps behind it, where both want the same
    clusters. Side by side with others they stand as one, by project, and the one of the highest own priority is served
    first. An operator's priority goes before.
    """
    by_id = {claim.campaign_id: claim for claim in claims}
    by_user: dict[str, list[RankedCampaign]] = defaultdict(list)
    for turn in turns:
        by_user[by_id[turn.campaign_id].user].append(turn)
    placed: list[RankedCampaign] = []
    for user, theirs in by_user.items():
        own = {turn.campaign_id: by_id[turn.campaign_id].own_priority for turn in theirs}
        if len(set(own.values())) > 1:
            placed += [_placed(turn, theirs, own, (user, by_id[turn.campaign_id].project)) for turn in theirs]
        else:
            placed += theirs
    return placed


def _placed(
    turn: RankedCampaign, theirs: Sequence[RankedCampaign], own: Mapping[int, int], pool: tuple[str, str]
) -> RankedCampaign:
    """One turn of a user who has put some campaigns before others; `own`: the user's priorities, by campaign."""
    priority = own[turn.campaign_id]
    better = [
        other.rank
        for other in theirs
        if own[other.campaign_id] > priority
        and other.rank[:2] == turn.rank[:2]
        and set(other.clusters) & set(turn.clusters)
    ]
    last = max(better, default=turn.rank)
    if last > turn.rank:
        return turn._replace(rank=(*last, -priority, *turn.rank))
    return turn._replace(group=pool, position=-priority)
