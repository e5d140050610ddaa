"""The real nginx and Apache, as docs/how-to/reach-a-grid-from-elsewhere.md configures them, on loopback."""

import re
import shutil
import socket
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha1
from http.client import HTTPSConnection
from pathlib import Path
from typing import NamedTuple

from tests.waiting import looks

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reach-a-grid-from-elsewhere.md"
SBIN = "/usr/sbin:/usr/bin:/usr/local/sbin"
ACCOUNT = "www-data"
BEGINNING = 120.0  # seconds
PEOPLE = ("alice", "nobody", "root", "www-data", "stranger")
NGINX_MAIN = """\
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
APACHE_MODULES = (
    *("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic"),
    *("headers", "proxy", "proxy_http", "reqtimeout", "ssl"),
)
APACHE_MAIN = (
    """\
User {account}
Group {account}
ServerRoot {directory}
DefaultRuntimeDir {directory}
ServerName 127.0.0.1
PidFile {directory}/apache2.pid
ErrorLog {directory}/error.log
Listen 127.0.0.1:{port}
"""
    + "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in APACHE_MODULES)
    + "{server}\n"
)


class ReverseProxy(NamedTuple):
    """A program that stands in front of the portal, and how one is started of what the page says."""

    language: str  # of its block in the page
    program: str | None
    main: str  # around what the page says
    argv: tuple[str, ...]
    written: dict[str, str]  # in the page, and as what here


NGINX = ReverseProxy(
    "nginx",
    shutil.which("nginx", path=SBIN),
    NGINX_MAIN,
    ("-e", "{directory}/error.log", "-c", "{configuration}", "-g", "daemon off;"),
    {"listen 443 ssl": "listen 127.0.0.1:{port} ssl", "/etc/nginx/grid.users": "{directory}/users"},
)
APACHE = ReverseProxy(
    "apache",
    shutil.which("apache2", path=SBIN),
    APACHE_MAIN,
    ("-f", "{configuration}", "-D", "FOREGROUND"),
    {"<VirtualHost *:443>": "<VirtualHost 127.0.0.1:{port}>", "/etc/apache2/grid.users": "{directory}/users"},
)


class Proxied:
    """The portal as it is met at the port of a reverse proxy."""

    def __init__(self, port: int, certificate: Path, program: str = "nginx") -> None:
        self.port, self.program = port, program
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def proxying(
    proxy: ReverseProxy,
    upstream: Upstream,
    certificate: Path,
    directory: Path,
    inside: Sequence[str] = (),
    port: int | None = None,
) -> Iterator[int]:
    """The port of 127.0.0.1 where the proxy listens; it ends by its own pid. `inside`: words that lead to its host."""
    port = port or free_port()
    (directory / "users").write_text("".join(f"{user}:{_hashed(user[:1])}\n" for user in PEOPLE))
    configuration = directory / f"{proxy.language}.conf"
    configuration.write_text(_configuration(proxy, upstream, certificate, port, directory))
    assert proxy.program is not None
    words = [word.format(directory=directory, configuration=configuration) for word in proxy.argv]
    with subprocess.Popen([*inside, proxy.program, *words]) as master:
        try:
            assert any(_answers(port) or master.poll() is not None for _ in looks(BEGINNING))
            assert master.poll() is None, (directory / "error.log").read_text()
            yield port
        finally:
            master.terminate()


def _configuration(proxy: ReverseProxy, upstream: Upstream, certificate: Path, port: int, directory: Path) -> str:
    (server,) = re.findall(rf"^```{proxy.language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    own = {written: here.format(port=port, directory=directory) for written, here in proxy.written.items()}
    for written, here in {
        **own,
        "/etc/ssl/grid.pem": str(certificate),
        "/etc/ssl/private/grid.key": str(certificate),
        "/run/cigri/portal.sock": str(upstream.place),
        "127.0.0.1:8080": f"127.0.0.1:{upstream.port}",
    }.items():
        assert written in server
        server = server.replace(written, here)
    return proxy.main.format(account=ACCOUNT, directory=directory, port=port, server=server)


def _hashed(password: str) -> str:
    """As both proxies read it; Apache knows no plain ones."""
    return "{SHA}" + b64encode(sha1(password.encode(), usedforsecurity=False).digest()).decode()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
