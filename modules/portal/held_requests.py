"""Requests that prefer to wait (`Prefer: wait=10`, RFC 7240), and all of CiGri 3's, are held until there is an answer.

Meanwhile they take neither a thread nor a turn of their user; when the time is over, they are told that it is to come.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from modules.portal.deferred_responses import ResponsePending
from modules.portal.fair_queue import FairQueue

LONGEST_WAIT = 50  # seconds: proxies give up after 60
MOST_HELD = 10  # requests of one user; more are not held
WAIT = re.compile(r'wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?', re.IGNORECASE | re.ASCII)


class HeldRequests:
    """Counted in the thread that serves, which alone calls this."""

    def __init__(self, turns: FairQueue) -> None:
        self._turns, self._held = turns, Counter[str]()

    async def answer_as_preferred(self, request: Request, user: str, attempt: Callable[[], Response]) -> Response:
        """As `answer`, for as long as the request says; the answer tells that it was heard."""
        wait = preferred_wait(request.headers)
        response = await self.answer(user, attempt, wait)
        if wait:
            response.headers["Preference-Applied"] = f"wait={wait}"
        return response

    async def answer(self, user: str, attempt: Callable[[], Response], wait: int) -> Response:
        """What `attempt` gives, called in a thread and in a turn of this user, and again when there is more to say.

        Raise its ResponsePending when so many seconds are over.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + wait
        while True:
            try:
                async with self._turns.turn(user):
                    return await run_in_threadpool(attempt)
            except ResponsePending as pending:
                if not await self._hold(user, pending.answer, deadline - clock()):
                    raise

    async def _hold(self, user: str, answer: "Future[Any]", seconds: float) -> bool:
        """Whether it is there in time."""
        if seconds <= 0 or self._held[user] >= MOST_HELD:
            return False
        loop, is_there = asyncio.get_running_loop(), asyncio.Event()

        def tell(_answer: "Future[Any]") -> None:
            with suppress(RuntimeError):  # the portal has ended
                loop.call_soon_threadsafe(is_there.set)

        self._held[user] += 1
        try:
            answer.add_done_callback(tell)
            async with asyncio.timeout(seconds):
                await is_there.wait()
        except TimeoutError:
            return False
        finally:
            self._held[user] -= 1
            self._held += Counter()  # without those who have none
        return True


def preferred_wait(headers: Headers) -> int:
    """Seconds; 0: none are named. Of several the first counts, and what is not understood is as if it was not there."""
    for line in headers.getlist("prefer"):
        for preference in line.split(","):
            if named := WAIT.fullmatch(preference.strip()):
                return min(int(named[1] or named[2]), LONGEST_WAIT)
    return 0
