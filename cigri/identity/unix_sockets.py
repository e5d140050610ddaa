"""Unix sockets: HTTP over them, and who is at the other end, which the kernel says and nothing that is sent changes."""

import os
import socket
import struct
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from cigri.errors import ConfigError
from cigri.identity.callers import SUPERUSER

LONGEST_ANSWER = 60.0  # seconds for an answer; the portal gives up each of its statements earlier
CREDENTIALS = struct.Struct("3i")


class SocketPeer(NamedTuple):
    """A process at the other end of a unix socket, as it was when it connected, or began to listen."""

    pid: int
    uid: int
    gid: int


def peer_of(sock: socket.socket) -> SocketPeer:
    """As the kernel keeps it; of another user namespace it knows the number that counts here."""
    return SocketPeer(*CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)))


class UnixSocketConnection(HTTPConnection):
    """HTTP to a unix socket, whose path may be longer than a socket's address."""

    def __init__(self, place: Path, timeout: float = LONGEST_ANSWER) -> None:
        super().__init__("localhost", timeout=timeout)
        self._place = place

    def connect(self) -> None:
        directory = os.open(self._place.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{directory}/{self._place.name}")
            self._require_right_server(os.fstat(directory).st_uid)
        finally:
            os.close(directory)

    def _require_right_server(self, owner: int) -> None:
        """A socket may have been put there by whoever may write there: nothing is told to a stranger."""
        uid = peer_of(self.sock).uid
        if uid in (0, os.geteuid(), owner):
            return
        self.close()
        raise ConfigError(
            f"{self._place}: who listens there, by number {uid}, is neither {SUPERUSER}, nor you, nor the owner of its "
            "directory: nothing was asked; see portal.socket"
        )


def is_served(place: Path) -> bool:
    """Does a portal listen there?"""
    connection = UnixSocketConnection(place)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True
