"""How much is given to a cluster: pauses, limits and test campaigns, on the real local cluster."""

from pathlib import Path

import pytest

from cigri.flow.clusters import enable_cluster, find_cluster, put_cluster
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.identity.callers import Caller
from modules import campaign_schedulers, metascheduler, updator
from tests.grid import Grid


def stand_still(grid: Grid, campaign: int) -> None:
    """What runs goes on."""
    with grid.database.begin() as conn:
        hold_campaign(conn, campaign, Caller(grid.site.user), waiting_only=True)


def go_on(grid: Grid, campaign: int) -> None:
    with grid.database.begin() as conn:
        resume_campaign(conn, campaign, Caller(grid.site.user))


def jobs(grid: Grid, where: str = "state <> 'ended'") -> int:
    return int(grid.one(f"SELECT count(*) FROM jobs WHERE {where}"))


def hold(grid: Grid) -> str:
    """sh text that waits for the file `go`."""
    return f"until [ -e {grid.place}/go ]; do sleep 0.05; done"


def go(grid: Grid) -> None:
    (Path(grid.place) / "go").touch()


def test_a_held_campaign_ends_what_it_has_and_begins_nothing(local: Grid) -> None:
    local.submit([str(number) for number in range(8)], command=hold(local), max_jobs=4)
    local.run_until(lambda: jobs(local, "state = 'running'") == 4)
    stand_still(local, 1)
    go(local)
    local.run_until(lambda: not jobs(local))
    for _ in range(2):
        local.cycle()
    assert local.counts() == {"done": 4, "waiting": 4}
    go_on(local, 1)
    local.run_to_end()
    local.assert_each_ran_once(8)


@pytest.mark.parametrize("why", ["held", "disabled"])
def test_jobs_that_cannot_be_launched_are_in_nobodys_way(local: Grid, why: str) -> None:
    local.submit([str(number) for number in range(60)])
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    assert jobs(local, "state = 'to_launch'") == 54
    if why == "held":
        stand_still(local, 1)
        local.submit([str(number) for number in range(10)])
        local.run_until(lambda: local.counts() == {"waiting": 60, "done": 10})
        go_on(local, 1)
    else:
        with local.database.begin() as conn:
            enable_cluster(conn, "here", enabled=False)
        local.cycle()
        assert local.counts() == {"waiting": 60}
        with local.database.begin() as conn:
            enable_cluster(conn, "here", enabled=True)
    assert local.one("SELECT sum(failures + deaths) FROM tasks") == 0
    local.assert_sane()
    with local.database.begin() as conn:
        put_cluster(conn, "here", local.site.config | {"keep_waiting": 0})
    local.cycle()
    assert 0 < jobs(local) <= 4


def test_max_jobs_is_never_exceeded(local: Grid) -> None:
    local.submit([str(number) for number in range(7)], command="sleep 0.1", max_jobs=2)
    seen = []

    def is_over() -> bool:
        seen.append(jobs(local))
        return bool(local.counts() == {"done": 7})

    local.run_until(is_over)
    assert max(seen) == 2


def test_no_more_jobs_wait_in_the_queue_than_the_cluster_allows(local: Grid) -> None:
    with local.database.begin() as conn:
        put_cluster(conn, "here", local.site.config | {"max_waiting": 8, "keep_waiting": 500, "max_array": 5})
    local.submit([str(number) for number in range(120)], temporal_grouping="false")
    with local.database.begin() as conn:
        cluster = find_cluster(conn, "here")
    assert cluster is not None
    driver = local.gateway.driver(cluster)
    seen = []

    def is_over() -> bool:
        answer = local.gateway.run(cluster, local.site.user, driver.status("cigri."))
        seen.append(sum(job.state.value == "waiting" for job in driver.parse_status(answer, "cigri.")))
        return bool(local.counts() == {"done": 120})

    local.run_until(is_over)
    assert max(seen) <= 8
    assert len(seen) > 10
    assert local.one("SELECT max(size) FROM batches") == 5
    local.assert_each_ran_once(120)
