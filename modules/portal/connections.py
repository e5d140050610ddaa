"""The portal's connections: HTTP/1.1 that knows who is at the other end, and does not wait for ever."""

import asyncio
import socket
from collections import Counter
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cigri.identity.unix_sockets import peer_of

CHANGES = "/changes"
"""Where browsers are told, without an end, what changes."""
MOST_AT_ONCE = 512  # connections; the database is asked by far fewer at a time
BY_TCP = -1
"""Counted as one account: whose they are is not known, and this host has as many addresses as anybody likes."""


class PeerHttpProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it; each request knows its peer, which no header can change.

    A connection is closed when nothing comes by it before the first request, or after one, for as long as uvicorn keeps
    it alive; when the head of a request takes longer than `patience`, nothing more of its body comes, or nothing of an
    answer is read. Where its account has more of them than are left, that one of them is closed on which we wait
    longest: a proxy serves many, and yet another finds room.
    """

    patience = 20.0  # seconds
    opened: ClassVar[Counter[int]] = Counter()
    """Connections by the number of the account at the other end."""
    awaited: ClassVar[dict["PeerHttpProtocol", None]] = {}
    """Those on which it is the other end's to go on, the one on which we wait longest first."""
    _uid = BY_TCP
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport) -> None:  # type: ignore[no-untyped-def]  # asyncio's own type is wider
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock.family == socket.AF_UNIX:
            peer = peer_of(sock)
            self.app_state = {**self.app_state, "peer": peer}
            self._uid = peer.uid
        self.opened[self._uid] += 1
        self._wait()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
        if self.opened[self._uid] > MOST_AT_ONCE - self.opened.total():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._wait_no_more()
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.patience, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._note_reading()

    def shutdown(self) -> None:
        """What is told without an end ends with the portal; other answers are finished first."""
        super().shutdown()
        if self.cycle is not None and self.cycle.scope["path"] == CHANGES:
            self._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        self._note_reading()
        self.opened[self._uid] -= 1
        super().connection_lost(exc)

    def _wait(self) -> None:
        """For the rest of a head, all in one time, for the next piece of a body, or that the last answer is read."""
        is_theirs = self.transport.is_closing() or self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if self._waiting is None and is_theirs:
            self._waiting = self.loop.call_later(self.patience, self._give_up)
            self.awaited[self] = None

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            del self.awaited[self]

    def _note_reading(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        self._wait_no_more()
        if self.flow.read_paused:  # it is ours to go on
            self._wait()
        else:
            self.transport.abort()

    def _make_room(self) -> None:
        """By the end of this connection itself, where the others are at work."""
        own = (one for one in self.awaited if one._uid == self._uid and not one.flow.read_paused)
        next(own)._give_up()
