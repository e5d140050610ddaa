"""How a campaign stands, as a line of it is drawn; pure."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.api_models.campaigns import CampaignView, TaskStripCell
from cigri.api_models.histories import ThroughputHistory
from cigri.api_models.pending_reasons import ClusterExplanation
from cigri.formats.units import HOUR
from cigri.presentation.formatting import format_count
from cigri.states import CampaignState

BAR = 1000
"""The width of a bar, in its own units."""
LEAST = 4
"""Of a part that is there at all: one of a million is seen, too."""
SPARK_WIDTH, SPARK_HEIGHT = 120, 24
MOST_CELLS_TOGETHER = 20  # cells of a strip


class ProgressBarPart(NamedTuple):
    """Tasks in one state, and where they are drawn."""

    state: str
    number: int
    at: int
    width: int


class StateBadge(NamedTuple):
    """The state of a campaign as people read it; `tone` is the class that colours it."""

    words: str
    tone: str


UNMOVED_BADGES = {
    CampaignState.PAUSED: StateBadge("paused", "still"),
    CampaignState.TERMINATED: StateBadge("ended", "over"),
    CampaignState.CANCELLED: StateBadge("cancelled", "still"),
}


class Sparkline(NamedTuple):
    """How fast a campaign was: the points of a line, its highest value in tasks per hour, seconds from end to end."""

    points: str
    most: float
    seconds: float


class TaskStripRun(NamedTuple):
    """Cells of a strip that follow each other, alike; `first`: the number of their first task."""

    first: int
    at: int
    width: int


class TaskStrip(NamedTuple):
    """So many cells, each one unit wide, and where they are, by the worst state in them."""

    cells: int
    runs: dict[str, list[TaskStripRun]]


class ExpectedEnd(NamedTuple):
    """When a campaign has ended, or will; all None: nobody knows."""

    ended: datetime | None
    at: datetime | None
    low: datetime | None
    high: datetime | None


def state_badge(campaign: CampaignView) -> StateBadge:
    """What is true of it now: one that only its user can move on does not run, whatever its life is called."""
    if unmoved := UNMOVED_BADGES.get(campaign.state):
        return unmoved
    if campaign.is_held:
        return StateBadge("held", "still")
    if campaign.errors and not campaign.assigned:
        return StateBadge(f"needs you: {_undecided(campaign)}", "needs")
    if campaign.running:
        return StateBadge("running", "runs")
    if campaign.assigned:
        return StateBadge("queued", "idle")
    return StateBadge("waiting" if campaign.waiting else "blocked" if campaign.blocked else "ending", "idle")


def undecided_failures(campaign: CampaignView) -> int:
    """Failed tasks that nobody has retried or ignored; other errors of the campaign are not told apart from them."""
    return min(campaign.failed, campaign.errors)


def _undecided(campaign: CampaignView) -> str:
    failed = undecided_failures(campaign)
    return f"{failed:,} failed" if failed else format_count(campaign.errors, "error")


def bar(campaign: CampaignView) -> list[ProgressBarPart]:
    """Its tasks by state, those that are over first; together as wide as the bar."""
    numbers = {
        "done": campaign.done,
        "failed": campaign.failed,
        "cancelled": campaign.cancelled,
        "in jobs": campaign.assigned,
        "waiting": campaign.waiting,
        "blocked": campaign.blocked,
    }
    present = {state: number for state, number in numbers.items() if number}
    total, room = sum(present.values()), BAR - LEAST * len(present)
    parts, counted = list[ProgressBarPart](), 0
    for index, (state, number) in enumerate(present.items()):
        begin, counted = counted * room // total, counted + number
        parts.append(ProgressBarPart(state, number, begin + LEAST * index, counted * room // total - begin + LEAST))
    return parts


def strip_of(cells: list[TaskStripCell]) -> TaskStrip:
    """Long runs are cut: each piece leads to its own tasks."""
    runs = defaultdict[str, list[TaskStripRun]](list)
    for at, cell in enumerate(cells):
        alike = runs[cell.worst]
        if alike and alike[-1].at + alike[-1].width == at and alike[-1].width < MOST_CELLS_TOGETHER:
            alike[-1] = alike[-1]._replace(width=alike[-1].width + 1)
        else:
            alike.append(TaskStripRun(cell.first, at, 1))
    return TaskStrip(len(cells), runs)


def sparkline(rate: ThroughputHistory) -> Sparkline | None:
    """None: there is nothing that would be seen."""
    if len(rate.done) < 2 or not any(rate.done):
        return None
    most, last = max(rate.done), len(rate.done) - 1
    points = [
        f"{at * SPARK_WIDTH // last},{SPARK_HEIGHT - done * SPARK_HEIGHT // most}" for at, done in enumerate(rate.done)
    ]
    return Sparkline(" ".join(points), most * HOUR / rate.period, rate.period * len(rate.done))


def expected_end(campaign: CampaignView) -> ExpectedEnd:
    """The forecast, where it goes on."""
    if not campaign.is_open:
        return ExpectedEnd(campaign.ended_at, None, None, None)
    is_going_on = campaign.state is CampaignState.IN_TREATMENT and not campaign.is_held
    if not is_going_on or not campaign.blocked + campaign.waiting + campaign.assigned:
        return ExpectedEnd(None, None, None, None)
    return ExpectedEnd(None, campaign.eta, campaign.eta_low, campaign.eta_high)


def worst_reason(reasons: Sequence[ClusterExplanation]) -> str:
    """Of its clusters, one where nothing of it runs first: why it has no more there."""
    told = [reason for reason in reasons if reason.is_used and reason.why]
    told.sort(key=_running)
    return f"{told[0].cluster}: {told[0].why}" if told else ""


def _running(reason: ClusterExplanation) -> int:
    return reason.running
