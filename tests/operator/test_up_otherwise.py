"""`cigri up` in other circumstances, each with an installation of its own."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.lifecycle import CYCLE
from tests.operator.conftest import CIGRI, Installation, until
from tests.operator.spare_host import readable_places
from tests.test_embedded import is_rejecting, keep_in_recovery, promote

REFUSE_FORECASTS = """\
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the oracle is silent'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON forecasts EXECUTE FUNCTION refuse()"""
"""Of all modules only the predictor writes there."""
Install = Callable[..., Installation]
ORDINARY = "daemon"  # an account of every Linux, with a home that exists


def test_a_module_that_fails_is_an_event_and_stops_no_other(install: Install) -> None:
    grid = install(CIGRI_SET_ALMIGHTY__PERIOD="0.2")
    assert grid.run("up", "--no-almighty").status == 0
    grid.submit(1, "sleep 300")
    grid.execute(REFUSE_FORECASTS)
    said = grid.run("up")
    assert said.status == 0, said
    assert "module predictor failed" in said.err
    query = "SELECT subject, count > 2 FROM events WHERE code = 'MODULE_FAILED' AND closed_at IS NULL"
    until(lambda: grid.query(query) == [("module predictor", True)])
    said = grid.run("status")
    assert said.status == 1
    assert "the oracle is silent" in said.err
    assert grid.one("SELECT count(*) FROM modules WHERE error IS NULL AND name <> 'predictor'") == len(CYCLE) - 1
    grid.execute("DROP TRIGGER refuse ON forecasts")
    assert grid.run("run", "predictor").status == 0


def test_modules_run_by_hand_without_the_almighty(install: Install) -> None:
    grid = install()
    said = grid.run("up", "--no-almighty")
    assert said.status == 0, said
    assert not (grid.data / "almighty.pid").exists()
    said = grid.run("status")
    assert said.status == 1
    assert "nothing cycles the modules" in said.err
    campaign = grid.submit(1)

    def is_over() -> bool:
        said = grid.run("run", *CYCLE)
        assert said.status == 0, said
        return grid.one(f"SELECT state::text FROM campaigns WHERE id = {campaign}") == "terminated"

    until(is_over, what="the end of the campaign")
    assert grid.run("status").status == 0
    assert grid.run("run", "nosuch").status == 2
    grid.submit(1)
    grid.execute(REFUSE_FORECASTS)
    failed = grid.run("run", "predictor")
    assert failed.status == 1
    assert "predictor failed" in failed.err


def test_passes_for_ever_end_after_the_pass_when_asked(install: Install) -> None:
    grid = install()
    assert grid.run("up", "--no-almighty").status == 0
    process = subprocess.Popen(
        [*CIGRI, "run", "updator", "--every", "0.1"], env=grid.environment, stdout=subprocess.PIPE, text=True
    )
    until(lambda: grid.one("SELECT coalesce(max(passes), 0) >= 3 FROM modules WHERE name = 'updator'"))
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert [line for line in out.splitlines() if not line.startswith("updator: ")] == []
    assert len(out.splitlines()) <= 1  # the cluster's nodes were news; other passes had none


def test_a_second_almighty_of_one_data_directory_is_refused(install: Install) -> None:
    grid = install()
    assert grid.run("up").status == 0
    said = grid.run("almighty")
    assert said.status == 1
    assert f"running already, as process {grid.almighty()}" in said.err


def test_an_almighty_that_does_not_start_is_told_with_its_log(install: Install) -> None:
    grid = install()
    said = grid.run("up", more={"CIGRI_SET_ALMIGHTY__JANITOR": "every night"})
    assert said.status == 1
    assert "the almighty does not start" in said.err
    assert "Wrong number of fields" in said.err
    assert "The portal (process" in grid.run("down").out, "it was started before, and is found"


def test_a_database_that_repairs_itself_is_waited_for(install: Install) -> None:
    grid = install()
    assert grid.run("up", "--no-almighty").status == 0
    database = grid.data / "database"
    keep_in_recovery(database)
    argv, environment = [*grid.command, "up"], grid.environment
    with subprocess.Popen(argv, env=environment, cwd=grid.home, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        told = up.stdout.readline()
        assert told == "The database starts, or repairs what a crash has left: waiting for it, up to 600 s\n"
        assert is_rejecting(database)
        assert "repairs what a crash has left; `cigri up` waits for it" in grid.run("status").err
        assert up.poll() is None
        promote(database)
        assert up.wait(100) == 0, up.stdout.read()
    assert grid.run("status").status == 0


def test_a_data_directory_that_jobs_cannot_use_is_refused(install: Install) -> None:
    grid = install()
    said = grid.run("up", more={"CIGRI_SET_DATA_DIRECTORY": str(grid.data / "with space")})
    subprocess.run(
        [*CIGRI, "down"],
        env={**grid.environment, "CIGRI_SET_DATA_DIRECTORY": str(grid.data / "with space")},
        check=True,
        capture_output=True,
    )
    assert said.status == 2
    assert "choose a data_directory of letters" in said.err


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_has_a_grid_too() -> None:
    account = pwd.getpwnam(ORDINARY)
    home = Path("/var/tmp") / f"cigri-test-{os.getpid()}"
    home.mkdir(mode=0o755)
    prefix = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "--")
    try:
        python = _python_for(prefix, home)
        os.chown(home, account.pw_uid, account.pw_gid)
    except BaseException:
        shutil.rmtree(home)
        raise
    grid = Installation(home, None, prefix, python)
    try:
        up = grid.run("up")
        assert up.status == 0, up
        said = grid.run("cluster", "test", "localhost")
        assert said.status == 0, said
        assert f"commands run as {ORDINARY}" in said.out
        assert grid.run("status").status == 0
        assert {path.owner() for path in grid.data.rglob("*") if path.exists()} == {ORDINARY}
        example = Path(up.out.partition("gridsub ")[2].split()[0])
        assert example.read_text().startswith("# A first campaign")
        grid.data.chmod(0o700)
        os.chown(grid.data, 0, 0)
        for word in ("up", "down", "almighty", "status"):  # of a user of the site, on the operator's installation
            said = grid.run(word)
            assert (said.status, said.out) == (1, "")
            assert said.err.count("\n") == 1
            assert "closed to you" in said.err or f"Permission denied (you are {ORDINARY})" in said.err
        os.chown(grid.data, account.pw_uid, account.pw_gid)
    finally:
        grid.clear()


def _python_for(prefix: tuple[str, ...], home: Path) -> str:
    """An environment with our packages whose interpreter the user may run: ours may lie in root's home."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (os.path.realpath(sys.executable), f"/usr/bin/python{version}"):
        tried = subprocess.run([*prefix, "sh", "-c", f"exec {python} -c ''"], capture_output=True, check=False)
        if tried.returncode == 0:
            subprocess.run([python, "-m", "venv", "--without-pip", home / "venv"], check=True)
            (home / f"venv/lib/python{version}/site-packages/ours.pth").write_text("\n".join(readable_places()))
            return str(home / "venv/bin/python")
    reason = f"no Python {version} that {ORDINARY} may run"
    pytest.skip(reason)
