"""Who is let in, and for how long."""

import os
import selectors
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.localbatch.server import CLIENT_PATIENCE, SOCKET, SocketServer


@pytest.fixture
def selector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[selectors.BaseSelector]:
    monkeypatch.chdir(tmp_path)
    with selectors.DefaultSelector() as selector:
        yield selector


def visit(selector: selectors.BaseSelector) -> socket.socket:
    """A client that has been looked at."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(SOCKET)
    for key, _ in selector.select(10):
        key.data()
    return client


def test_the_daemon_of_a_user_turns_others_away(selector: selectors.BaseSelector) -> None:
    server = SocketServer(selector, only_uid=os.getuid() + 1)
    with visit(selector) as client:
        assert client.recv(1) == b""
    assert os.stat(SOCKET).st_mode & 0o777 == 0o600
    server.close()


def test_a_silent_client_is_shown_out_after_a_while(selector: selectors.BaseSelector) -> None:
    server = SocketServer(selector, only_uid=None)
    with visit(selector) as client:
        server.drop_silent(time.monotonic() + CLIENT_PATIENCE / 2)
        assert server.next_due() < time.monotonic() + CLIENT_PATIENCE
        server.drop_silent(server.next_due())
        assert client.recv(1) == b""
    assert server.next_due() == float("inf")
    server.close()
