"""What a role, a database or a program in between may do to sessions, and what CiGri says to it: real PostgreSQL."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from sqlalchemy import text

from cigri.cli import gridstat
from cigri.database import Database, embedded
from cigri.database.sessions import SESSION_SETTINGS
from tests.grid import Grid, Site
from tests.operator.conftest import Cigri
from tests.waiting import looks

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
ODD_DEFAULTS = {
    "datestyle": "German",
    "intervalstyle": "iso_8601",
    "timezone": "Asia/Kathmandu",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "search_path": "nowhere",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "statement_timeout": "1ms",
    "idle_session_timeout": "1ms",
    "client_encoding": "LATIN1",
    "random_page_cost": "4",
    "jit": "on",
}


def name_of(url: str) -> str:
    return urlsplit(url).path.lstrip("/")


def set_defaults(url: str) -> None:
    name = name_of(url)
    with psycopg.connect(url, autocommit=True) as conn:
        for setting, value in ODD_DEFAULTS.items():
            conn.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'")


def test_each_setting_of_ours_is_tried_with_another_default() -> None:
    assert ODD_DEFAULTS.keys() - {"client_encoding"} == SESSION_SETTINGS.keys()


def test_settings_of_a_database_matter_to_nobody(
    cigri: Cigri, database_url: str, here: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_defaults(database_url)
    database = Database(database_url)
    try:
        with database.begin() as conn:
            found = {name: conn.scalar(text("SELECT current_setting(:name)"), {"name": name}) for name in ODD_DEFAULTS}
        assert found == {**SESSION_SETTINGS, "client_encoding": "UTF8"}
        grid = Grid(database, here, str(tmp_path / "work"))
        try:
            campaign = grid.submit(["é", "\\'", "\\\\"], name="Ωmega")
            grid.run_to_end()
            grid.assert_each_ran_once(3)
        finally:
            grid.gateway.close()
    finally:
        database.close()
    assert cigri("doctor").out
    assert gridstat.main([str(campaign)]) == 0
    assert "Ωmega" in capsys.readouterr().out


@pytest.fixture(params=["SQL_ASCII", "LATIN1"])
def narrow_url(request: pytest.FixtureRequest, empty_url: str) -> Iterator[tuple[str, str]]:
    """The URL of a database whose encoding does not hold all names, and that encoding."""
    name = name_of(empty_url)
    with psycopg.connect(empty_url.replace(name, "postgres"), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE narrow_{name} ENCODING {request.param} TEMPLATE template0 LOCALE 'C'")
        yield empty_url.replace(name, f"narrow_{name}"), request.param
        conn.execute(f"DROP DATABASE narrow_{name} WITH (FORCE)")


def test_a_database_that_does_not_hold_all_names_is_refused_with_what_to_do(
    cigri: Cigri, narrow_url: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, encoding = narrow_url
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", url)
    said = cigri("db", "upgrade")
    assert said.status == 2
    assert f"encoding {encoding}" in said.err
    assert "createdb --encoding UTF8 --template template0" in said.err


@contextmanager
def pooling(url: str, tmp_path: Path, mode: str, ignored: str) -> Iterator[str]:
    """The URL of a database by way of PgBouncer, which keeps a connection for a session or for a transaction."""
    assert PGBOUNCER is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = tmp_path / "pgbouncer.ini"
    configuration.write_text(
        f"""
[databases]
* = host={parse_qs(urlsplit(url).query)["host"][0]} user={embedded.USER}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
ignore_startup_parameters = extra_float_digits{ignored}
"""
    )
    prefix = embedded.AS_NOBODY if os.geteuid() == 0 else ()
    with subprocess.Popen([*prefix, PGBOUNCER, "-q", str(configuration)], stderr=subprocess.DEVNULL) as program:
        try:
            for _ in looks(what="PgBouncer listens"):
                with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
            yield f"postgresql://{embedded.USER}@127.0.0.1:{port}/{name_of(url)}"
        finally:
            program.terminate()


@pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed here")
@pytest.mark.parametrize("mode", ["session", "transaction"])
@pytest.mark.parametrize("ignored", ["", ",options"])
def test_a_pooler_in_between_is_refused(
    cigri: Cigri, database_url: str, tmp_path: Path, mode: str, ignored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pooling(database_url, tmp_path, mode, ignored) as url:
        with psycopg.connect(url) as conn:
            assert conn.execute("SELECT count(*) FROM campaigns").fetchone() == (0,), "it leads there"
        monkeypatch.setenv("CIGRI_SET_DATABASE__URL", url)
        for words in (("db", "check"), ("run", "updator"), ("almighty",), ("portal",)):
            said = cigri(*words)
            assert (said.status, "PgBouncer" in said.err) == (2, True), said
            assert "database.url" in said.err
