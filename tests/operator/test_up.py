"""One real grid, started by `cigri up`; whatever of it is killed, it goes on."""

import getpass
import os
import signal
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from cigri.database import Database, embedded, schema
from cigri.endpoints import Endpoint, R
from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.errors import DatabaseUnavailable
from cigri.flow.clusters import put_cluster
from cigri.installation import PORTAL_SOCKET
from modules.operator import down
from modules.operator.portal import NICENESS
from tests.operator.conftest import Installation, until

STATE = "SELECT state::text FROM campaigns WHERE id = {}"
DONE = "SELECT coalesce(sum(n), 0)::int FROM task_counts WHERE campaign_id = {} AND state = 'done'"


def finish(grid: Installation, campaign: int) -> None:
    until(lambda: grid.one(STATE.format(campaign)) == "terminated", what=f"the end of campaign {campaign}")


def portal(grid: Installation) -> int:
    return int((grid.data / "portal.pid").read_text().split()[0])


def asked_of(grid: Installation, endpoint: Endpoint[[], R]) -> R:
    remote = PortalClient(grid.data / PORTAL_SOCKET)
    try:
        return remote.call(endpoint)
    finally:
        remote.close()


def kill(pid: int) -> None:
    """-9, and wait until it is gone."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: not _is_alive(pid), what="its death")


def _is_alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


def test_a_grid_that_runs_says_so_and_is_left_alone(grid: Installation) -> None:
    pid = grid.almighty()
    said = grid.run("up")
    assert said.status == 0
    assert said.out == f"CiGri is running already: the almighty is process {pid}; `cigri status` tells more\n"
    assert grid.almighty() == pid


def test_a_campaign_comes_to_its_end(grid: Installation) -> None:
    campaign = grid.submit(3, "echo hello")
    finish(grid, campaign)
    assert grid.one(DONE.format(campaign)) == 3
    files = [
        path for path in (grid.data / "jobs").rglob(f"c{campaign}/*/*.out") if path.read_text().startswith("hello")
    ]
    assert len(files) == 3, "the files of jobs are in the data directory"


def test_status_shows_all_that_runs(grid: Installation) -> None:
    until(lambda: grid.one("SELECT count(*) FROM cluster_states") == 1)
    said = grid.run("status")
    assert said.status == 0, said
    for word in (
        f"schema {schema.newest()}",
        f"runs as process {grid.almighty()}",
        "campaign_schedulers",
        "localhost  local",
    ):
        assert word in said.out


def test_a_cluster_test_goes_all_the_way_and_leaves_nothing(grid: Installation) -> None:
    before = sorted((grid.data / "jobs").rglob("test-*"))
    said = grid.run("cluster", "test", "localhost")
    assert said.status == 0, said
    assert [line[0] for line in said.out.splitlines()] == ["✓"] * 10
    assert "its record and output came back" in said.out
    assert sorted((grid.data / "jobs").rglob("test-*")) == before == []


def test_a_killed_worker_is_replaced(grid: Installation) -> None:
    query = "SELECT pid FROM modules WHERE name = 'metascheduler'"
    pid = grid.one(query)
    assert isinstance(pid, int)
    kill(pid)
    until(lambda: grid.one(query) != pid, what="a new worker")
    finish(grid, grid.submit(1))


def test_a_killed_almighty_is_seen_and_started_again(grid: Installation) -> None:
    campaign = grid.submit(4, "sleep 1")
    until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'"))
    pid = grid.almighty()
    kill(pid)
    said = grid.run("status")
    assert said.status == 1
    assert "the almighty has died" in said.err
    said = grid.run("up")
    assert said.status == 0, said
    assert "had died; it goes on where it was" in said.err
    assert grid.almighty() != pid
    finish(grid, campaign)
    assert grid.one(DONE.format(campaign)) == 4


def test_the_portal_serves_those_who_ask(grid: Installation) -> None:
    told = asked_of(grid, whoami)
    assert (told.user, told.is_operator, told.how) == (getpass.getuser(), True, "kernel")
    assert stat.S_IMODE((grid.data / PORTAL_SOCKET).stat().st_mode) == 0o600, "this grid is its owner's alone"
    assert f"serves at {grid.data / PORTAL_SOCKET} as process {portal(grid)}" in grid.run("status").out


def test_the_portal_gives_way_to_the_cycle(grid: Installation) -> None:
    assert os.getpriority(os.PRIO_PROCESS, portal(grid)) == min(os.getpriority(os.PRIO_PROCESS, 0) + NICENESS, 19)


def test_a_killed_portal_is_seen_and_started_again(grid: Installation) -> None:
    pid = portal(grid)
    kill(pid)
    said = grid.run("status")
    assert said.status == 1
    assert "the portal has died; run `cigri up`" in said.err
    said = grid.run("up")
    assert said.status == 0, said
    assert "The portal is process " in said.out
    assert portal(grid) != pid
    assert asked_of(grid, whoami).is_operator


def test_a_portal_that_cannot_start_says_why(grid: Installation) -> None:
    kill(portal(grid))
    said = grid.run("up", more={"CIGRI_SET_PORTAL__SOCKET": str(grid.data / "none" / "portal.sock")})
    assert said.status == 1
    assert "the portal does not start" in said.err
    assert "portal.socket" in said.err
    assert grid.run("up").status == 0


def test_the_portal_outlives_the_database(grid: Installation) -> None:
    pid = portal(grid)
    kill(int((grid.data / "database/data/postmaster.pid").read_text().split()[0]))
    with pytest.raises(DatabaseUnavailable):
        asked_of(grid, whoami)
    assert grid.run("up").status == 0
    assert asked_of(grid, whoami).is_operator
    assert portal(grid) == pid


def test_a_killed_database_is_started_again_under_the_almighty(grid: Installation) -> None:
    campaign = grid.submit(4, "sleep 1")
    pid = grid.almighty()
    kill(int((grid.data / "database/data/postmaster.pid").read_text().split()[0]))
    said = grid.run("status")
    assert said.status == 1
    assert "is not running" in said.err
    said = grid.run("up")
    assert said.status == 0, said
    assert f"The almighty (process {pid}) goes on" in said.out
    finish(grid, campaign)
    assert grid.almighty() == pid


def test_the_portal_and_its_database_outlive_an_almighty_that_a_service_ends(grid: Installation) -> None:
    pid = portal(grid)
    kill(grid.almighty())
    said = grid.run("down", "--no-portal")
    assert said.status == 0, said
    assert f"The portal (process {pid}) goes on, and so does the embedded database" in said.out
    assert asked_of(grid, whoami).is_operator
    assert grid.run("up").status == 0
    assert portal(grid) == pid


def test_a_pid_file_of_an_earlier_life_is_no_almighty(grid: Installation) -> None:
    kill(grid.almighty())
    (grid.data / "almighty.pid").write_text(f"{os.getpid()} another-boot:1\n")
    said = grid.run("up")
    assert said.status == 0, said
    assert grid.almighty() != os.getpid()


def test_jobs_go_on_while_the_grid_is_down_and_are_found_again(grid: Installation, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho begun >>{tmp_path}/begun\nwhile ! [ -e {tmp_path}/go ]; do sleep 0.1; done\n")
    script.chmod(0o755)
    campaign = grid.submit(1, str(script))
    until((tmp_path / "begun").exists)
    said = grid.run("down")
    assert said.status == 0, said
    assert "1 jobs go on" in said.out
    assert "The embedded database has ended" in said.out
    assert not (grid.data / PORTAL_SOCKET).exists()
    assert (grid.data / "portal.pid").read_text() == "", "it did not die"
    assert grid.run("status").status == 1
    assert grid.run("down").out.count("was not running") == 4
    (tmp_path / "go").touch()
    assert grid.run("up").status == 0
    finish(grid, campaign)
    assert (tmp_path / "begun").read_text() == "begun\n", "the job ran once"


def test_jobs_are_killed_on_request_and_done_again(grid: Installation, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho begun >>{tmp_path}/begun\n[ -e {tmp_path}/go ] || exec sleep 600\n")
    script.chmod(0o755)
    campaign = grid.submit(1, str(script))
    until((tmp_path / "begun").exists)
    said = grid.run("down", "--jobs", "kill")
    assert said.status == 0, said
    assert "1 jobs of this host are killed" in said.out
    assert grid.processes() == []
    (tmp_path / "go").touch()
    assert grid.run("up").status == 0
    finish(grid, campaign)
    assert grid.one(DONE.format(campaign)) == 1


def test_the_doctor_finds_nothing_wrong_after_all_that(grid: Installation) -> None:
    def is_well() -> bool:
        said = grid.run("doctor")
        assert said.status == 0, said
        return "!" not in said.out

    until(is_well, what="a clean bill of health")


def test_a_second_up_is_quick(grid: Installation) -> None:
    """CPU seconds: the clock on the wall says more about the host."""
    before = os.times()
    assert grid.run_anew("up").status == 0
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    assert used < 4


def test_daemons_of_clusters_that_were_added_on_this_host_end_with_the_others(
    grid: Installation, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    added = grid.run("cluster", "add", "beside", "--driver", "local", "--option", f"spool={spool}")
    assert added.status == 0, added
    until(lambda: down.ask(spool, "probe"), what="the first visit")
    database = Database(embedded.url(grid.data / "database"))
    with database.begin() as conn:
        put_cluster(conn, "odd", {"driver": "local"})
    database.close()
    said = grid.run("down", "--jobs", "kill")
    assert said.status == 0, said
    assert "The daemon of cluster beside (process " in said.out
    assert grid.processes() == []
    assert grid.run("up").status == 0
