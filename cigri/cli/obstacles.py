"""Why a campaign does not run on a cluster, in one word and in one sentence; pure."""

from datetime import datetime
from typing import NamedTuple

from cigri.cli.wording import moment
from cigri.flow.grid_to_user import CampaignView, PartView
from cigri.states import CampaignState, StepState


class Obstacle(NamedTuple):
    """`explanation` is empty where the state says all."""

    state: str
    explanation: str = ""


def obstacle(campaign: CampaignView, part: PartView, now: datetime) -> Obstacle:
    """The first thing that stands in the way, the one that lasts longest before the others."""
    if not campaign.is_open:
        return Obstacle("ended")
    found = _of_cluster(part) or _of_campaign_there(part, now) or _of_now(campaign, part)
    if not part.fallback_because:
        return found
    instead = f"its jobs run on CiGri's own host, since {part.fallback_because}"
    return Obstacle(found.state, f"{instead}; {found.explanation}" if found.explanation else instead)


def _of_now(campaign: CampaignView, part: PartView) -> Obstacle:
    if campaign.state is CampaignState.PAUSED:
        return Obstacle("paused", f"`griddel --resume {campaign.id}` goes on")
    if part.free == 0 and not part.running:
        return Obstacle("full", "no core is free")
    return Obstacle("ok")


def _of_cluster(part: PartView) -> Obstacle | None:
    if part.drained_by is not None:
        until = f"it is to be empty on {moment(part.drained_by)}"
        return Obstacle("draining", f"the operator gives this cluster no new jobs: {until}")
    if not part.is_enabled:
        return Obstacle("disabled", "the operator gives this cluster no new jobs")
    if part.paused_until is not None:
        again = f"tried again at {moment(part.paused_until)}"
        return Obstacle("unreachable", f"{again}; `gridclusters -i {part.cluster}` shows why")
    if part.free is None:
        return Obstacle("unknown", "CiGri has not visited this cluster yet")
    return None


def _of_campaign_there(part: PartView, now: datetime) -> Obstacle | None:
    why = f": {part.why}" if part.why else ""
    if part.prologue is StepState.FAILED:
        return Obstacle("prologue failed", f"`gridevents -f -r` runs it again{why}")
    if part.set_aside_until is not None and part.set_aside_until > now:
        return Obstacle("set aside", part.why or f"until {moment(part.set_aside_until)}")
    if part.set_aside_until is not None:
        return Obstacle("on trial", f"one job tries again{why}")
    if part.epilogue is StepState.FAILED:
        return Obstacle("epilogue failed", f"`gridevents -f -r` runs it again{why}")
    if part.prologue in (StepState.WAITING, StepState.RUNNING):
        return Obstacle("prologue", "tasks start once the prologue is done")
    return None
