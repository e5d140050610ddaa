"""The campaign that would end first goes first, so that most of them end early."""

from collections.abc import Sequence
from math import inf

from cigri.flow.metascheduler_to_campaign_schedulers import Claim
from modules.metascheduler.policies import Facts, Turn


def order(claims: Sequence[Claim], _facts: Facts) -> list[Turn]:
    """By the time at which its last task has to start: its forecast end less the time of a task; unknown ends last.

    It is open-lmake's priority, ETA minus pressure; the path of tasks that depend on nothing is as long as one of them.
    """
    return [Turn(claim.campaign_id, claim.clusters, (_start_of_the_last(claim), claim.campaign_id)) for claim in claims]


def _start_of_the_last(claim: Claim) -> float:
    return inf if claim.eta is None else claim.eta.timestamp() - claim.pressure
