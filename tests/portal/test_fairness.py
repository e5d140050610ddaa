"""One user never stalls others, however much is asked."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.errors import TooManyRequests
from cigri.settings.sections import Settings
from modules.portal import fair_queue
from modules.portal.authentication import Authenticator
from modules.portal.fair_queue import FairQueue
from modules.portal.round_robin import RoundRobin
from modules.portal.settings_in_force import SettingsInForce
from modules.portal.unread_answers import UnreadAnswers
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Mint, Served, bearer
from tests.portal.raw import connected
from tests.waiting import looks

HEAD = "GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n"
TASKS = "/api/v1/campaigns/1/tasks?limit=10000"


def asking(token: str, path: str) -> bytes:
    return HEAD.format(path, bearer(token)["Authorization"]).encode()


@pytest.fixture
def queue(database: Database) -> FairQueue:
    return FairQueue(Authenticator(SettingsInForce(Settings()), database), UnreadAnswers())


def test_users_are_served_in_turn() -> None:
    waiting = RoundRobin[int]()
    for user, element in (("alice", 1), ("alice", 2), ("alice", 3), ("bob", 4), ("carol", 5), ("bob", 6)):
        waiting.put(user, element)
    assert waiting.take(lambda user: user == "carol") == ("carol", 5)
    taken = [waiting.take() for _ in range(6)]
    assert taken == [("alice", 1), ("bob", 4), ("alice", 2), ("bob", 6), ("alice", 3), None]


class Crowd:
    """Requests that work until they are told to end."""

    def __init__(self, queue: FairQueue) -> None:
        self._queue = queue
        self._ends: list[asyncio.Event] = []
        self.working: list[str] = []

    async def send(self, *users: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._work(user)) for user in users]
        await self.settle()
        return tasks

    async def settle(self) -> None:
        """Until nobody has anything to do but to wait."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def _work(self, user: str) -> None:
        async with self._queue.turn(user):
            end = asyncio.Event()
            self._ends.append(end)
            self.working.append(user)
            await end.wait()

    async def end_one(self) -> None:
        """The one that has worked longest."""
        self._ends.pop(0).set()
        await self.settle()


def test_a_user_has_few_at_work_and_others_begin_at_once(queue: FairQueue) -> None:
    async def crowd() -> list[str]:
        crowd = Crowd(queue)
        tasks = await crowd.send(*["alice"] * 10, "bob")
        seen = list(crowd.working)
        while not all(task.done() for task in tasks):
            await crowd.end_one()
        assert sorted(crowd.working) == ["alice"] * 10 + ["bob"]
        return seen

    assert asyncio.run(crowd()) == ["alice"] * fair_queue.MOST_WORKING_OF_USER + ["bob"]


def test_where_all_places_are_taken_each_user_gets_the_next_in_turn(
    queue: FairQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_queue, "MOST_WORKING", 2)

    async def crowd() -> list[str]:
        crowd = Crowd(queue)
        tasks = await crowd.send(*["alice"] * 4, "bob", "bob", "carol")
        while not all(task.done() for task in tasks):
            await crowd.end_one()
        return crowd.working

    assert asyncio.run(crowd()) == ["alice", "alice", "alice", "bob", "carol", "alice", "bob"]


def test_what_is_too_much_is_refused_and_work_that_fails_makes_room(queue: FairQueue) -> None:
    async def crowd() -> None:
        crowd = Crowd(queue)
        tasks = await crowd.send(*["alice"] * (fair_queue.MOST_WORKING_OF_USER + fair_queue.MOST_QUEUED))
        with pytest.raises(TooManyRequests, match="100 requests of yours wait already"):
            async with queue.turn("alice"):
                raise AssertionError
        with pytest.raises(RuntimeError):
            async with queue.turn("bob"):
                raise RuntimeError
        while not all(task.done() for task in tasks):
            await crowd.end_one()
        async with queue.turn("alice"):
            pass

    asyncio.run(crowd())


def test_who_goes_away_keeps_no_place(queue: FairQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the turn has come, and when it has come at just this moment."""
    monkeypatch.setattr(fair_queue, "MOST_WORKING", 1)

    async def crowd() -> list[str]:
        crowd = Crowd(queue)
        async with queue.turn("alice"):
            gone, called, last = await crowd.send("bob", "carol", "dave")
            gone.cancel()
            await crowd.settle()
        called.cancel()  # it has not heard yet that it may go on
        await crowd.settle()
        assert (gone.cancelled(), called.cancelled(), last.done()) == (True, True, False)
        await crowd.end_one()
        assert last.done()
        return crowd.working

    assert asyncio.run(crowd()) == ["dave"]


@contextmanager
def stalled(database: Database) -> Iterator[None]:
    """Whoever asks for tasks waits for the database meanwhile."""
    with database.begin() as conn:
        conn.execute(text("LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE"))
        yield


def waiting_for_tasks(database: Database) -> int:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with database.read() as conn:
        return int(conn.execute(text(waits)).scalar_one())


def test_slow_requests_of_one_user_keep_nobody_waiting(open_portal: Served, database: Database, mint: Mint) -> None:
    """By either way to it, strangers too; when the database goes on, all of them are answered."""
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2, user="nobody")
    token, other = mint("nobody"), mint("daemon")
    with ExitStack() as stack:
        lines = [stack.enter_context(connected(open_portal.port)) for _ in range(60)]
        with stalled(database):
            for line in lines:
                line.say(asking(token, TASKS))
            assert any(waiting_for_tasks(database) == fair_queue.MOST_WORKING_OF_USER for _ in looks())
            with connected(open_portal.port) as quick, connected(open_portal.port) as stranger:
                quick.say(asking(other, "/api/v1/whoami"))
                stranger.say(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert (quick.status(), stranger.status()) == (200, 401)
            assert open_portal.get("/api/v1/whoami").status == 200
            assert waiting_for_tasks(database) == fair_queue.MOST_WORKING_OF_USER
        assert [line.status() for line in lines] == [200] * 60


@pytest.mark.parametrize("path", ["/api/v1/whoami", "/cigri-api/campaigns", "/campaigns/1"])
def test_who_asks_for_too_much_is_told_when_to_ask_again(
    path: str, portal: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_queue, "MOST_QUEUED", 0)
    with connected(portal.place) as line:
        line.say(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        head, _, body = line.rest().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 5" in head.lower()
    told = json.loads(body)
    assert told.get("detail", told.get("message")) == (
        "0 requests of yours wait already: let some be answered before you send more"
    )
