"""The real Apache in front of CiGri 3's paths, as docs/reference/cigri3.md has it, which asks by ident who they are."""

import json
import os
import re
import socketserver
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cigri.database import Database
from cigri.settings.sections import PortalSettings, Settings
from modules.portal.request_guard import LARGEST_JSON
from tests.portal import proxies
from tests.portal.cigri3.conftest import WRITTEN
from tests.portal.conftest import Answered, serving
from tests.waiting import looks

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cigri3.md"
FRONT_END = "127.77.0.1"
"""Where the clients are, and whom Apache asks at the port of ident."""
IDENT_PORT = 113
BEGINNING = 60.0  # seconds
MODULES = ("mpm_event", "authz_core", "authz_host", "headers", "ident", "proxy", "proxy_http")
MAIN = """\
User {account}
Group {account}
ServerRoot {directory}
DefaultRuntimeDir {directory}
ServerName 127.0.0.1
PidFile {directory}/apache2.pid
ErrorLog {directory}/error.log
Listen 127.0.0.1:{port}
{modules}
{server}
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or proxies.APACHE.program is None, reason="needs root, and Debian's apache2"
)


class FrontEnd(NamedTuple):
    """A host whose ident says `user` of each connection."""

    port: int
    user: list[str]

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> Answered:
        connection = HTTPConnection("127.0.0.1", self.port, source_address=(FRONT_END, 0))
        try:
            connection.request(method, f"/cigri-api{path}", body, headers)
            response = connection.getresponse()
            text = response.read()
            assert response.getheader("Content-Type") == "application/json", text
            return Answered(response.status, json.loads(text))
        finally:
            connection.close()


@contextmanager
def ident(user: list[str]) -> Iterator[None]:
    class Says(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            ports = self.rfile.readline().decode().strip()
            self.wfile.write(f"{ports} : USERID : UNIX : {user[0]}\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True

    with Server((FRONT_END, IDENT_PORT), Says) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def apache(directory: Path, place: Path, port: int) -> Iterator[None]:
    (server,) = re.findall(r"^```apache\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for written, here in {"*:80": f"127.0.0.1:{port}", "/run/cigri/portal.sock": str(place)}.items():
        assert written in server
        server = server.replace(written, here)
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES)
    configuration = directory / "apache.conf"
    configuration.write_text(
        MAIN.format(account=proxies.ACCOUNT, directory=directory, port=port, modules=modules, server=server)
    )
    assert proxies.APACHE.program is not None
    with subprocess.Popen([proxies.APACHE.program, "-f", str(configuration), "-D", "FOREGROUND"]) as master:
        try:
            pid = directory / "apache2.pid"
            assert any(pid.exists() or master.poll() is not None for _ in looks(BEGINNING))
            assert master.poll() is None, (directory / "error.log").read_text()
            yield
        finally:
            master.terminate()


@pytest.fixture
def front_end(database: Database) -> Iterator[FrontEnd]:
    """In a directory that Apache's account may enter, too."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        directory.chmod(0o755)
        settings = PortalSettings(proxy=proxies.ACCOUNT, proxy_header="X-Cigri-User")
        portal = stack.enter_context(serving(database, Settings(portal=settings), directory / "portal.sock"))
        front_end = FrontEnd(proxies.free_port(), ["nobody"])
        stack.enter_context(ident(front_end.user))
        stack.enter_context(apache(directory, portal.place, front_end.port))
        yield front_end


@pytest.mark.process
def test_clients_go_on_behind_the_lines_of_the_page(front_end: FrontEnd) -> None:
    told: Any = front_end.ask("GET", "/campaigns/1/jdl")
    assert (told.status, told.body["params"][0]) == (200, "secret one")
    assert front_end.ask("GET", "/jobs/1/stdout").body == {"output": WRITTEN}
    assert front_end.ask("GET", "/campaigns/").status == 200
    large = front_end.ask("POST", "/campaigns", "x" * (LARGEST_JSON + 1))
    assert (large.status, large.body["status"]) == (413, 413)
    front_end.user[0] = "daemon"
    forged = front_end.ask("GET", "/campaigns/1/jdl", **{"X-Cigri-User": "nobody"})
    assert forged.status == 404
