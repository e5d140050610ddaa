"""`Prefer: wait=N`: a request is held until the answer is there, and holds up nobody."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from starlette.datastructures import Headers

from cigri.endpoints.jobs import outputs
from cigri.identity.unix_sockets import UnixSocketConnection
from modules.portal import held_requests
from modules.portal.held_requests import LONGEST_WAIT, MOST_HELD, preferred_wait
from tests.portal.conftest import Served
from tests.waiting import looks

OUTPUT = "/api/v1/jobs/1/outputs?streams=out"
LONG = 120.0  # seconds


class WaitingCluster:
    """A gateway whose cluster answers when it is let go."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Semaphore(0), threading.Event()

    def request_all(self, *_: object) -> Any:
        self.asked.release()
        assert self.go.wait(LONG)
        return SimpleNamespace(of=lambda _: "what it wrote")

    def close(self) -> None:
        self.go.set()


class HeldAnswer(NamedTuple):
    status: int
    applied: str | None
    body: Any


def ask(portal: Served, prefer: str, path: str = OUTPUT) -> HeldAnswer:
    connection = UnixSocketConnection(portal.place, LONG)
    try:
        connection.request("GET", path, headers={"Prefer": prefer})
        response = connection.getresponse()
        return HeldAnswer(response.status, response.headers["Preference-Applied"], json.loads(response.read()))
    finally:
        connection.close()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[WaitingCluster]:
    cluster = WaitingCluster()
    monkeypatch.setattr("modules.portal.deferred_responses.TransportGateway", lambda: cluster)
    yield cluster
    cluster.go.set()


@pytest.fixture
def several() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2 * MOST_HELD) as pool:
        yield pool


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([], 0),
        (["wait=10"], 10),
        (["respond-async, WAIT = 7; x=1"], 7),
        (['handling=lenient, wait="8"'], 8),
        (["wait=3, wait=9"], 3),
        (["return=minimal", "wait=4"], 4),
        (["wait=100000"], LONGEST_WAIT),
        (["wait=-1"], 0),
        (["wait"], 0),
        (["wait=1e9, wait=\N{ARABIC-INDIC DIGIT ONE}, await=5"], 0),
        (["wait=" + "9" * 5000], 0),
    ],
)
def test_what_is_preferred(lines: list[str], seconds: int) -> None:
    raw = [(b"prefer", line.encode("latin-1", "replace")) for line in lines]
    assert preferred_wait(Headers(raw=raw)) == seconds


def test_a_held_request_gets_the_answer(cluster: WaitingCluster, web: Served, several: ThreadPoolExecutor) -> None:
    waiting = several.submit(ask, web, "wait=40")
    assert cluster.asked.acquire(timeout=LONG)
    assert ask(web, "") == HeldAnswer(202, None, {"state": "asked"})
    cluster.go.set()
    told = waiting.result(LONG)
    assert (told.status, told.applied) == (200, "wait=40")
    assert "what it wrote" in json.dumps(told.body)


def test_who_has_waited_is_told_to_ask_again(cluster: WaitingCluster, web: Served) -> None:
    assert ask(web, "wait=1") == HeldAnswer(202, None, {"state": "asked"})
    assert ask(web, "wait=1", "/api/v1/whoami").applied is None, "no cluster is asked for it"


def test_those_who_wait_take_no_turns_and_are_few(
    cluster: WaitingCluster, web: Served, several: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Semaphore(0)
    hold = held_requests.HeldRequests._hold

    async def noted(self: held_requests.HeldRequests, user: str, answer: Future[Any], seconds: float) -> bool:
        if self._held[user] < MOST_HELD:
            held.release()
        return await hold(self, user, answer, seconds)

    monkeypatch.setattr(held_requests.HeldRequests, "_hold", noted)
    waiting = [several.submit(ask, web, "wait=50") for _ in range(MOST_HELD)]
    for _ in waiting:
        assert held.acquire(timeout=LONG)
    assert web.get("/api/v1/whoami").status == 200
    assert ask(web, "wait=50").status == 202, "it is one too many, and is not held"
    assert not any(one.done() for one in waiting)
    cluster.go.set()
    assert [one.result(LONG).status for one in waiting] == [200] * MOST_HELD


def test_commands_ask_once(cluster: WaitingCluster, web: Served, several: ThreadPoolExecutor) -> None:
    asked: list[str] = []
    exchange = UnixSocketConnection.request

    def counted(self: UnixSocketConnection, method: str, url: str, *args: Any, **more: Any) -> None:
        asked.append(url)
        exchange(self, method, url, *args, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(UnixSocketConnection, "request", counted)
        told = several.submit(lambda: web.call(outputs, job_id=1, streams=["out"]))
        assert cluster.asked.acquire(timeout=LONG)
        assert any(asked for _ in looks())
        cluster.go.set()
        assert "what it wrote" in str(told.result(LONG))
    assert len(asked) == 1
