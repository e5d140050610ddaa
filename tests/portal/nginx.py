"""The real nginx, as docs/how-to/reach-a-grid-from-elsewhere.md configures it, on loopback."""

import re
import shutil
import socket
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import NamedTuple

from tests.waiting import looks

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reach-a-grid-from-elsewhere.md"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
ACCOUNT = "www-data"
BEGINNING = 30.0  # seconds
PASSWORDS = "alice:{PLAIN}a\nnobody:{PLAIN}n\nroot:{PLAIN}r\nwww-data:{PLAIN}w\nstranger:{PLAIN}s\n"
MAIN = """\
user {account};
worker_processes 1;
pid {directory}/nginx.pid;
events {{}}
http {{
access_log off;
client_body_temp_path {directory}/body;
proxy_temp_path {directory}/proxy;
fastcgi_temp_path {directory}/fastcgi;
uwsgi_temp_path {directory}/uwsgi;
scgi_temp_path {directory}/scgi;
{server}
}}
"""


class Proxied:
    """The portal as it is met at the port of nginx."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.port = port
        self.context = ssl.create_default_context(cafile=str(certificate))

    def get(self, path: str, user: str = "", headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """As a browser of the user, whose password is the first letter of the name."""
        return self.send("GET", path, user, headers)

    def send(
        self, method: str, path: str, user: str = "", headers: dict[str, str] | None = None, body: str | None = None
    ) -> tuple[int, bytes]:
        known = {"Authorization": f"Basic {b64encode(f'{user}:{user[:1]}'.encode()).decode()}"} if user else {}
        connection = HTTPSConnection("127.0.0.1", self.port, context=self.context)
        try:
            connection.request(method, path, body, known | (headers or {}))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class Upstream(NamedTuple):
    """Where the portal listens."""

    place: Path
    port: int


@contextmanager
def proxying(upstream: Upstream, certificate: Path, directory: Path, inside: Sequence[str] = ()) -> Iterator[int]:
    """The port of 127.0.0.1 at which nginx listens; it ends by its own pid. `inside`: words that lead to its host."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    (directory / "users").write_text(PASSWORDS)
    (directory / "nginx.conf").write_text(_configuration(upstream, certificate, port, directory))
    assert NGINX is not None
    files = ["-e", str(directory / "error.log"), "-c", str(directory / "nginx.conf")]
    argv = [*inside, NGINX, *files, "-g", "daemon off;"]
    with subprocess.Popen(argv) as master:
        try:
            assert any(_answers(port) or master.poll() is not None for _ in looks(BEGINNING))
            assert master.poll() is None, (directory / "error.log").read_text()
            yield port
        finally:
            master.terminate()


def _configuration(upstream: Upstream, certificate: Path, port: int, directory: Path) -> str:
    (server,) = re.findall(r"^```nginx\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for written, here in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/grid.pem": str(certificate),
        "/etc/ssl/private/grid.key": str(certificate),
        "/etc/nginx/grid.users": str(directory / "users"),
        "/run/cigri/portal.sock": str(upstream.place),
        "127.0.0.1:8080": f"127.0.0.1:{upstream.port}",
    }.items():
        assert written in server
        server = server.replace(written, here)
    return MAIN.format(account=ACCOUNT, directory=directory, server=server)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
