"""The embedded PostgreSQL comes, goes, and leaves nothing outside its directory."""

import os
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import psycopg
import pytest
from psycopg import pq

from cigri.database import embedded
from cigri.errors import ConfigError, DatabaseUnavailable
from tests.grid import until

pytestmark = pytest.mark.process


def answers(url: str) -> bool:
    with psycopg.connect(url) as conn:
        return conn.execute("SELECT 1").fetchone() == (1,)


def test_it_starts_twice_and_stops_once(tmp_path: Path) -> None:
    url = embedded.start(tmp_path)
    assert embedded.start(tmp_path) == url
    assert answers(url)
    assert embedded.stop(tmp_path)
    assert not embedded.stop(tmp_path)
    with pytest.raises(DatabaseUnavailable, match="cigri up"):
        embedded.url(tmp_path)


def test_a_deep_directory_leaves_no_socket_directory_behind(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)
    url = embedded.start(deep)
    assert answers(url)
    sockets = Path(unquote(url.partition("host=")[2]))
    assert sockets.is_dir()
    assert len(str(sockets)) < 60
    embedded.stop(deep)
    assert not sockets.exists()


def test_only_its_owner_may_speak_to_it(tmp_path: Path) -> None:
    embedded.start(tmp_path)
    try:
        assert stat.S_IMODE((tmp_path / ".s.PGSQL.5432").stat().st_mode) == 0o700
        with psycopg.connect(embedded.url(tmp_path)) as conn:
            assert conn.execute("SHOW listen_addresses").fetchone() == ("",)
    finally:
        embedded.stop(tmp_path)


def test_a_killed_server_starts_again_with_its_rows(tmp_path: Path) -> None:
    with psycopg.connect(embedded.start(tmp_path), autocommit=True) as conn:
        conn.execute("CREATE TABLE kept AS SELECT 7 AS number")
    embedded.kill(tmp_path)
    with psycopg.connect(embedded.start(tmp_path)) as conn:
        assert conn.execute("SELECT number FROM kept").fetchone() == (7,)
    embedded.stop(tmp_path)


def test_a_server_that_repairs_itself_is_waited_for(tmp_path: Path) -> None:
    """A process of it that dies by -9 takes all others with it, but the first, which takes nobody in meanwhile."""
    with psycopg.connect(embedded.start(tmp_path), autocommit=True) as conn:
        conn.execute("CREATE TABLE large AS SELECT g FROM generate_series(1, 200000) g")
        [(pid,)] = conn.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'").fetchall()
        os.kill(int(pid), signal.SIGKILL)
    until(lambda: pq.PGconn.ping(embedded.url(tmp_path).encode()) == pq.Ping.REJECT)
    assert answers(embedded.start(tmp_path))
    embedded.stop(tmp_path)


def keep_in_recovery(directory: Path) -> None:
    """From its next start on the server repairs itself until it is promoted, and takes nobody in."""
    with psycopg.connect(embedded.url(directory), autocommit=True) as conn:
        conn.execute("ALTER SYSTEM SET hot_standby = off")
    embedded.stop(directory)
    (directory / "data" / "standby.signal").touch()


def promote(directory: Path) -> None:
    embedded._run(directory / "data", "pg_ctl", "-W", "-D", str(directory / "data"), "promote")


def is_rejecting(directory: Path) -> bool:
    """Whether a server is there, and says that it takes nobody in."""
    info = embedded._living(directory)
    return info is not None and pq.PGconn.ping(embedded._address(info, "postgres").encode()) == pq.Ping.REJECT


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_server_that_repairs_itself_for_long_is_waited_for_with_a_word(tmp_path: Path, is_begun: bool) -> None:
    """`is_begun`: whoever has started it went away before it was ready."""
    embedded.start(tmp_path)
    keep_in_recovery(tmp_path)
    if is_begun:
        data, options = str(tmp_path / "data"), f"-h '' -k '{tmp_path}'"
        embedded._run(tmp_path / "data", "pg_ctl", "-W", "-D", data, "-l", f"{tmp_path}/log", "-o", options, "start")
        until(lambda: is_rejecting(tmp_path))
    told: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        url = pool.submit(embedded.start, tmp_path, told.append)
        until(lambda: told)
        assert not url.done()
        with pytest.raises(DatabaseUnavailable, match="repairs what a crash has left; `cigri up` waits for it"):
            embedded.url(tmp_path)
        promote(tmp_path)
        assert answers(url.result(60))
    assert told == ["The database starts, or repairs what a crash has left: waiting for it, up to 600 s"]
    embedded.stop(tmp_path)


def test_a_server_that_repairs_itself_is_stopped(tmp_path: Path) -> None:
    embedded.start(tmp_path)
    keep_in_recovery(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        url = pool.submit(embedded.start, tmp_path)
        until(lambda: is_rejecting(tmp_path))
        assert embedded.stop(tmp_path)
        with pytest.raises(DatabaseUnavailable):
            url.result(60)


@pytest.mark.parametrize(("is_there", "asked"), [(True, 4), (False, 1)])
def test_a_server_that_says_nothing_is_waited_for_while_it_lives(
    monkeypatch: pytest.MonkeyPatch, is_there: bool, asked: int
) -> None:
    answers = [pq.Ping.NO_RESPONSE, pq.Ping.REJECT, pq.Ping.NO_RESPONSE, pq.Ping.OK]
    monkeypatch.setattr(pq, "PGconn", SimpleNamespace(ping=lambda _: answers.pop(0)))
    embedded.wait_until_ready("postgresql://", lambda: is_there)
    assert len(answers) == 4 - asked


def test_an_initdb_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    (tmp_path / "data.new").mkdir()
    (tmp_path / "data.new" / "PG_VERSION").write_text("18\n")
    assert answers(embedded.start(tmp_path))
    embedded.stop(tmp_path)


def test_data_of_a_version_that_is_not_carried_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").write_text("9\n")
    with pytest.raises(ConfigError, match="PostgreSQL 9"):
        embedded.start(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="root only")
def test_root_needs_no_account_and_opens_no_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    embedded.start(tmp_path)
    embedded.stop(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert (tmp_path / "data").stat().st_uid == 0
