"""A campaign that stands still on real clusters; on Slurm a user may hold jobs, and only operators may suspend them."""

from pathlib import PurePosixPath

import pytest

from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.identity.callers import Caller
from tests.grid import Grid

pytestmark = pytest.mark.cluster


def stand(grid: Grid) -> dict[str, int]:
    halted = "CASE state WHEN 'running' THEN 'suspended' ELSE 'held' END"
    counted = grid.rows(
        f"SELECT CASE WHEN halted_since IS NULL THEN state::text ELSE {halted} END AS stand, count(*)::int AS n "
        "FROM jobs WHERE state <> 'ended' GROUP BY 1"
    )
    return {row["stand"]: row["n"] for row in counted}


def test_what_waits_is_held_and_what_runs_runs_on(alpha: Grid) -> None:
    go = PurePosixPath(alpha.place) / "go"
    wait = f"until [ -e {go} ]; do sleep 0.2; done"
    campaign = alpha.submit(["1", "2", "3", "4"], command=wait, resources={"cpu": 8})
    alpha.run_until(lambda: stand(alpha) == {"running": 2, "submitted": 2})
    with alpha.database.begin() as conn:
        hold_campaign(conn, campaign, Caller(alpha.site.user))
    alpha.run_until(lambda: stand(alpha) == {"running": 2, "held": 2})
    alpha.site.sh(f"touch {go}")
    alpha.run_until(lambda: stand(alpha) == {"held": 2})
    assert alpha.counts() == {"done": 2, "assigned": 2}
    for _ in range(3):
        alpha.cycle()
    assert stand(alpha) == {"held": 2}
    told = "SELECT message FROM events WHERE code = 'SUSPEND_PROBLEM' AND closed_at IS NULL"
    assert "2 jobs could not be suspended" in alpha.one(told)
    with alpha.database.begin() as conn:
        resume_campaign(conn, campaign, Caller(alpha.site.user))
    assert alpha.rows(told) == []
    alpha.run_to_end()
    alpha.assert_each_ran_once(4)


def test_what_waits_is_held_until_the_campaign_is_resumed(each_kind: Grid) -> None:
    grid, go = each_kind, PurePosixPath(each_kind.place) / "go"
    wait = f"until [ -e {go} ]; do sleep 0.2; done"
    campaign = grid.submit(["1", "2", "3"], command=wait, resources={"cpu": 8})
    grid.run_until(lambda: stand(grid) == {"running": 2, "submitted": 1})
    with grid.database.begin() as conn:
        hold_campaign(conn, campaign, Caller(grid.site.user), waiting_only=True)
    grid.run_until(lambda: stand(grid) == {"running": 2, "held": 1})
    grid.site.sh(f"touch {go}")
    grid.run_until(lambda: stand(grid) == {"held": 1})
    with grid.database.begin() as conn:
        resume_campaign(conn, campaign, Caller(grid.site.user))
    grid.run_to_end()
    grid.assert_each_ran_once(3)
