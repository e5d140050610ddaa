"""Of a test campaign: which clusters passed, which failed and with what words, and which cannot be tested now; pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cigri.api_models.campaigns import CampaignClusterView, CampaignView, ClusterTestAttempt, ClusterTestResult
from cigri.formats.units import as_duration
from cigri.presentation.run_status import run_status
from cigri.states import JobState, TaskState

if TYPE_CHECKING:
    from cigri.settings.sections import Settings

IN_ITS_TURN = ("ok", "full")  # obstacles that need nobody's doing


def results_of(
    campaign: CampaignView,
    parts: Sequence[CampaignClusterView],
    tried: Sequence[ClusterTestAttempt],
    now: datetime,
    settings: "Settings",
) -> list[ClusterTestResult]:
    """Of each cluster, in the order of `tried`; `parts` holds the campaign's share of each of them."""
    by_cluster = {part.cluster: part for part in parts}
    return [_result(campaign, by_cluster[cluster.cluster], cluster, now, settings) for cluster in tried]


def _result(
    campaign: CampaignView, part: CampaignClusterView, tested: ClusterTestAttempt, now: datetime, settings: "Settings"
) -> ClusterTestResult:
    match tested.state:
        case TaskState.DONE:
            where = f"in {as_duration(tested.seconds)}" if tested.seconds is not None else ""
            return ClusterTestResult(tested, "passed", f"{where} on {tested.node}".strip() if tested.node else where)
        case TaskState.FAILED:
            return ClusterTestResult(
                tested, "failed", tested.said or f"{tested.outcome or 'failure'}, exit code {tested.exit_code}"
            )
        case TaskState.CANCELLED:
            return ClusterTestResult(tested, "cancelled", "")
    if tested.job_state is JobState.RUNNING:
        return ClusterTestResult(tested, "running", f"on {tested.node}" if tested.node else "")
    way = run_status(campaign, part, now, settings)
    if way.state == "prologue":
        return ClusterTestResult(tested, "prologue", way.explanation)
    if way.state in IN_ITS_TURN:
        return ClusterTestResult(tested, "waiting", way.explanation)
    return ClusterTestResult(tested, "cannot", f"{way.state}: {way.explanation}" if way.explanation else way.state)
