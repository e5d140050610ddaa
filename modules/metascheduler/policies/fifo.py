"""First come, first served."""

from collections.abc import Sequence

from cigri.flow.views.cluster_demands import Claim
from modules.metascheduler.policies import Facts, Turn


def order(claims: Sequence[Claim], _facts: Facts) -> list[Turn]:
    """By the campaign's number, which grows with each submission; one turn on all its clusters."""
    return [Turn(claim.campaign_id, claim.clusters, (claim.campaign_id,)) for claim in claims]
