"""The unix socket: one line in, one answer out, any number of clients, none of whom can hold up the others."""

import logging
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

SOCKET = "socket"
LINE_LIMIT = 32 * 2**20
CLIENTS = 200
CLIENT_PATIENCE = 60.0
"""Seconds after which a client that neither speaks nor listens is shown out."""

logger = logging.getLogger(__name__)


class ClientRequest(NamedTuple):
    """A line and who said it."""

    connection: "ClientConnection"
    uid: int
    line: bytes


class ClientConnection:
    """One client; its uid comes from the kernel."""

    def __init__(self, peer: socket.socket) -> None:
        self.socket = peer
        self.uid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        self.heard_at = time.monotonic()
        self.incoming = bytearray()
        self.outgoing = memoryview(b"")


class SocketServer:
    """Collects requests; what is answered is sent by send_answers(), after the commit."""

    def __init__(self, selector: selectors.BaseSelector, only_uid: int | None) -> None:
        self.requests: list[ClientRequest] = []
        self._selector = selector
        self._only_uid = only_uid
        self._connections: set[ClientConnection] = set()
        self._answered: list[ClientConnection] = []
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.setblocking(False)
        self._listener.bind(SOCKET)
        os.chmod(SOCKET, 0o600 if only_uid else 0o666)
        self._listener.listen(CLIENTS)
        selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def answer(self, connection: ClientConnection, text: bytes) -> None:
        """Keep the answer until send_answers(): the client must not hear it before the commit."""
        connection.outgoing = memoryview(text)
        self._answered.append(connection)

    def send_answers(self) -> None:
        """Send what was answered; who does not take all of it at once gets the rest in later turns."""
        for connection in self._answered:
            self._selector.modify(connection.socket, selectors.EVENT_WRITE, self._talk(connection, self._send))
            self._talk(connection, self._send)()
        self._answered.clear()

    def next_due(self) -> float:
        """When drop_silent() may have work, on the monotonic clock."""
        return min((connection.heard_at + CLIENT_PATIENCE for connection in self._connections), default=float("inf"))

    def drop_silent(self, now: float) -> None:
        """Close connections at rest for CLIENT_PATIENCE; `now` is on the monotonic clock."""
        silent = [client for client in self._connections if client.heard_at + CLIENT_PATIENCE <= now]
        for connection in silent:
            self._drop(connection)

    def close(self) -> None:
        """Close all connections, be they answered or not, and listen no more."""
        for connection in list(self._connections):
            self._drop(connection)
        self._listener.close()

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError as error:
            logger.warning("a client could not be let in: %s", error)
            return
        peer.setblocking(False)
        connection = ClientConnection(peer)
        if self._only_uid not in (None, connection.uid) or len(self._connections) >= CLIENTS:
            logger.warning("a client of uid %d was turned away", connection.uid)
            peer.close()
            return
        self._connections.add(connection)
        self._selector.register(peer, selectors.EVENT_READ, self._talk(connection, self._receive))

    def _talk(self, connection: ClientConnection, action: Callable[[ClientConnection], None]) -> Callable[[], None]:
        def act() -> None:
            try:
                action(connection)
            except BlockingIOError:
                return
            except OSError:
                self._drop(connection)

        return act

    def _receive(self, connection: ClientConnection) -> None:
        piece = connection.socket.recv(2**18)
        connection.heard_at = time.monotonic()
        connection.incoming += piece
        if b"\n" in piece:
            line = bytes(connection.incoming).partition(b"\n")[0]
            self._selector.modify(connection.socket, selectors.EVENT_WRITE, lambda: None)
            self.requests.append(ClientRequest(connection, connection.uid, line))
        elif not piece or len(connection.incoming) > LINE_LIMIT:
            self._drop(connection)

    def _send(self, connection: ClientConnection) -> None:
        sent = connection.socket.send(connection.outgoing)
        connection.heard_at = time.monotonic()
        connection.outgoing = connection.outgoing[sent:]
        if not connection.outgoing:
            self._drop(connection)

    def _drop(self, connection: ClientConnection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            self._selector.unregister(connection.socket)
            connection.socket.close()
