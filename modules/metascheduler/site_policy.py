"""The site's policy as long as it does its work, and first come, first served, in the passes in which it does not."""

import logging
from collections.abc import Sequence
from math import isfinite, isnan

from cigri.errors import CigriError
from cigri.flow.views.cluster_demands import PendingCampaign
from cigri.runtime.failure_isolation import FAULTS, described
from cigri.runtime.time_limit import PURE_LIMIT, time_limit
from modules.metascheduler.policies import PolicyFacts, RankedCampaign, load
from modules.metascheduler.policies.fifo import order as fifo

logger = logging.getLogger(__name__)


class PolicyFailed(CigriError):
    """Everybody has been served; the operator has to mend the policy."""


class SitePolicy:
    """Made anew for each pass. `order` never raises: a policy that fails gives way to fifo until the pass is over."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._why = ""

    def order(self, claims: Sequence[PendingCampaign], facts: PolicyFacts) -> list[RankedCampaign]:
        """A policy that has failed once in a pass is not asked again in it."""
        if self._why:
            return fifo(claims, facts)
        try:
            with time_limit(PURE_LIMIT):
                return _served(load(self._name)(claims, facts), claims)
        except FAULTS as error:
            logger.exception("The policy %s failed", self._name)
            self._why = described(error)
            return fifo(claims, facts)

    def complain(self) -> None:
        """Raise PolicyFailed, when all is done, if the policy has failed in this pass."""
        if self._why:
            message = f"campaigns are served first come, first served, as the policy {self._name} fails"
            raise PolicyFailed(f"{message}: {self._why}")


def _served(turns: Sequence[RankedCampaign], claims: Sequence[PendingCampaign]) -> list[RankedCampaign]:
    """Raise ValueError for turns that nobody can be served by."""
    clusters = {claim.campaign_id: set(claim.clusters) for claim in claims}
    for turn in turns:
        if turn.campaign_id not in clusters or not clusters[turn.campaign_id].issuperset(turn.clusters):
            raise ValueError(f"{turn} is for what the campaign has not asked for")
        if not (isfinite(turn.weight) and turn.weight > 0) or any(map(isnan, turn.rank)):
            raise ValueError(f"{turn}: weights are numbers above 0, and ranks are numbers")
    return list(turns)
