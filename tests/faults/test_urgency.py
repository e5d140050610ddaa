"""The date at which a campaign should start orders the queue of a real batch system, where the operator allows it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from cigri.flow.clusters import put_cluster
from cigri.tables.campaigns import Forecast
from modules import campaign_schedulers, killer, metascheduler, predictor, runner, updator
from tests.grid import Grid, until

pytestmark = pytest.mark.cluster
WHOLE = {"alpha": "/nodes=2/core=8", "gamma": "/core=16"}
HEED = """at=$(mktemp) && qconf -ssconf | sed 's/^weight_priority .*/weight_priority 1.0/' >$at && qconf -Msconf $at"""


@pytest.fixture(params=sorted(WHOLE))
def grid(request: pytest.FixtureRequest) -> Grid:
    """A cluster that is told dates, on which each job takes all cores."""
    found: Grid = request.getfixturevalue(request.param)
    config = found.site.config
    if found.site.name == "gamma":
        found.site.sh(HEED, user="root")  # as it is set up by Debian, nobody's priorities count
    with found.database.begin() as conn:
        put_cluster(conn, found.site.name, {**config, "options": {**config["options"], "use_nice": True}})
    return found


def test_the_more_urgent_of_two_campaigns_starts_first_in_a_full_queue(grid: Grid) -> None:
    wide: dict[str, Any] = {"resources": WHOLE[grid.site.name]}
    full = grid.submit(["1"], command=f"until [ -e {grid.place}/go ]; do sleep 0.1; done", **wide)
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    late, soon = (grid.submit(["1"], command="sleep 1", **wide) for _ in range(2))
    for module in (updator, predictor):
        module.run_once(grid.tools)
    now = datetime.now(UTC)
    for campaign, ahead in ((late, timedelta(days=2)), (soon, timedelta(hours=1))):
        with grid.database.begin() as conn:
            conn.execute(update(Forecast).where(Forecast.c.campaign_id == campaign).values(published=now + ahead))

    def both_wait() -> bool:
        for module in (metascheduler, campaign_schedulers, runner, updator, killer):
            module.run_once(grid.tools)
        waiting = grid.rows("SELECT campaign_id FROM jobs WHERE state = 'submitted' ORDER BY id")
        return [row["campaign_id"] for row in waiting] == [late, soon]

    until(both_wait)
    grid.site.sh(f"touch {grid.place}/go")
    grid.run_to_end()
    begun = grid.rows("SELECT campaign_id FROM jobs ORDER BY started_at")
    assert [row["campaign_id"] for row in begun] == [full, soon, late]
    grid.assert_sane()
