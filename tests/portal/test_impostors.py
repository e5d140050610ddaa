"""A client asks whom its settings name, and finds out by the kernel whether it is he."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.errors import ConfigError
from cigri.identity.unix_sockets import UnixSocketConnection

pytestmark = pytest.mark.process
LISTEN_AS = """\
import os, socket, sys
uid = int(sys.argv[2])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
with socket.socket(socket.AF_UNIX) as sock:
    sock.bind(sys.argv[1])
    sock.listen()
    print("listening", flush=True)
    caller, _ = sock.accept()
    print(caller.recv(100), flush=True)
"""


@pytest.fixture
def impostor(tmp_path: Path, nobody: int) -> "Iterator[tuple[Path, subprocess.Popen[str]]]":
    """A socket of nobody's, in a directory where everybody may write, as in /tmp."""
    tmp_path.chmod(0o755)
    place = tmp_path / "everybody" / "portal.sock"
    place.parent.mkdir()
    place.parent.chmod(0o1777)
    argv = [sys.executable, "-I", "-c", LISTEN_AS, place.name, str(nobody)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=place.parent) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        yield place, process
        process.kill()


def test_a_client_tells_nothing_to_a_foreign_server(impostor: "tuple[Path, subprocess.Popen[str]]") -> None:
    place, process = impostor
    remote = PortalClient(place)
    with pytest.raises(ConfigError, match="is neither root, nor you, nor the owner of its directory"):
        remote.call(whoami)
    assert process.stdout is not None
    assert process.stdout.readline() == "b''\n"


def test_a_link_to_a_foreign_socket_deceives_no_client(
    impostor: "tuple[Path, subprocess.Popen[str]]", tmp_path: Path
) -> None:
    (tmp_path / "portal.sock").symlink_to(impostor[0])
    with pytest.raises(ConfigError, match="is neither root"):
        UnixSocketConnection(tmp_path / "portal.sock").connect()


def test_whoever_owns_the_directory_may_serve_there(
    impostor: "tuple[Path, subprocess.Popen[str]]", nobody: int
) -> None:
    os.chown(impostor[0].parent, nobody, nobody)
    connection = UnixSocketConnection(impostor[0])
    connection.connect()
    assert isinstance(connection.sock, socket.socket)
    connection.close()
