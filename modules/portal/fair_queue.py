"""Who gets a worker thread, and with it a connection to the database: users in turn, and few for each.

So of each other user at most one request begins before one that waits.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from cigri.errors import TooManyRequests
from cigri.identity.unix_sockets import SocketPeer
from modules.portal.authentication import Authenticator, NotAuthenticated
from modules.portal.round_robin import RoundRobin
from modules.portal.unread_answers import UnreadAnswers

MOST_WORKING = 16  # requests at a time; who asks is found out in the threads that are left
MOST_WORKING_OF_USER = 3
MOST_QUEUED = 100  # requests of one user


class FairQueue:
    """All of it happens in the thread that serves."""

    def __init__(self, identities: Authenticator, unread: UnreadAnswers) -> None:
        self._identities, self._unread = identities, unread
        self._working = Counter[str]()
        self._waiting = RoundRobin[asyncio.Future[None]]()

    @asynccontextmanager
    async def turn_of(self, request: Request) -> AsyncIterator[None]:
        """A route that awaits something takes its turn itself, when there is work to do."""
        if iscoroutinefunction(request.scope["endpoint"]):
            yield
            return
        async with self.turn(await run_in_threadpool(self._who, request)):
            yield

    @asynccontextmanager
    async def turn(self, user: str) -> AsyncIterator[None]:
        """While there is work for this user; raise TooManyRequests where too much of this user's waits."""
        if self._waiting.count(user) >= MOST_QUEUED:
            raise TooManyRequests(
                f"{MOST_QUEUED} requests of yours wait already: let some be answered before you send more"
            )
        turn = asyncio.get_running_loop().create_future()
        self._waiting.put(user, turn)
        self._begin()
        try:
            await turn
            self._unread.require_read(user)
            yield
        finally:
            if not turn.cancelled():  # who goes before it comes is passed over
                self._working[user] -= 1
                self._working += Counter()  # without those who have none
                self._begin()

    def _begin(self) -> None:
        """As many as may work do."""
        while self._working.total() < MOST_WORKING and (next_one := self._waiting.take(self._may_work)) is not None:
            user, turn = next_one
            if not turn.done():  # the portal ends
                self._working[user] += 1
                turn.set_result(None)

    def _may_work(self, user: str) -> bool:
        return self._working[user] < MOST_WORKING_OF_USER

    def _who(self, request: Request) -> str:
        """Strangers are one user by TCP, else each account is; no user's name has a blank."""
        try:
            return self._identities.visitor(request).user
        except NotAuthenticated:
            peer: SocketPeer | None = getattr(request.state, "peer", None)
            return f"account {peer.uid}" if peer else "by TCP"
