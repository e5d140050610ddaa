"""Checkpoints on real clusters: asked for by the user, and before the walltime."""

import pytest

from cigri.flow.checkpoint_requests import request_checkpoints
from tests.callers import ALICE
from tests.grid import Grid, until

pytestmark = pytest.mark.cluster

WORK = (
    'echo "$(printenv CIGRI_CHECKPOINT || echo new)" >>{place}/said; '
    "trap 'exit 99' USR2; "
    '[ "$CIGRI_CHECKPOINT" != 1 ] || exit 0; '
    ": >{place}/begun; while :; do sleep 0.1; done"
)


def test_a_task_stops_when_asked_and_continues(each_kind: Grid) -> None:
    grid = each_kind
    campaign = grid.submit(["1"], command=WORK.format(place=grid.place), checkpoint=True)
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'"))
    until(lambda: "begun" in grid.site.sh(f"ls {grid.place}"))
    with grid.database.begin() as conn:
        assert request_checkpoints(conn, ALICE, campaign_id=campaign) == 1
    grid.run_to_end()
    _assert_continued(grid)


def test_a_task_stops_before_the_walltime_and_continues(alpha: Grid) -> None:
    alpha.submit(["1"], command=WORK.format(place=alpha.place), checkpoint={"before_walltime": 595})
    alpha.run_to_end()
    _assert_continued(alpha)


def _assert_continued(grid: Grid) -> None:
    assert grid.executions() == {0: 2}
    assert grid.site.sh(f"cat {grid.place}/said").split() == ["new", "1"]
    found = grid.rows("SELECT outcome::text FROM attempts ORDER BY number")
    assert [row["outcome"] for row in found] == ["checkpointed", "success"]
    assert grid.one("SELECT failures + deaths FROM tasks") == 0
    grid.assert_sane()
