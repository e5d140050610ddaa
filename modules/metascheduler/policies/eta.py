"""The campaign whose last task has to start first goes first: open-lmake's priority, ETA minus pressure."""

from collections.abc import Sequence
from math import inf, isnan

from cigri.flow.views.cluster_demands import PendingCampaign
from modules.metascheduler.policies import PolicyFacts, RankedCampaign


def order(claims: Sequence[PendingCampaign], _facts: PolicyFacts) -> list[RankedCampaign]:
    """By the published end less the pressure, the earliest date first; those of which no end is known come last."""
    return [
        RankedCampaign(claim.campaign_id, claim.clusters, (_start_of_the_last(claim), claim.campaign_id))
        for claim in claims
    ]


def _start_of_the_last(claim: PendingCampaign) -> float:
    """In seconds since the epoch; published end and pressure: modules/predictor/eta/published_dates.py."""
    return inf if claim.eta is None or isnan(claim.pressure) else claim.eta.timestamp() - claim.pressure
