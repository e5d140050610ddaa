"""How much one user may hand over at a time, and for how long; each that is under way costs the portal something."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from cigri.errors import CigriError

LONGEST_SENDING = 900.0  # seconds until all is there

MOST_UPLOADS = 4  # of one user, by the API and by forms together


class UploadLimiter:
    """Counted in the thread that serves, which alone calls this."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def one_more(self, user: str) -> Iterator[None]:
        """While it is handed over; raise CigriError where as many are as may be."""
        if self._under_way[user] >= MOST_UPLOADS:
            raise CigriError(f"{MOST_UPLOADS} submissions of yours are under way: wait for one of them to end")
        self._under_way[user] += 1
        try:
            yield
        finally:
            self._under_way[user] -= 1


@asynccontextmanager
async def arriving() -> AsyncIterator[None]:
    """Where what is read within comes too slowly, raise CigriError."""
    try:
        async with asyncio.timeout(LONGEST_SENDING):
            yield
    except TimeoutError:
        raise CigriError(f"it took more than {LONGEST_SENDING:.0f} s to arrive: nothing was done") from None
