"""Who is at the other end of a unix socket: the kernel says it, and nothing that is sent changes it."""

import socket
import struct
from typing import NamedTuple

CREDENTIALS = struct.Struct("3i")


class SocketPeer(NamedTuple):
    """A process at the other end of a unix socket, as it was when it connected, or began to listen."""

    pid: int
    uid: int
    gid: int


def peer_of(sock: socket.socket) -> SocketPeer:
    """As the kernel keeps it; of another user namespace it knows the number that counts here."""
    return SocketPeer(*CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)))
