"""Campaigns that follow the hours of operators, on the real local cluster."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cigri.drivers import BatchRequest
from cigri.drivers.local import LocalDriver
from cigri.flow.clusters import put_cluster
from modules import campaign_schedulers, killer, metascheduler, runner, updator
from tests.grid import Grid

ALWAYS, NEVER = ["mon-sun"], list[str]()
WAIT = "until [ -e {place}/go ]; do sleep 0.05; done"


def window(first: int, last: int) -> str:
    """From so many hours from now to so many hours from now."""
    now = datetime.now(UTC)
    return "-".join(f"{now + timedelta(hours=hours):%H:%M}" for hours in (first, last))


def keep(grid: Grid, hours: list[str], **changes: object) -> None:
    """The operator changes the cluster's hours."""
    with grid.database.begin() as conn:
        put_cluster(conn, grid.site.name, grid.site.config | {"hours": hours, **changes})


def jobs(grid: Grid) -> dict[str, int]:
    found = grid.rows("SELECT state::text, count(*)::int AS n FROM jobs WHERE state <> 'ended' GROUP BY 1")
    return {row["state"]: row["n"] for row in found}


def submit(grid: Grid, type: str, tasks: int = 6, **fields: object) -> int:
    numbers = [str(number) for number in range(tasks)]
    return grid.submit(numbers, command=WAIT.format(place=grid.place), type=type, **fields)


def test_nightly_jobs_are_there_within_the_hours_only(local: Grid) -> None:
    submit(local, "nightly", prologue="true")
    for _ in range(2):
        local.cycle()  # no hours are declared: not even the prologue runs
    assert local.one("SELECT count(*) FROM jobs") == 0
    keep(local, ALWAYS)
    local.run_until(lambda: jobs(local) == {"running": 4, "submitted": 2})
    keep(local, NEVER)
    assert killer.run_once(local.tools)["hours kills"] == 6
    local.run_until(lambda: local.counts() == {"waiting": 6})
    local.cycle()
    assert jobs(local) == {}
    outcomes = local.rows("SELECT DISTINCT outcome::text FROM jobs WHERE kind = 'tasks'")
    assert outcomes == [{"outcome": "withdrawn"}]
    assert local.rows("SELECT DISTINCT failures, deaths FROM tasks") == [{"failures": 0, "deaths": 0}]
    keep(local, ALWAYS)
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.counts() == {"done": 6}
    local.assert_sane()


def test_jobs_that_were_chosen_before_the_end_are_not_launched_after_it(local: Grid) -> None:
    keep(local, ALWAYS)
    submit(local, "nightly")
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    assert jobs(local) == {"to_launch": 6}
    keep(local, NEVER)
    assert runner.run_once(local.tools) == {"jobs given back": 6}
    assert local.counts() == {"waiting": 6}


def test_a_job_that_would_cross_the_end_starts_only_if_the_operator_lets_it(local: Grid) -> None:
    keep(local, [window(-1, 1)])
    submit(local, "nightly", walltime=7300)
    for _ in range(3):
        local.cycle()
    assert local.one("SELECT count(*) FROM jobs") == 0
    keep(local, [window(-1, 1)], hours_overrun=True)
    local.run_until(lambda: jobs(local) == {"running": 4, "submitted": 2})
    keep(local, [window(2, 3)], hours_overrun=True)
    assert killer.run_once(local.tools)["hours kills"] == 6


def test_semi_best_effort_jobs_are_normal_ones_within_the_hours(local: Grid) -> None:
    asked: list[bool] = []
    submit_request = LocalDriver.submit

    def remember(driver: LocalDriver, request: BatchRequest) -> str:
        asked.append(request.besteffort)
        return submit_request(driver, request)

    with_memory = type("Remembering", (LocalDriver,), {"submit": remember})
    local.gateway.driver = lambda cluster: with_memory(cluster.config.options)  # type: ignore[method-assign]
    keep(local, NEVER)
    submit(local, "semi-best-effort", 4)
    local.run_until(lambda: jobs(local) == {"running": 4})
    keep(local, ALWAYS)
    submit(local, "semi-best-effort", 2)
    local.run_until(lambda: jobs(local) == {"running": 4, "submitted": 2})
    assert asked == [True, False]
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET created_at = created_at - interval '12 h'")
    keep(local, [window(-13, -2)])  # it was open then, and the first campaign's jobs run
    assert killer.run_once(local.tools)["hours kills"] == 2
    local.run_until(lambda: len(asked) == 3)
    assert asked == [True, False, True]
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.counts() == {"done": 6}
