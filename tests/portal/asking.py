"""Asks a portal as somebody else, whom the kernel takes for the one who asks."""

import atexit
import json
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.portal import asker


def ask_as(uid: int, place: Path, request: list[Any]) -> tuple[int, Any]:
    """Send method, path, headers and body to the socket at `place`; the status and what the JSON says.

    A Python that begins for each request would take more CPU than all that the portal does.
    """
    ours, theirs = socket.socketpair()
    with ours, ours.makefile("rw") as lines:
        with theirs:
            socket.send_fds(_control(), [asker.MESSAGE], [theirs.fileno()])
        asked = {"uid": uid, "directory": str(place.parent), "name": place.name, "request": request}
        lines.write(json.dumps(asked) + "\n")
        lines.flush()
        told = json.loads(lines.read())
    assert isinstance(told, list), told
    status, text = told
    return status, json.loads(text)


@cache
def _control() -> socket.socket:
    """Of the process that forks those who ask; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        argv = [sys.executable, "-I", "-S", asker.__file__, str(theirs.fileno())]
        process = subprocess.Popen(argv, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.shutdown(socket.SHUT_RDWR)  # also for processes that have inherited it
        process.wait()
        ours.close()

    atexit.register(end)
    return ours
