"""Of a test campaign: which clusters passed, which failed and with what words, and which cannot be tested now."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cigri.cli.obstacles import obstacle
from cigri.cli.tables import print_table
from cigri.cli.wording import duration, shortened
from cigri.flow.views.campaigns import CampaignView, PartView
from cigri.flow.views.clusters import TriedCluster
from cigri.states import JobState, TaskState

TEST_COLUMNS = ("Cluster", "Job", "Test", "Why")
LONGEST_TAIL = 300
IN_ITS_TURN = ("ok", "full")  # obstacles that need nobody's doing


class Result(NamedTuple):
    """One word, and what a person wants to know next."""

    word: str
    why: str


def print_tried(
    campaign: CampaignView, parts: Sequence[PartView], tried: Sequence[TriedCluster], now: datetime, headerless: bool
) -> None:
    results = results_of(campaign, parts, tried, now)
    lines = [
        (one.cluster, one.job_id, found.word, shortened(found.why, LONGEST_TAIL))
        for one, found in zip(tried, results, strict=True)
    ]
    print_table(TEST_COLUMNS, lines, prose=("Cluster", "Why"), headerless=headerless)


def plain_tried(
    campaign: CampaignView, parts: Sequence[PartView], tried: Sequence[TriedCluster], now: datetime
) -> list[dict[str, Any]]:
    """For programs."""
    results = results_of(campaign, parts, tried, now)
    return [
        {**one._asdict(), "result": found.word, "why": found.why} for one, found in zip(tried, results, strict=True)
    ]


def results_of(
    campaign: CampaignView, parts: Sequence[PartView], tried: Sequence[TriedCluster], now: datetime
) -> list[Result]:
    """Of each cluster, in the order of `tried`."""
    by_cluster = {part.cluster: part for part in parts}
    return [_result(campaign, by_cluster[one.cluster], one, now) for one in tried]


def _result(campaign: CampaignView, part: PartView, one: TriedCluster, now: datetime) -> Result:
    match one.state:
        case TaskState.DONE:
            where = f"in {duration(one.seconds)}" if one.seconds is not None else ""
            return Result("passed", f"{where} on {one.node}".strip() if one.node else where)
        case TaskState.FAILED:
            return Result("failed", one.said or f"{one.outcome or 'failure'}, exit code {one.exit_code}")
        case TaskState.CANCELLED:
            return Result("cancelled", "")
    if one.job_state is JobState.RUNNING:
        return Result("running", f"on {one.node}" if one.node else "")
    way = obstacle(campaign, part, now)
    if way.state == "prologue":
        return Result("prologue", way.explanation)
    if way.state in IN_ITS_TURN:
        return Result("waiting", way.explanation)
    return Result("cannot", f"{way.state}: {way.explanation}" if way.explanation else way.state)
