"""Users who have an affinity with a cluster go first there; otherwise first come, first served."""

from collections.abc import Sequence

from cigri.flow.views.cluster_demands import PendingCampaign
from modules.metascheduler.policies import PolicyFacts, RankedCampaign


def order(claims: Sequence[PendingCampaign], facts: PolicyFacts) -> list[RankedCampaign]:
    """Every campaign on the clusters that its user has an affinity with, and then every one on its others."""
    turns = []
    for claim in claims:
        close = tuple(cluster for cluster in claim.clusters if (claim.user, cluster) in facts.affinities)
        others = tuple(cluster for cluster in claim.clusters if cluster not in close)
        for is_other, clusters in enumerate((close, others)):
            if clusters:
                turns.append(RankedCampaign(claim.campaign_id, clusters, (is_other, claim.campaign_id)))
    return turns
