"""What no HTTP library would say: bytes to a portal, and what comes back."""

import re
import select
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import looks

LONGEST_WAIT = 20.0  # seconds
STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)


class Line:
    """A connection to a unix socket, or to a port of 127.0.0.1."""

    def __init__(self, place: Path | int, context: ssl.SSLContext | None = None) -> None:
        family = socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET
        self._sock = socket.socket(family)
        self._sock.settimeout(LONGEST_WAIT)
        self._sock.connect(str(place) if isinstance(place, Path) else ("127.0.0.1", place))
        if context is not None:
            self._sock = context.wrap_socket(self._sock, server_hostname="127.0.0.1")
        self._heard = b""

    def say(self, text: bytes) -> None:
        self._sock.sendall(text)

    def say_until_refused(self, piece: bytes, limit: int) -> int:
        """Bytes that were taken until an answer came, or the connection ended."""
        sent = 0
        while sent < limit and not select.select([self._sock], [], [], 0)[0]:
            try:
                self.say(piece)
            except OSError:
                break
            sent += len(piece)
        return sent

    def drip_until_closed(self) -> bool:
        for _ in looks(LONGEST_WAIT, longest=0.1):
            try:
                self.say(b"x")
            except OSError:
                return True
        return False

    def status(self) -> int:
        """Of the first answer."""
        while not (found := STATUS.search(self._heard)):
            piece = self._sock.recv(65536)
            assert piece, f"no answer: {self._heard!r}"
            self._heard += piece
        return int(found[1])

    def until(self, text: bytes) -> None:
        while text not in self._heard:
            piece = self._sock.recv(65536)
            assert piece, f"it has ended: {self._heard!r}"
            self._heard += piece

    def statuses(self) -> list[int]:
        """Of all answers until the server ends the connection, or says no more for a while."""
        self._sock.settimeout(1.0)
        try:
            while piece := self._sock.recv(65536):
                self._heard += piece
        except (TimeoutError, OSError):
            pass  # nothing more is said
        return [int(status) for status in STATUS.findall(self._heard)]

    def rest(self) -> bytes:
        """All that is said until the server ends the connection."""
        while piece := self._sock.recv(65536):
            self._heard += piece
        return self._heard

    def is_closed(self) -> bool:
        """By the server, which says nothing before."""
        return self._sock.recv(65536) == b""

    def close(self) -> None:
        self._sock.close()


@contextmanager
def connected(place: Path | int, context: ssl.SSLContext | None = None) -> Iterator[Line]:
    line = Line(place, context)
    try:
        yield line
    finally:
        line.close()
