"""A cluster is drained, on the real local cluster: jobs are told, taken back, and killed, least waste first."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cigri.cli import gridclusters, gridstat
from cigri.database import server_time
from cigri.flow.clusters import enable_cluster
from cigri.flow.drains import ClusterDrain, NodeDrainRequest, end_node_drains, put_drain, put_node_drain
from cigri.flow.excluded_nodes import list_all_excluded
from cigri.settings.deadlines import read_moment
from modules import killer
from tests.cli.running import Run, running
from tests.grid import Grid, until

SOON = timedelta(seconds=300)  # the walltime of the jobs is 600
PILOT = (
    'cd "$JOBSTATUS"; echo {used} >used_CPU; echo $(($(date +%s) - {age})) >last_job_start; '
    "echo {before} >add_uncom_time; echo $(($(date +%s) + 50)) >first_exp_job_end; "
    "echo 7 >add_final_exp_waste; echo http://site >last_exp_job_end; exec sleep 300"
)


@pytest.fixture
def stat(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    with running(gridstat.main, database_url, tmp_path, monkeypatch, capsys) as run:
        yield run


@pytest.fixture
def clusters(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    with running(gridclusters.main, database_url, tmp_path, monkeypatch, capsys) as run:
        yield run


def drain(grid: Grid, ahead: timedelta = SOON, *, kills: bool = False, keep: int = 0) -> datetime:
    """Wish it; the deadline."""
    with grid.database.begin() as conn:
        deadline = (server_time(conn) + ahead).replace(microsecond=0)
        put_drain(conn, grid.site.name, ClusterDrain(deadline, kills, keep, "oper"))
    return deadline


def start(grid: Grid, *commands: str) -> None:
    """A campaign of one task for each command; all run, and wrote that they do."""
    for number, command in enumerate(commands):
        grid.submit([f"{grid.place}/here{number}"], command=f'echo "$JOBFEATURES" >"$1"; {command}')
    places = [Path(grid.place, f"here{number}") for number in range(len(commands))]
    live = "SELECT count(*) FROM jobs WHERE state = 'running'"
    grid.run_until(lambda: grid.one(live) == len(commands) and all(place.exists() for place in places))


def announced(grid: Grid, number: int) -> str | None:
    features = Path(grid.place, f"here{number}").read_text().strip()
    path = Path(features, "shutdowntime_job")
    return path.read_text().strip() if path.exists() else None


def killed(grid: Grid) -> list[int]:
    """Campaigns of the jobs asked to be killed."""
    found = grid.rows("SELECT campaign_id FROM kills JOIN jobs ON jobs.id = job_id ORDER BY campaign_id")
    return [row["campaign_id"] for row in found]


def told(grid: Grid) -> list[str]:
    return [row["message"] for row in grid.rows("SELECT message FROM events WHERE code = 'CLUSTER_DRAIN' ORDER BY id")]


def test_running_jobs_are_told_once_in_one_command(local: Grid, stat: Run, clusters: Run) -> None:
    start(local, "exec sleep 300", "exec sleep 300")
    deadline = drain(local)
    before = local.gateway.commands[local.site.name]
    killer.run_once(local.tools)
    assert local.gateway.commands[local.site.name] - before == 2  # their figures are asked, then they are told
    assert [announced(local, number) for number in (0, 1)] == [str(int(deadline.timestamp()))] * 2
    killer.run_once(local.tools)
    assert local.gateway.commands[local.site.name] - before == 2
    [message] = told(local)
    assert message.startswith("2 jobs on 2 cores told to end by ")
    assert "kill_waste " in message
    assert killed(local) == []
    [shown] = clusters("--json").json
    assert (shown["state"], "it is to be empty on" in shown["reason"]) == ("draining", True)
    assert "draining" in stat(1).out
    assert local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 2


def test_jobs_that_end_in_time_are_not_told(local: Grid) -> None:
    start(local, "exec sleep 300")
    drain(local, timedelta(seconds=700))
    killer.run_once(local.tools)
    assert announced(local, 0) is None
    assert told(local) == []


def test_drained_cluster_gets_no_jobs_and_gives_back_those_that_wait(local: Grid) -> None:
    local.submit([str(number) for number in range(6)], command="exec sleep 300")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'submitted'") == 2)
    drain(local)
    local.run_until(lambda: local.counts() == {"assigned": 4, "waiting": 2})
    for _ in range(3):
        local.cycle()
    assert local.counts() == {"assigned": 4, "waiting": 2}
    local.assert_sane()


def test_undrained_cluster_goes_on(local: Grid) -> None:
    start(local, "exec sleep 300")
    drain(local)
    killer.run_once(local.tools)
    assert announced(local, 0)
    with local.database.begin() as conn:
        enable_cluster(conn, local.site.name, enabled=True)
    killer.run_once(local.tools)
    assert announced(local, 0) is None
    assert local.one("SELECT count(*) FROM shutdowns") == 0
    local.submit(["x"])
    local.run_until(lambda: local.one("SELECT count(*) FROM tasks WHERE state = 'done'") == 1)


def test_without_kill_jobs_are_left_to_run(local: Grid) -> None:
    start(local, "exec sleep 300")
    drain(local, timedelta(seconds=-1))
    killer.run_once(local.tools)
    assert killed(local) == []


def test_least_waste_is_killed_first_and_the_rest_is_kept(local: Grid, stat: Run) -> None:
    """The last figure rules: 900 + 1 * 100 is less than 5000 and than 0 + 1 * 2000."""
    pilots = [PILOT.format(used=1, age=age, before=before) for age, before in ((2000, 0), (100, 900), (0, 5000))]
    start(local, *pilots)
    until(lambda: all(figures["is_own"] for figures in (stat("-j", i, "--json").json["figures"] for i in (1, 2, 3))))
    shown = stat("-j", 2)
    assert "last_exp_job_end: 'http://site' is no number" in shown.err
    figures = stat("-j", 2, "--json").json["figures"]
    assert 1000 <= figures["kill_waste"] < 1060
    assert figures["draining_waste"] == 7
    drain(local, timedelta(seconds=-1), kills=True, keep=2)
    killer.run_once(local.tools)
    assert killed(local) == [2]
    [message] = told(local)
    assert message.startswith("1 jobs on 1 cores killed: job 2 of ")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'ended'") == 1)
    assert local.one("SELECT outcome::text FROM jobs WHERE state = 'ended'") == "preempted"
    for _ in range(2):
        local.cycle()
    assert killed(local) == [2]


def test_jobs_told_are_those_killed(local: Grid) -> None:
    """Whoever was told has had its notice: it goes, though another would waste less by now."""
    start(local, PILOT.format(used=1, age=10, before=0), PILOT.format(used=1, age=500, before=0))
    drain(local, kills=True, keep=1)
    killer.run_once(local.tools)
    assert [bool(announced(local, number)) for number in (0, 1)] == [True, False]
    features = Path(Path(local.place, "here0").read_text().strip())
    (features.parent / "jobstatus" / "add_uncom_time").write_text("99999")
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE drains SET deadline = now() - interval '1 s'")
        conn.exec_driver_sql("UPDATE shutdowns SET at = (SELECT deadline FROM drains)")
    killer.run_once(local.tools)
    assert killed(local) == [1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+90s", timedelta(seconds=90)),
        ("+30min", timedelta(minutes=30)),
        ("+2h", timedelta(hours=2)),
        ("+1d", timedelta(days=1)),
        ("2026-12-01T08:00Z", None),
        ("2026-12-01 08:00+00:00", None),
    ],
)
def test_times_are_written_as_people_do(text: str, expected: timedelta | None) -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    wanted = now + expected if expected else datetime(2026, 12, 1, 8, tzinfo=UTC)
    assert read_moment(text, now) == wanted


def test_the_time_that_a_job_was_suspended_is_not_of_its_walltime(local: Grid) -> None:
    start(local, "exec sleep 300")
    drain(local, timedelta(seconds=700))  # it could last for 600 only
    local.cycle()
    assert announced(local, 0) is None
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE jobs SET halted_seconds = 200")
    killer.run_once(local.tools)
    assert announced(local, 0)


def machine_of(grid: Grid, number: int) -> str | None:
    """What the job finds of its machine's shutdown."""
    path = Path(Path(grid.place, f"here{number}").read_text().strip()).parent / "machinefeatures" / "shutdowntime"
    return path.read_text().strip() if path.exists() else None


@pytest.mark.parametrize("ahead", [300, 700], ids=["late", "in-time"])
def test_all_that_runs_hears_of_the_machines_shutdown_until_the_time_has_come(local: Grid, ahead: int) -> None:
    """A job that ends in time by its walltime (600 s) has no shutdown of its own."""
    start(local, "exec sleep 300")
    deadline = drain(local, timedelta(seconds=ahead))
    killer.run_once(local.tools)
    assert machine_of(local, 0) == str(int(deadline.timestamp()))
    assert (announced(local, 0) is not None) is (ahead == 300)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE drains SET deadline = now() - interval '1 s'")
        conn.exec_driver_sql("UPDATE shutdowns SET at = (SELECT deadline FROM drains)")
    for _ in range(2):
        killer.run_once(local.tools)
        assert machine_of(local, 0) is None
    assert (announced(local, 0) is not None) is (ahead == 300)
    before = local.gateway.commands[local.site.name]
    killer.run_once(local.tools)
    assert local.gateway.commands[local.site.name] == before


def test_an_undrained_cluster_shuts_no_machine_down(local: Grid) -> None:
    start(local, "exec sleep 300")
    drain(local)
    killer.run_once(local.tools)
    assert machine_of(local, 0)
    with local.database.begin() as conn:
        enable_cluster(conn, local.site.name, enabled=True)
    killer.run_once(local.tools)
    assert machine_of(local, 0) is None


def test_jobs_that_are_kept_hear_of_no_shutdown_of_their_machine(local: Grid) -> None:
    start(local, PILOT.format(used=1, age=10, before=0), PILOT.format(used=1, age=500, before=0))
    drain(local, keep=1)
    killer.run_once(local.tools)
    assert [bool(machine_of(local, number)) for number in (0, 1)] == [True, False]


def test_a_node_that_drains_tells_its_jobs_and_no_others_until_it_is_admitted(local: Grid) -> None:
    start(local, "exec sleep 300")
    node = local.one("SELECT node FROM jobs")
    with local.database.begin() as conn:
        deadline = (server_time(conn) + SOON).replace(microsecond=0)
        cluster_id = conn.exec_driver_sql("SELECT id FROM clusters").scalar_one()
        for name, at in ((node, deadline), ("elsewhere", deadline - timedelta(seconds=60))):
            put_node_drain(conn, cluster_id, NodeDrainRequest(name, at, "oper"))
        assert list_all_excluded(conn) == {cluster_id: sorted([node, "elsewhere"])}
    killer.run_once(local.tools)
    assert announced(local, 0) == machine_of(local, 0) == str(int(deadline.timestamp()))
    (message,) = told(local)
    assert message.startswith("1 jobs on 1 cores told to end by ")
    assert local.one("SELECT subject FROM events WHERE code = 'CLUSTER_DRAIN'") == f"node {node} of here"
    sooner = drain(local, timedelta(seconds=200))  # the cluster goes first
    killer.run_once(local.tools)
    assert announced(local, 0) == machine_of(local, 0) == str(int(sooner.timestamp()))
    with local.database.begin() as conn:
        enable_cluster(conn, local.site.name, enabled=True)
    killer.run_once(local.tools)
    assert announced(local, 0) == str(int(deadline.timestamp()))
    with local.database.begin() as conn:
        end_node_drains(conn, cluster_id, [node])
    killer.run_once(local.tools)
    assert (announced(local, 0), machine_of(local, 0)) == (None, None)
    assert killed(local) == []
