"""Browsers are told what changes: by one poller, only while somebody listens, and no longer than they may look."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic

import pytest

from cigri.database import Database
from cigri.errors import DatabaseUnavailable
from cigri.flow.browser_sessions import end_sessions
from cigri.flow.holds import hold_campaign
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from modules.portal import change_stream
from modules.portal.change_stream import ChangePoller
from modules.portal.listening import LAST_PATIENCE
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import Served, serving
from tests.waiting import looks

LONG = 120.0  # seconds
OWNER = Caller("nobody")


class Stream:
    """What one browser is told, as it comes."""

    def __init__(self, browser: Browser, path: str, **headers: str) -> None:
        self._sock = socket.create_connection(("127.0.0.1", browser.port), LONG)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        said = {
            "Host": browser.name,
            "Cookie": cookies,
            "Accept": "text/event-stream",
            "Connection": "close",
            **headers,
        }
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items() if value), "", ""]
        self._sock.sendall("\r\n".join(lines).encode())
        self.heard = ""
        self.until("\r\n\r\n")
        if self.status == 200:
            self.until(": listening\n\n")

    @property
    def status(self) -> int:
        return int(self.heard.split()[1])

    def until(self, word: str) -> str:
        while word not in self.heard:
            piece = self._sock.recv(65536)
            assert piece, f"it has ended: {self.heard}"
            self.heard += piece.decode()
        return self.heard

    def is_ended(self) -> bool:
        """All that is left is heard; the end comes before the patience is over."""
        while piece := self._sock.recv(65536):
            self.heard += piece.decode()
        return True

    def is_silent(self, seconds: float) -> bool:
        self._sock.settimeout(seconds)
        try:
            return self._sock.recv(65536) == b""
        except TimeoutError:
            return True
        finally:
            self._sock.settimeout(LONG)

    def close(self) -> None:
        self._sock.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_stream, "POLL_PAUSE", 0.05)


@contextmanager
def listening(browser: Browser, path: str, **headers: str) -> Iterator[Stream]:
    stream = Stream(browser, path, **headers)
    try:
        yield stream
    finally:
        stream.close()


def comes(fact: Callable[[], bool], seconds: float = LONG) -> bool:
    """Does it become true in time?"""
    for left in looks(seconds, longest=0.1):
        if fact() or left <= 0:
            return fact()
    raise AssertionError


def address(browser: Browser, page: str) -> str:
    """As the page gives it, with the stamp of what it shows."""
    told = browser.get(page).text.partition('data-changes="')[2].partition('"')[0]
    assert told
    return told.replace("&amp;", "&")


def hold(database: Database) -> None:
    with database.begin() as conn:
        hold_campaign(conn, 1, OWNER)


@pytest.mark.parametrize("page", ["/", "/?user=*", "/campaigns/1", "/campaigns/1/tasks/0"])
def test_a_page_is_told_what_changes_and_nothing_before(page: str, browser: Browser, web: Served) -> None:
    with listening(browser, address(browser, page)) as stream:
        assert "content-type: text/event-stream" in stream.heard.lower()
        assert stream.is_silent(0.3), "it shows what there is"
        hold(web.database)
        assert "event: changed\nid: " in stream.until("event: changed")


def test_what_changed_before_it_listened_is_told(browser: Browser, web: Served) -> None:
    path = address(browser, "/campaigns/1")
    hold(web.database)
    with listening(browser, path) as stream:
        stream.until("event: changed")


def test_a_browser_that_comes_again_is_not_told_twice(browser: Browser, web: Served) -> None:
    path = address(browser, "/campaigns/1")
    hold(web.database)
    with listening(browser, path) as stream:
        told = stream.until("data: changed").partition("id: ")[2].split()[0]
    with listening(browser, path, **{"Last-Event-ID": told}) as stream:
        assert stream.is_silent(0.3)


def test_other_campaigns_are_not_told_of(browser: Browser, web: Served) -> None:
    with listening(browser, address(browser, "/campaigns/3")) as stream:
        hold(web.database)
        assert stream.is_silent(0.3)


def test_what_does_not_change_is_fetched_anew_now_and_then(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_stream, "LONGEST_SILENCE", 0.2)
    with listening(browser, address(browser, "/campaigns/1")) as stream:
        stream.until("event: changed")


def test_a_stream_ends_with_its_session(browser: Browser, web: Served) -> None:
    with listening(browser, "/changes?campaign=1") as stream, web.database.begin() as conn:
        assert end_sessions(conn, OWNER) == 1
        conn.commit()
        assert stream.is_ended()
        assert "event: over" in stream.heard


def test_a_stream_ends_by_itself_so_that_its_browser_says_again_who_it_is(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_stream, "LONGEST_LISTENING", 0.2)
    with listening(browser, "/changes?campaign=1") as stream:
        assert stream.is_ended()
        assert "event: over" not in stream.heard


def test_strangers_are_told_nothing(web: Served) -> None:
    with listening(Browser(web.port), "/changes?campaign=1") as stream:
        assert stream.status == 401


def test_one_user_has_so_many_streams_and_no_more(
    browser: Browser, web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_stream, "MOST_LISTENERS", 3)
    with ExitStack() as stack:
        for _ in range(3):
            assert stack.enter_context(listening(browser, "/changes")).status == 200
        assert stack.enter_context(listening(browser, "/changes")).status == 503
        other = signed_in(web.database, web.port, "daemon")
        assert stack.enter_context(listening(other, "/changes")).status == 200
    assert comes(lambda: is_open(browser)), "those that have gone are no more counted"


def is_open(browser: Browser) -> bool:
    with listening(browser, "/changes") as stream:
        return stream.status == 200


def test_the_database_is_asked_once_for_all_and_not_while_nobody_listens(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    look = ChangePoller._look

    def counted(self: ChangePoller, ears: set[change_stream._Subscriber]) -> change_stream._ChangeStamps:
        counts.append(len(ears))
        return look(self, ears)

    monkeypatch.setattr(ChangePoller, "_look", counted)
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(listening(browser, "/changes?campaign=1&user="))
        assert comes(lambda: counts[-1:] == [5])
    assert comes(lambda: is_still(counts))


def is_still(counts: list[int]) -> bool:
    """For much longer than between two looks of the poller."""
    before = len(counts)
    return not comes(lambda: len(counts) != before, 0.3)


def test_streams_outlive_a_database_that_is_away(
    browser: Browser, web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, calls = ChangePoller._look, []

    def away(self: ChangePoller, ears: set[change_stream._Subscriber]) -> change_stream._ChangeStamps:
        calls.append(1)
        if len(calls) < 3:
            raise DatabaseUnavailable("it is away")
        return look(self, ears)

    path = address(browser, "/campaigns/1")
    hold(web.database)
    monkeypatch.setattr(ChangePoller, "_look", away)
    with listening(browser, path) as stream:
        stream.until("event: changed")


def test_a_portal_that_stops_waits_for_no_stream(database: Database, tmp_path: Path) -> None:
    with ExitStack() as stack:
        with serving(database, Settings(data_directory=tmp_path), tmp_path / "portal.sock", "127.0.0.1:0") as portal:
            browser = signed_in(database, portal.port)
            stream = stack.enter_context(listening(browser, "/changes?campaign=1"))
            began = monotonic()
        assert monotonic() - began < LAST_PATIENCE / 2
        assert stream.is_ended()
