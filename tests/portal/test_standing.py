"""How a campaign's line is drawn: whole, in its width, and nothing that is there is left out."""

from hypothesis import given
from hypothesis import strategies as st

from cigri.api_models.campaigns import TaskStripCell
from cigri.api_models.histories import ThroughputHistory
from cigri.states import TaskState
from modules.portal.rendering.campaign_row import (
    BAR,
    MOST_CELLS_TOGETHER,
    SPARK_HEIGHT,
    SPARK_WIDTH,
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


@given(st.lists(st.sampled_from(TaskState), max_size=200))
def test_each_cell_of_a_strip_is_drawn_once_and_leads_to_its_tasks(states: list[TaskState]) -> None:
    drawing = strip_of([TaskStripCell(10 * at, 10 * at + 9, state) for at, state in enumerate(states)])
    drawn = {
        at: (state, run)
        for state, alike in drawing.runs.items()
        for run in alike
        for at in range(run.at, run.at + run.width)
    }
    assert drawing.cells == len(states)
    assert sorted(drawn) == list(range(len(states)))
    assert [drawn[at][0] for at in range(len(states))] == states
    assert all(run.first == 10 * run.at and run.width <= MOST_CELLS_TOGETHER for _, run in drawn.values())
