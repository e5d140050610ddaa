"""Settings are read when the portal starts and when SIGHUP says so; no request reads them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from cigri.database import Database
from cigri.identity.unix_sockets import UnixSocketConnection, is_served
from cigri.settings import loading, sources
from modules import operator
from tests.portal.browser import Browser
from tests.portal.conftest import Served
from tests.portal.test_browser_pages import PAGES
from tests.portal.test_changes import EVERY, ask, put_grid
from tests.waiting import looks

MAIL = '[notify]\nsmtp = "localhost:25"\n'
SUBSCRIPTION = json.dumps({"address": "mail:me@example.org"})


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has asked for settings since, by the names of functions."""
    readers = list[str]()

    def note(*_args: object, **_named: object) -> sources.RawSettings:
        readers.append(sys._getframe(1).f_code.co_name)
        return sources.RawSettings({}, {})

    monkeypatch.setattr(sources, "gather", note)
    monkeypatch.setattr(loading, "gather", note)
    return readers


def test_no_request_reads_settings(portal: Served, nobody: int, database: Database, gathered: list[str]) -> None:
    with database.begin() as conn:
        put_grid(conn)
    readers = {}
    for endpoint in EVERY:
        assert ask(portal, endpoint).status < 500, endpoint.name
        ask(portal, endpoint, nobody)
        if gathered:
            readers[endpoint.name] = gathered.copy()
            gathered.clear()
    assert readers == {}


def test_no_page_reads_settings(browser: Browser, gathered: list[str]) -> None:
    assert {path: browser.get(path).status for path in PAGES}.keys() == set(PAGES)
    assert gathered == []


class PortalProcess(NamedTuple):
    """A portal as `cigri portal` runs it, with the files of its settings and of its log."""

    process: "subprocess.Popen[bytes]"
    place: Path
    settings: Path
    log: Path

    def wait(self) -> None:
        """Until it listens, or has ended."""
        assert any(is_served(self.place) or self.process.poll() for _ in looks(what="the portal listens"))
        assert self.process.poll() is None, self.log.read_text()

    def subscribe(self) -> tuple[int, str]:
        connection = UnixSocketConnection(self.place)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/api/v1/subscriptions", SUBSCRIPTION, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def reload(self, text: str, said: str) -> None:
        """Write other settings and have them read, until the log says so."""
        before = self.log.read_text().count(said)
        self.settings.write_text(text)
        self.process.send_signal(signal.SIGHUP)
        assert any(self.log.read_text().count(said) > before for _ in looks(what=said))


@contextmanager
def started_portal(database_url: str, directory: Path, stdin: int = subprocess.DEVNULL) -> Iterator[PortalProcess]:
    settings, place, log = directory / "cigri.toml", directory / "portal.sock", directory / "log"
    environment = {
        **os.environ,
        "CIGRI_CONFIG": str(settings),
        "CIGRI_SET_DATABASE__URL": database_url,
        "CIGRI_SET_PORTAL__SOCKET": str(place),
        "CIGRI_SET_DATA_DIRECTORY": str(directory),
    }
    argv = [sys.executable, "-P", "-m", "modules.operator", "portal"]
    with (
        log.open("wb") as written,
        subprocess.Popen(argv, env=environment, stdin=stdin, stderr=written) as process,
    ):
        try:
            yield PortalProcess(process, place, settings, log)
        finally:
            process.terminate()


@pytest.fixture
def portal_process(database_url: str, tmp_path: Path) -> Iterator[PortalProcess]:
    (tmp_path / "cigri.toml").write_text("")
    with started_portal(database_url, tmp_path) as portal:
        portal.wait()
        yield portal


@pytest.mark.process
def test_sighup_has_the_settings_read_again(portal_process: PortalProcess) -> None:
    status, said = portal_process.subscribe()
    assert (status, "this grid sends no mail" in said) == (409, True), said
    portal_process.settings.write_text(MAIL)
    assert portal_process.subscribe()[0] == 409, "nothing was read"
    portal_process.reload(MAIL, "The settings were read again")
    assert portal_process.subscribe()[0] == 200
    portal_process.reload("[notify]\nsmtp = 5\n", "The settings stay as they were")
    assert portal_process.subscribe()[0] == 200
    portal_process.reload("", "The settings were read again")
    assert portal_process.subscribe()[0] == 409


@pytest.mark.process
def test_a_sighup_that_comes_while_the_portal_begins_is_kept(database_url: str, tmp_path: Path) -> None:
    """It comes in the middle of the first reading, which a pipe makes wait; what is there then holds."""
    settings = tmp_path / "cigri.toml"
    os.mkfifo(settings)
    with started_portal(database_url, tmp_path) as portal:
        first = _opened_by_its_reader(settings)
        settings.unlink()
        settings.write_text(MAIL)
        portal.process.send_signal(signal.SIGHUP)
        os.close(first)
        portal.wait()
        assert portal.subscribe()[0] == 200


def test_a_portal_that_does_not_start_leaves_sighup_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    """Else what its process starts later never hears the signal."""
    with suppress(SystemExit):
        operator.main(["portal", "--loud"])
    assert "--loud" in capsys.readouterr().err
    assert signal.SIGHUP not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.process
def test_a_terminal_that_goes_ends_the_portal(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "cigri.toml").write_text("")
    ours, theirs = os.openpty()
    with started_portal(database_url, tmp_path, theirs) as portal:
        portal.wait()
        portal.process.send_signal(signal.SIGHUP)
        assert portal.process.wait(60) == -signal.SIGHUP
    os.close(ours)
    os.close(theirs)


def _opened_by_its_reader(pipe: Path) -> int:
    for _ in looks(what="somebody reads"):
        with suppress(OSError):  # ENXIO until then
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    raise AssertionError
