"""Test campaigns on the real local cluster, twice: each cluster is tested, ahead of everybody, a few at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.cli import gridstat
from cigri.flow.batches import PreparedBatch
from cigri.flow.clusters import enable_cluster, find_cluster, put_cluster
from cigri.flow.event_fixes import fix_events
from cigri.flow.launches import list_launches
from cigri.identity.callers import Caller
from modules import campaign_schedulers, metascheduler, updator
from modules.runner.batch_spec import plan_batch
from tests.cli.running import Run, running
from tests.factories import NOON
from tests.grid import Grid, local_site, until
from tests.localbatch.host import Host

BOTH: dict[str, dict[str, object]] = {"here": {}, "there": {}}


@pytest.fixture
def two(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """The grid has this host twice: as `here`, and as `there`."""
    host = Host(tmp_path / "second")
    local.add(local_site(host.spool, "there"))
    yield local
    host.clear()


@pytest.fixture
def gridstat_of(
    two: Grid, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    with running(gridstat.main, database_url, tmp_path, monkeypatch, capsys) as run:
        yield run


def results(run: Run, campaign: int) -> dict[str, tuple[str, str]]:
    return {one["cluster"]: (one["result"], one["why"]) for one in run("--json", campaign).json[0]["tests"]}


def enable(grid: Grid, name: str, *, enabled: bool) -> None:
    with grid.database.begin() as conn:
        enable_cluster(conn, name, enabled=enabled)


def done_on(grid: Grid) -> list[str]:
    found = grid.rows(
        "SELECT c.name FROM jobs j JOIN clusters c ON c.id = j.cluster_id WHERE kind = 'tasks' ORDER BY 1"
    )
    return [row["name"] for row in found]


def live(grid: Grid, campaigns: list[int]) -> int:
    wanted = ", ".join(map(str, campaigns))
    return int(grid.one(f"SELECT count(*) FROM jobs WHERE state <> 'ended' AND campaign_id IN ({wanted})"))


def test_a_cluster_that_is_away_is_tested_once_it_is_back(two: Grid, gridstat_of: Run) -> None:
    enable(two, "there", enabled=False)
    test = two.submit(["a", "b"], clusters=BOTH, campaign_type="test")
    two.run_until(lambda: two.counts() == {"done": 1, "waiting": 1})
    for _ in range(3):
        two.cycle()
    assert done_on(two) == ["here"]
    told = results(gridstat_of, test)
    assert told["here"][0] == "passed"
    assert told["there"] == ("cannot", "disabled: the operator gives this cluster no new jobs")
    enable(two, "there", enabled=True)
    two.run_to_end()
    assert done_on(two) == ["here", "there"]
    assert {name: word for name, (word, _) in results(gridstat_of, test).items()} == dict.fromkeys(BOTH, "passed")
    two.assert_each_ran_once(2)


def test_a_cluster_that_is_slow_to_prepare_is_tested_all_the_same(two: Grid, gridstat_of: Run) -> None:
    prologue = [f"until [ -e {two.place}/go ]; do sleep 0.05; done"]
    clusters: dict[str, dict[str, object]] = {"here": {}, "there": {"prologue": prologue}}
    test = two.submit(["a", "b"], clusters=clusters, campaign_type="test")
    two.run_until(lambda: two.counts() == {"done": 1, "waiting": 1})
    two.cycle()
    told = results(gridstat_of, test)
    assert (told["here"][0], told["there"]) == ("passed", ("prologue", "tasks start once the prologue is done"))
    (Path(two.place) / "go").touch()
    two.run_to_end()
    assert done_on(two) == ["here", "there"]


def test_what_fails_on_one_cluster_is_tried_there_again_and_told_with_its_words(two: Grid, gridstat_of: Run) -> None:
    passes = f'[ "$CIGRI_CLUSTER" = here ] || [ -e {two.place}/fixed ]'
    command = f"if {passes}; then :; else echo no licence >&2; exit 5; fi"
    test = two.submit(["a", "b"], command=command, clusters=BOTH, campaign_type="test")
    two.run_until(lambda: two.counts() == {"done": 1, "failed": 1})
    line = next(line for line in gridstat_of(test).out.splitlines() if line.startswith("there"))
    assert "failed" in line
    assert "failure, exit code 5; stderr ends: no licence" in line
    assert "Tasks/h" not in gridstat_of(test).out
    (Path(two.place) / "fixed").touch()
    with two.database.begin() as conn:
        failed = conn.execute(text("SELECT id FROM events WHERE code = 'TASK_FAILED'")).scalars().all()
        assert fix_events(conn, failed, Caller(two.site.user), resubmit=True) == 1
    two.run_to_end()
    assert done_on(two) == ["here", "there", "there"]


def test_a_test_goes_before_all_though_no_core_is_free(local: Grid) -> None:
    with local.database.begin() as conn:
        put_cluster(conn, "here", local.site.config | {"keep_waiting": 0})
    hold = f"until [ -e {local.place}/go ]; do sleep 0.05; done"
    local.submit([str(number) for number in range(20)], command=hold)
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 4)
    test = local.submit(["1", "2", "3"], campaign_type="test", command=f"touch {local.place}/tested")
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    with local.database.begin() as conn:
        cluster = find_cluster(conn, "here")
        assert cluster is not None
        (launch,) = list_launches(conn, cluster.id, 100, 100)
    assert (launch.campaign_id, len(launch.jobs)) == (test, 1)
    (Path(local.place) / "go").touch()
    until(lambda: local.cycle() and (Path(local.place) / "tested").exists())


@pytest.mark.parametrize(("type", "is_besteffort"), [("normal", False), ("best-effort", True)])
def test_the_jobs_of_a_test_are_of_the_type_that_admission_gave_them(
    local: Grid, type: str, is_besteffort: bool
) -> None:
    local.submit(["1"], campaign_type="test", type=type)
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    with local.database.begin() as conn:
        cluster = find_cluster(conn, "here")
        assert cluster is not None
        (launch,) = list_launches(conn, cluster.id, 100, 100)
    _, request = plan_batch(cluster, "abcd", launch, PreparedBatch(1, "cigri.abcd.1", NOON))
    assert request.besteffort is is_besteffort


def test_a_user_has_few_tests_on_a_cluster_at_a_time(local: Grid) -> None:
    local.tune("policy", tests=2)
    hold = f"until [ -e {local.place}/go ]; do sleep 0.05; done"
    tests = [local.submit(["1"], campaign_type="test", command=hold) for _ in range(4)]
    local.run_until(lambda: live(local, tests) == 2)
    for _ in range(2):
        local.cycle()
    assert live(local, tests) == 2
    cut = "SELECT reason::text, name, used, most FROM cuts WHERE campaign_id IN (:first, :second)"
    cuts = local.rows(cut, first=tests[2], second=tests[3])
    assert [tuple(row.values()) for row in cuts] == [("tests", local.site.user, 2, 2)] * 2
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.counts() == {"done": 4}
