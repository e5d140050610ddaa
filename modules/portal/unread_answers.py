"""Answers on their way to who has asked: in pieces, none before the one before is read, and counted by user."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cigri.errors import TooManyRequests
from cigri.formats.units import MEGABYTE
from cigri.identity.callers import Caller

MOST_UNREAD = 32 * MEGABYTE  # bytes of answers to one user
PIECE_OF_ANSWER = 2**16  # bytes; so many are handed to the kernel at once


class UnreadAnswers:
    """Bytes by user; all of it happens in the thread that serves."""

    def __init__(self) -> None:
        self._bytes = Counter[str]()

    def require_read(self, user: str) -> None:
        """Raise TooManyRequests where this user has asked for more than is read."""
        if self._bytes[user] >= MOST_UNREAD:
            raise TooManyRequests(
                f"{MOST_UNREAD // MEGABYTE} MB of answers to you are not read yet: read them before you ask for more"
            )

    @contextmanager
    def counted(self, user: str, size: int) -> Iterator[None]:
        """While so many bytes are kept for this user."""
        self._bytes[user] += size
        try:
            yield
        finally:
            self._bytes[user] -= size
            self._bytes += Counter()  # without those who have none


class AnswersInPieces:
    """An ASGI application in front of another one, which finds out who asks."""

    def __init__(self, app: ASGIApp, unread: UnreadAnswers) -> None:
        self._app, self._unread = app, unread

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_pieces(message: Message) -> None:
            body: bytes = message.get("body", b"")
            if len(body) <= PIECE_OF_ANSWER:
                await send(message)
                return
            visitor: Caller | None = scope.get("state", {}).get("visitor")
            with self._unread.counted(visitor.user if visitor else "", len(body)):
                for first in range(0, len(body), PIECE_OF_ANSWER):
                    last = first + PIECE_OF_ANSWER
                    has_more = last < len(body) or message.get("more_body", False)
                    await send({"type": message["type"], "body": body[first:last], "more_body": has_more})

        await self._app(scope, receive, send_in_pieces)
