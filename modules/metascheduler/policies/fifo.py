"""First come, first served."""

from collections.abc import Sequence

from cigri.flow.views.cluster_demands import PendingCampaign
from modules.metascheduler.policies import PolicyFacts, RankedCampaign


def order(claims: Sequence[PendingCampaign], _facts: PolicyFacts) -> list[RankedCampaign]:
    """By the campaign's number, which grows with each submission; one turn on all its clusters."""
    return [RankedCampaign(claim.campaign_id, claim.clusters, (claim.campaign_id,)) for claim in claims]
