"""Whose waiting jobs are taken back for campaigns that go before by priority, whatever the policy is; pure.

Without it what is urgent would wait behind all that its user, or others of lower priority, have in a queue already.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cigri.flow.views.cluster_demands import PendingCampaign
from cigri.flow.views.occupancy import Occupancy
from cigri.states import CampaignType
from modules.metascheduler.fairness_withdrawals import CampaignShare


def have_priorities(claims: Iterable[PendingCampaign]) -> bool:
    """Does any campaign go before another by an operator's priority, or by that of the user of both?"""
    given: dict[str, set[int]] = defaultdict(set)
    operators = {claim.priority for claim in claims}
    for claim in claims:
        given[claim.user].add(claim.own_priority)
    return len(operators) > 1 or any(len(own) > 1 for own in given.values())


def with_places(claims: Iterable[PendingCampaign], holdings: Iterable[Occupancy]) -> list[PendingCampaign]:
    """Claims with the clusters where their jobs wait, too; a campaign that wants nothing more has not waited for it.

    Else a campaign that has all its tasks in queues would keep its place in line.
    """
    places: dict[int, set[int]] = defaultdict(set)
    for held in holdings:
        if held.waiting:
            places[held.campaign_id].add(held.cluster_id)
    return [
        claim._replace(
            clusters=tuple(sorted({*claim.clusters, *places[claim.campaign_id]})),
            waited=claim.waited if claim.clusters else 0.0,
        )
        for claim in claims
    ]


def only_by_priority(
    standing: Mapping[int, CampaignShare], claims: Sequence[PendingCampaign]
) -> dict[int, CampaignShare]:
    """Of those above their share the ones alone before which another that wants something goes by priority."""
    wanting = [claim for claim in claims if claim.clusters and claim.type is not CampaignType.TEST]
    highest = max((claim.priority for claim in wanting), default=0)
    own: dict[tuple[str, int], int] = {}
    for claim in wanting:
        key = claim.user, claim.priority
        own[key] = max(own.get(key, claim.own_priority), claim.own_priority)
    behind = {
        claim.campaign_id
        for claim in claims
        if claim.priority < highest or claim.own_priority < own.get((claim.user, claim.priority), claim.own_priority)
    }
    return {id: cores for id, cores in standing.items() if cores.is_below or id in behind}
