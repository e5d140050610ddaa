"""How a campaign's line is drawn: whole, in its width, and nothing that is there is left out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from cigri.api_models.campaigns import TaskStripCell
from cigri.api_models.histories import ThroughputHistory
from cigri.states import TaskState
from modules.portal.rendering.campaign_row import (
    BAR,
    MOST_BLOCKS,
    SPARK_HEIGHT,
    SPARK_WIDTH,
    STRIP_HEIGHT,
    THINNEST,
    bar,
    sparkline,
    strip_of,
)
from tests.cli.screens import LARGE
from tests.factories import NOON

COUNTS = st.integers(0, 10**7)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_a_bar_is_as_wide_as_it_is_and_shows_each_state(
    done: int, failed: int, gone: int, busy: int, idle: int
) -> None:
    parts = bar(LARGE._replace(done=done, failed=failed, cancelled=gone, assigned=busy, waiting=idle))
    assert [part.number for part in parts] == [number for number in (done, failed, gone, busy, idle) if number]
    assert [part.at for part in parts] == [sum(part.width for part in parts[:i]) for i in range(len(parts))]
    assert sum(part.width for part in parts) == (BAR if parts else 0)
    assert all(part.width > 0 for part in parts)


@given(st.lists(st.integers(0, 10**6), max_size=60), st.integers(1, 24))
def test_a_sparkline_stays_in_its_frame(done: list[int], minutes: int) -> None:
    drawn = sparkline(ThroughputHistory(1, NOON, minutes * 60, done))
    if drawn is None:
        assert len(done) < 2 or not any(done)
        return
    points = [tuple(map(int, point.split(","))) for point in drawn.points.split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert (points[0][0], points[-1][0], min(y for _, y in points)) == (0, SPARK_WIDTH, 0)
    assert all(0 <= y <= SPARK_HEIGHT for _, y in points)


CELLS = st.lists(st.dictionaries(st.sampled_from(TaskState), st.integers(1, 10**6), min_size=1), max_size=200)
PIECE = re.compile(r"M(\d+) (\d+)h(\d+)v(\d+)H\1z")


@given(CELLS)
def test_each_cell_of_a_strip_shows_the_shares_of_its_tasks(cells: list[dict[TaskState, int]]) -> None:
    """Within two hundredths of its height, but for failures, which are always seen."""
    drawing = strip_of(
        [
            TaskStripCell(10 * at, 10 * at + 9, min(counts), {state.value: number for state, number in counts.items()})
            for at, counts in enumerate(cells)
        ]
    )
    heights = [dict[str, int]() for _ in cells]
    for state, path in drawing.paths.items():
        assert PIECE.sub("", path) == ""
        for at, _, width, height in (map(int, found) for found in PIECE.findall(path)):
            for cell in range(at, at + width):
                heights[cell][state] = height
    assert [sum(parts.values()) for parts in heights] == [STRIP_HEIGHT] * len(cells)
    for counts, parts in zip(cells, heights, strict=True):
        share = counts.get(TaskState.FAILED, 0) / sum(counts.values()) * STRIP_HEIGHT
        assert (parts.get("failed", 0) >= THINNEST) is (TaskState.FAILED in counts)
        assert parts.get("failed", 0) <= max(THINNEST, share)


def test_one_failure_among_a_thousand_is_a_thin_part() -> None:
    drawing = strip_of([TaskStripCell(0, 999, TaskState.FAILED, {TaskState.FAILED: 1, TaskState.DONE: 999})])
    assert drawing.paths == {"failed": f"M0 0h1v{THINNEST}H0z", "done": f"M0 {THINNEST}h1v{STRIP_HEIGHT - THINNEST}H0z"}
    assert [block.words for block in drawing.failing] == ["1 failed, 999 done"]


@given(st.integers(0, 1000))
def test_blocks_of_a_strip_lead_to_all_its_tasks(cells: int) -> None:
    drawing = strip_of(
        [TaskStripCell(10 * at, 10 * at + 9, TaskState.DONE, {TaskState.DONE: 10}) for at in range(cells)]
    )
    assert sum(block.last - block.first + 1 for block in drawing.blocks) == 10 * cells
    assert [block.at for block in drawing.blocks] == [block.first // 10 for block in drawing.blocks]
    assert len(drawing.blocks) <= MOST_BLOCKS
