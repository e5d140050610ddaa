"""How a campaign stands, as a line of it is drawn; pure."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.api_models.campaigns import CampaignView, TaskStripCell
from cigri.api_models.histories import ThroughputHistory
from cigri.api_models.pending_reasons import ClusterExplanation
from cigri.formats.units import HOUR
from cigri.presentation.formatting import format_count
from cigri.states import CampaignState, TaskState

BAR = 1000
"""The width of a bar, in its own units."""
LEAST = 4
"""Of a part that is there at all: one of a million is seen, too."""
SPARK_WIDTH, SPARK_HEIGHT = 120, 24
STRIP_HEIGHT, THINNEST = 40, 4  # of a cell of a strip, in its own units, and of the part of failures in it
MOST_BLOCKS = 50  # links of a strip
MOST_FAILING = 5
STACKED = ("failed", "cancelled", "blocked", "waiting", "assigned", "done")
"""States as they stand in a cell, from above."""
EMPTY_CELL = TaskStripCell(0, 0, TaskState.DONE, {})


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
    CampaignState.TERMINATED: StateBadge("ended", "over"),
    CampaignState.CANCELLED: StateBadge("cancelled", "still"),
}


class Sparkline(NamedTuple):
    """How fast a campaign was: the points of a line, its highest value in tasks per hour, seconds from end to end."""

    points: str
    most: float
    seconds: float


class TaskStripBlock(NamedTuple):
    """Cells that lead to their tasks together, the first of which begins at `at`; `words` say how many are in which
    state."""

    first: int
    last: int
    at: int
    width: int
    failed: int
    words: str


class TaskStrip(NamedTuple):
    """Tasks from `first` to `last` in so many cells, each one unit wide: by state, the path that is filled.

    `failing`: the first blocks that have failures, of which the page tells those who do not point.
    """

    cells: int
    first: int
    last: int
    paths: dict[str, str]
    blocks: list[TaskStripBlock]
    failing: list[TaskStripBlock]


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
    """Each cell shows the shares of its tasks, one above the other; a failure among thousands is a thin part on top."""
    paths, runs = defaultdict[str, list[str]](list), dict[str, tuple[int, int, int]]()
    for at, cell in enumerate([*cells, EMPTY_CELL]):
        parts = _shares_of_cell(cell.counts)
        for state in STACKED:
            begin, *part = runs.get(state, (at, 0, 0))
            if tuple(part) != parts.get(state, (0, 0)):
                if part[1]:
                    paths[state].append(f"M{begin} {part[0]}h{at - begin}v{part[1]}H{begin}z")
                runs[state] = (at, *parts.get(state, (0, 0)))
    step = max(1, -(-len(cells) // MOST_BLOCKS))
    blocks = [_block(cells[at : at + step], at) for at in range(0, len(cells), step)]
    failing = [block for block in blocks if block.failed][:MOST_FAILING]
    first, last = (cells[0].first, cells[-1].last) if cells else (0, -1)
    return TaskStrip(len(cells), first, last, {state: "".join(path) for state, path in paths.items()}, blocks, failing)


def _shares_of_cell(counts: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """By state, where its part begins, from above, and how high it is."""
    failed, total = counts.get(TaskState.FAILED, 0), sum(counts.values())
    top = max(THINNEST, failed * STRIP_HEIGHT // total) if failed else 0
    parts = {TaskState.FAILED.value: (0, top)} if failed else {}
    room, others, counted = STRIP_HEIGHT - top, total - failed, 0
    for state in STACKED[1:]:
        if number := counts.get(state, 0):
            begin, counted = counted * room // others, counted + number
            parts[state] = (top + begin, counted * room // others - begin)
    return parts


def _block(cells: Sequence[TaskStripCell], at: int) -> TaskStripBlock:
    sums = Counter[str]()
    for cell in cells:
        sums.update(cell.counts)
    words = ", ".join(f"{sums[state]:,} {state}" for state in STACKED if sums[state])
    return TaskStripBlock(cells[0].first, cells[-1].last, at, len(cells), sums[TaskState.FAILED], words)


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
    if campaign.is_held or not campaign.blocked + campaign.waiting + campaign.assigned:
        return ExpectedEnd(None, None, None, None)
    return ExpectedEnd(None, campaign.eta, campaign.eta_low, campaign.eta_high)


def worst_reason(reasons: Sequence[ClusterExplanation]) -> str:
    """Of its clusters, one where nothing of it runs first: why it has no more there."""
    told = [reason for reason in reasons if reason.is_used and reason.why]
    told.sort(key=_running)
    return f"{told[0].cluster}: {told[0].why}" if told else ""


def _running(reason: ClusterExplanation) -> int:
    return reason.running
