"""Why a campaign does not run on a cluster, in one word and in one sentence."""

from datetime import datetime
from typing import TYPE_CHECKING

from cigri.api_models.campaigns import CampaignClusterView, CampaignView, RunStatus
from cigri.formats.units import as_instant
from cigri.states import StepState

if TYPE_CHECKING:
    from cigri.settings.sections import Settings


def run_status(campaign: CampaignView, part: CampaignClusterView, now: datetime, settings: "Settings") -> RunStatus:
    """The first thing that stands in the way, the one that lasts longest before the others."""
    if not campaign.is_open:
        return RunStatus("ended")
    if campaign.blocked and not (campaign.waiting or campaign.assigned):
        waiting = f"{campaign.blocked:,} of {campaign.total:,} tasks wait for other campaigns"
        return RunStatus("after", f"{waiting}: `gridstat --why {campaign.id}` says for which")
    if campaign.failed and not (campaign.waiting or campaign.assigned):
        failed = "1 task" if campaign.failed == 1 else f"{campaign.failed} tasks"
        return RunStatus("waits for you", f"{failed} failed: `gridstat -e {campaign.id}` says why and how to go on")
    if part.is_barred:
        return RunStatus("not eligible", f"`gridstat --why {campaign.id}` says what its queues lack")
    way = _of_cluster(part) or _of_campaign_there(part, now) or _of_now(campaign, part, now, settings)
    if not part.fallback_because:
        return way
    instead = f"its jobs run on CiGri's own host, since {part.fallback_because}"
    return RunStatus(way.state, f"{instead}; {way.explanation}" if way.explanation else instead)


def _of_now(campaign: CampaignView, part: CampaignClusterView, now: datetime, settings: "Settings") -> RunStatus:
    if part.is_held:
        return RunStatus("held", f"{_still(part)}; {_way_on(campaign, part)}")
    if outside := _of_hours(part, now, settings):
        return outside
    if part.free == 0 and not part.running:
        return RunStatus("full", "all cores are busy")
    return RunStatus("ok", part.why or "" if part.doubted else "")


def _of_hours(part: CampaignClusterView, now: datetime, settings: "Settings") -> RunStatus | None:
    """Jobs of type nightly start within the cluster's hours only."""
    if part.job_type != "nightly":
        return None
    from cigri.settings.job_types import find_hours, may_start  # the settings take a moment, and few jobs follow hours

    overrun = bool(part.cluster_hours.get("hours_overrun"))
    hours = find_hours(part.cluster_hours.get("hours"), part.cluster_hours.get("timezone", ""), settings.hours)
    if may_start(part.job_type, hours, now, part.walltime, overrun=overrun):
        return None
    if hours is None:
        return RunStatus("outside hours", f"the operator of cluster {part.cluster} has declared no hours for its jobs")
    stretch = hours.at(now)
    if stretch.is_open and stretch.until:
        why = f"the hours of cluster {part.cluster} end at {as_instant(stretch.until)}, before the walltime would"
        return RunStatus("outside hours", why)
    opens = f"opens at {as_instant(stretch.until)}" if stretch.until else "never opens"
    return RunStatus("outside hours", f"outside the hours of cluster {part.cluster}, {opens}")


def _still(part: CampaignClusterView) -> str:
    """What stands still, and what does not."""
    counts = [f"{part.held} of {part.waiting} waiting jobs held"] if part.waiting else []
    counts += [f"{part.suspended} of {part.running} running jobs suspended"] if part.running else []
    why = f" ({part.why})" if part.why else ""
    return (", ".join(counts) or "no jobs are made") + why


def _way_on(campaign: CampaignView, part: CampaignClusterView) -> str:
    where = "" if campaign.is_held else f" --cluster {part.cluster}"
    return f"`gridresume {campaign.id}{where}` lets it go on"


def _of_cluster(part: CampaignClusterView) -> RunStatus | None:
    if part.drained_by is not None:
        until = f"it is to be empty on {as_instant(part.drained_by)}"
        return RunStatus("draining", f"the operator gives this cluster no new jobs: {until}")
    if not part.is_enabled:
        return RunStatus("disabled", "the operator gives this cluster no new jobs")
    if part.paused_until is not None:
        again = f"tried again at {as_instant(part.paused_until)}"
        return RunStatus("unreachable", f"{again}; `gridclusters -i {part.cluster}` shows why")
    if part.free is None:
        return RunStatus("unknown", "CiGri has not visited this cluster yet")
    return None


def _of_campaign_there(part: CampaignClusterView, now: datetime) -> RunStatus | None:
    why = f": {part.why}" if part.why else ""
    if part.prologue is StepState.FAILED:
        return RunStatus("prologue failed", f"`gridevents -f -r` runs it again{why}")
    if part.is_sink:
        return RunStatus("doubted", part.why or f"{part.doubted} results are doubted")
    if part.set_aside_until is not None and part.set_aside_until > now:
        return RunStatus("set aside", part.why or f"until {as_instant(part.set_aside_until)}")
    if part.set_aside_until is not None:
        return RunStatus("on trial", f"one job tries again{why}")
    if part.epilogue is StepState.FAILED:
        return RunStatus("epilogue failed", f"`gridevents -f -r` runs it again{why}")
    if part.prologue in (StepState.WAITING, StepState.RUNNING):
        return RunStatus("prologue", "tasks start once the prologue is done")
    if part.lacks_inputs:
        return RunStatus("inputs", "tasks start once all inputs of the campaign, and their own, are there")
    if part.outputs_wait:
        return RunStatus("outputs", "tasks start again once more of the outputs that lie there have come")
    return None
