"""Databases that are restored and copied, by a real pg_dump: no name comes twice, nothing is touched unasked."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from cigri.database import Database, embedded
from cigri.errors import DatabaseCopied
from cigri.flow.grid_identity import put_detached, put_home, require_grid_identity
from modules.operator import main
from tests.grid import Grid, until

from .conftest import Installation

Restored = Callable[[], Grid]
WAITS = "until [ -e {place}/go ]; do sleep 0.05; done"


@pytest.fixture
def dump(local: Grid, server: Path, tmp_path: Path) -> Iterator[Callable[[], Restored]]:
    """Dumps the database of the grid; called again, restores it under another name, as a grid on the same cluster."""
    tools, made = embedded.binaries(server), list[Grid]()
    url = local.database.url.replace("+psycopg", "")

    def write() -> Restored:
        file = tmp_path / "dump"
        subprocess.run([tools / "pg_dump", "-Fc", "-f", file, url], check=True)

        def restore() -> Grid:
            name = f"{url.split('/')[-1].partition('?')[0]}_again"
            with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
                conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
                conn.execute(f"CREATE DATABASE {name}".encode())
            subprocess.run([tools / "pg_restore", "-d", embedded.url(server, name), file], check=True)
            again = Grid(Database(embedded.url(server, name)), local.site, local.place, local.settings)
            with again.database.begin() as conn:
                conn.exec_driver_sql(f"UPDATE grid SET key = '{local.one('SELECT key FROM grid')}'")
            made.append(again)
            return again

        return restore

    yield write
    for grid in made:
        grid.gateway.close()
        grid.database.close()


def on(grid: Grid, monkeypatch: pytest.MonkeyPatch, *argv: str) -> int:
    """The operator's command on this grid."""
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", grid.database.url.replace("+psycopg", ""))
    return main(list(argv))


def running(grid: Grid) -> bool:
    return bool(grid.one("SELECT count(*) FILTER (WHERE state = 'running') = count(*) FROM jobs"))


def outputs(grid: Grid) -> dict[str, str]:
    """What each job of the database has printed, by its campaign's name."""
    base = Path(grid.site.config["directory"]) / str(grid.one("SELECT key FROM grid"))
    rows = grid.rows("SELECT name, campaign_id, batch_id, array_index FROM jobs JOIN campaigns c ON c.id = campaign_id")
    return {
        row["name"]: (base / f"c{row['campaign_id']}/b{row['batch_id']}/{row['array_index']}.1.out").read_text()
        for row in rows
    }


def test_after_a_restore_no_name_comes_again(local: Grid, dump: Callable[[], Restored]) -> None:
    restore = dump()
    local.submit(["1"], name="before", command="echo before")
    local.run_to_end()
    again = restore()
    assert again.submit(["1"], name="after", command="echo after") == 1  # its number is that of the other
    again.run_to_end()
    assert outputs(again) == {"after": "after\n"}
    assert outputs(local) == {"before": "before\n"}
    assert again.one("SELECT failures FROM clusters") == 0
    again.assert_sane()


@pytest.mark.parametrize("have_ended", [False, True])
def test_jobs_of_before_a_restore_are_found_and_adopted(
    local: Grid,
    dump: Callable[[], Restored],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    have_ended: bool,
) -> None:
    local.submit(["one", '"it is  two"', "three"], command=WAITS.format(place=local.place))
    restore = dump()
    local.run_until(lambda: len(local.executions()) == 3)
    if have_ended:
        Path(local.place, "go").touch()
        local.run_to_end()
    again = restore()
    assert on(again, monkeypatch, "doctor", "--clusters") == int(not have_ended)
    assert "3 jobs of " in capsys.readouterr().out
    assert on(again, monkeypatch, "doctor", "--clusters", "--adopt") == 0
    assert "3 jobs of " in (said := capsys.readouterr().out)
    assert "were adopted" in said
    assert on(again, monkeypatch, "doctor", "--clusters") == 0
    Path(local.place, "go").touch()
    again.run_to_end()
    again.assert_each_ran_once(3)
    assert again.submit(["4"]) == 2  # its jobs get numbers behind those that were adopted
    again.run_to_end()


def test_what_is_another_s_by_now_is_not_adopted_and_can_be_killed(
    local: Grid,
    dump: Callable[[], Restored],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    restore = dump()
    local.submit(["1"], command=WAITS.format(place=local.place))
    local.run_until(lambda: len(local.executions()) == 1)
    again = restore()
    again.submit(["2"])  # with the numbers of the other campaign and its task
    status = on(again, monkeypatch, "doctor", "--clusters", "--adopt")
    assert "campaign 1 is another one here" in capsys.readouterr().out
    assert status == 1
    assert on(again, monkeypatch, "doctor", "--clusters", "--kill-orphans") == 1
    assert "1 of them were killed" in capsys.readouterr().out
    again.run_to_end()
    again.assert_sane()


def test_what_lives_elsewhere_is_noticed(local: Grid, dump: Callable[[], Restored]) -> None:
    with local.database.begin() as conn:
        require_grid_identity(conn, "/data on machine a")
        require_grid_identity(conn, "/data on machine a")
        require_grid_identity(conn, "")
        for place in ("/data on machine b", "/other on machine a"):
            with pytest.raises(DatabaseCopied, match=place):
                require_grid_identity(conn, place)
    again = dump()()
    with again.database.begin() as conn:
        with pytest.raises(DatabaseCopied, match="cigri db moved"):
            require_grid_identity(conn, "/data on machine a")
        put_home(conn, "/data on machine a")
        require_grid_identity(conn, "/data on machine a")


def test_no_module_runs_on_a_copy_before_somebody_says_what_it_is(
    local: Grid, dump: Callable[[], Restored], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert on(local, monkeypatch, "run", "matcher") == 0
    again = dump()()
    for words in (["run", "matcher"], ["almighty"], ["doctor", "--clusters"]):
        assert on(again, monkeypatch, *words) == 2
        assert "cigri db copied" in capsys.readouterr().err
    assert again.one("SELECT visited_at IS NULL FROM clusters")
    assert on(again, monkeypatch, "db", "moved") == 0
    assert on(again, monkeypatch, "run", "matcher") == 0


def test_a_copy_leaves_clusters_and_jobs_to_its_original(local: Grid, dump: Callable[[], Restored]) -> None:
    local.submit(["1", "2"], command=WAITS.format(place=local.place))
    local.run_until(lambda: len(local.executions()) == 2 and running(local))
    copy = dump()()
    with copy.database.begin() as conn:
        assert put_detached(conn, "", copy.settings.jobs) == 2
    assert copy.one("SELECT key FROM grid") != local.one("SELECT key FROM grid")
    for _ in range(3):
        copy.cycle()
    assert copy.gateway.commands.total() == 0
    assert copy.counts() == {"waiting": 2}
    copy.assert_sane()
    assert copy.rows("SELECT code FROM events WHERE closed_at IS NULL") == [{"code": "CLUSTER_LEFT_ALONE"}]
    Path(local.place, "go").touch()
    local.run_to_end()
    local.assert_each_ran_once(2)


def test_a_cluster_of_a_copy_is_used_once_it_is_enabled(
    local: Grid, dump: Callable[[], Restored], monkeypatch: pytest.MonkeyPatch
) -> None:
    local.submit(["1"])
    copy = dump()()
    assert on(copy, monkeypatch, "db", "copied") == 0
    assert on(copy, monkeypatch, "cluster", "enable", "here") == 0
    copy.run_to_end()
    copy.assert_each_ran_once(1)
    assert not copy.rows("SELECT 1 FROM events WHERE closed_at IS NULL")


def test_up_notices_that_its_data_directory_is_a_copy(install: Callable[..., Installation], tmp_path: Path) -> None:
    original = install()
    assert original.run("up").status == 0
    assert original.run("down").status == 0
    copy = install()
    sockets = shutil.ignore_patterns(".s.PGSQL*", "socket", "portal.sock")
    shutil.copytree(original.data, copy.data, symlinks=True, ignore=sockets)
    said = copy.run("up")
    assert said.status == 2
    assert f"its grid last ran in {original.data}" in said.err
    assert "cigri db moved" in said.err
    assert copy.run("db", "copied").status == 0
    assert copy.run("up").status == 0
    assert copy.one("SELECT is_enabled FROM clusters") is False
    assert original.run("up").status == 0  # where it was it goes on
    assert os.listdir(tmp_path)


@pytest.mark.parametrize("is_older", [False, True], ids=["same schema", "older schema"])
def test_a_backup_is_restored_as_the_documentation_says(install: Callable[..., Installation], is_older: bool) -> None:
    """The commands of docs/how-to/back-up-and-restore.md, by a shell; a newer database has a table more."""
    grid = install()
    assert grid.run("up").status == 0
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "back-up-and-restore.md").read_text()
    blocks = text.partition("## Back up\n")[2].split("```sh\n")[1:4]
    backup, restore, restore_older = (block.partition("```")[0] for block in blocks)
    until(lambda: grid.one("SELECT count(*) FROM clusters") == 1)
    command = f'cigri() {{ {" ".join(grid.command)} "$@"; }}\nset -eu\ncd {grid.home}\n'
    dump = grid.home / "cigri.dump"
    dump.write_text("of yesterday, for everybody")
    dump.chmod(0o666)
    command = f"umask 0\n{command}"

    def play(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", command + script], env=grid.environment, capture_output=True, text=True)

    assert play(backup).returncode == 0
    if is_older:
        grid.execute("CREATE TABLE later (cluster_id bigint REFERENCES clusters)")
        assert "cannot drop constraint pk_clusters" in play(restore).stderr
    done = play(restore_older if is_older else restore)
    assert done.returncode == 0, done.stdout + done.stderr
    assert grid.one("SELECT count(*) FROM clusters") == 1
    assert grid.one("SELECT to_regclass('later')") is None
    assert stat.S_IMODE(dump.stat().st_mode) == 0o600, "the parameters of all campaigns are in it"
    assert grid.run("status").status == 0
