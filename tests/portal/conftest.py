"""A portal of the test's database on a real socket, and ways to ask it as somebody else."""

import json
import os
import pwd
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import pytest
import uvicorn
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints import Endpoint
from cigri.endpoints.portal_client import PortalClient
from cigri.flow.holds import hold_campaign
from cigri.flow.tokens import put_token
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import ParsedToken, hash_of
from cigri.identity.unix_sockets import UnixSocketConnection, is_served
from cigri.settings.loading import load
from cigri.settings.sections import PortalSettings, Settings
from cigri.states import Outcome
from modules.portal import make_app
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.listening import PortalListener
from modules.portal.settings_in_force import SettingsInForce
from tests.conftest import clone_database, made_template
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs
from tests.portal import proxies
from tests.portal.asking import ask_as
from tests.portal.browser import Browser, signed_in
from tests.portal.certificates import write_certificate
from tests.waiting import looks

P = ParamSpec("P")
R = TypeVar("R")

EVERYBODY = 0o666
HOSTILE = "<script>alert(1)</script>\"'&"
SECRET = "s" * 43
STARTING = 120.0  # seconds


class Answered(NamedTuple):
    status: int
    body: Any


class Served(NamedTuple):
    """A portal that listens at `place`, and at a port of 127.0.0.1 where it is not 0."""

    place: Path
    database: Database
    in_force: SettingsInForce
    port: int = 0

    def change_settings(self, **sections: object) -> None:
        """As if the portal had read other files when it was sent SIGHUP."""
        self.in_force.replace(self.in_force.current().model_copy(update=sections))

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        """As a command does."""
        remote = PortalClient(self.place)
        try:
            return remote.call(endpoint, *args, **asked)
        finally:
            remote.close()

    def get(self, path: str, *, uid: int | None = None, headers: dict[str, str] | None = None) -> Answered:
        return self.request("GET", path, uid=uid, headers=headers)

    def request(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        *,
        uid: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answered:
        """By this process, or by one of the user `uid`."""
        if uid is not None:
            return Answered(*ask_as(uid, self.place, [method, path, headers or {}, body]))
        connection = UnixSocketConnection(self.place)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answered(response.status, json.loads(response.read()))
        finally:
            connection.close()


Serve = Callable[[Settings | SettingsInForce], Served]
Mint = Callable[..., str]


class EnvironmentSettings(SettingsInForce):
    """Those of the test's environment, as commands of the same test have them: as if each change were a SIGHUP."""

    def __init__(self) -> None:
        super().__init__(load())

    def current(self) -> Settings:
        self.reload()
        return super().current()


@contextmanager
def serving(
    database: Database, settings: Settings | SettingsInForce, place: Path, address: str = ""
) -> Iterator[Served]:
    listener = PortalListener(place, EVERYBODY, address)
    errands = DeferredResponses()
    in_force = settings if isinstance(settings, SettingsInForce) else SettingsInForce(settings)
    server = uvicorn.Server(listener.config(make_app(database, in_force, errands)))
    thread = threading.Thread(target=server.run, args=[listener.sockets])
    thread.start()
    try:
        assert any(server.started for _ in looks(STARTING))
        yield Served(place, database, in_force, listener.sockets[-1].getsockname()[1] if address else 0)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        errands.close()
    assert not is_served(place)


@pytest.fixture
def serve(database: Database, tmp_path: Path) -> Iterator[Serve]:
    """Start a portal with these settings, which ends with the test."""
    tmp_path.chmod(0o755)
    with ExitStack() as stack:
        yield lambda settings: stack.enter_context(serving(database, settings, tmp_path / "portal.sock"))


@pytest.fixture
def portal(serve: Serve) -> Served:
    return serve(load())


@pytest.fixture
def open_portal(database: Database, tmp_path: Path) -> Iterator[Served]:
    """By TCP, too."""
    settings = Settings(portal=PortalSettings(names=("grid.example.org",)), data_directory=tmp_path)
    with serving(database, settings, tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        yield portal


@pytest.fixture(params=[proxies.NGINX, proxies.APACHE], ids=lambda proxy: proxy.language)
def proxied(
    database: Database, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[proxies.Proxied]:
    """In a directory that the proxy's account may enter, too; not so in all of $TMPDIR."""
    proxy: proxies.ReverseProxy = request.param
    if os.geteuid() or proxy.program is None:
        pytest.skip(f"needs root, and {proxy.language}")
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        directory.chmod(0o755)
        certificate = write_certificate(directory / "both.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        port = proxies.free_port()  # a page of another port is somebody else's
        settings = Settings(portal=PortalSettings(proxy=proxies.ACCOUNT, names=(f"127.0.0.1:{port}",)))
        portal = stack.enter_context(serving(database, settings, directory / "portal.sock", "127.0.0.1:0"))
        upstream = proxies.Upstream(portal.place, portal.port)
        stack.enter_context(proxies.proxying(proxy, upstream, certificate, directory, port=port))
        yield proxies.Proxied(port, certificate, proxy.language)


@pytest.fixture(scope="module")
def web_template(server: Path) -> Iterator[str]:
    """The name of a database with the rows of put_web."""
    with made_template(server, put_web) as name:
        yield name


@pytest.fixture
def database_url(request: pytest.FixtureRequest, server: Path, compiled: None) -> Iterator[str]:
    """Of a test of `web`: of a copy with its rows."""
    is_web = "web" in request.fixturenames
    yield from clone_database(server, request.getfixturevalue("web_template") if is_web else "template_cigri")


def put_web(conn: Connection) -> None:
    """Campaigns of nobody's: 1 with a failure, 2 held, of a hostile name; and 3 of daemon's."""
    cluster = a_cluster(conn, "dahu")
    a_campaign(conn, 4, user="nobody", name="sums")
    a_campaign(conn, 2, user="nobody", name=HOSTILE)
    a_campaign(conn, 1, user="daemon", name="theirs")
    end_jobs(conn, cluster, submitted_jobs(conn, 1, cluster, 1), Outcome.FAILURE, exit_code=3)
    hold_campaign(conn, 2, Caller("nobody"))


@pytest.fixture
def web(database: Database, tmp_path: Path) -> Iterator[Served]:
    """A portal of the grid of put_web."""
    tmp_path.chmod(0o755)
    settings = Settings(portal=PortalSettings(), data_directory=tmp_path)
    with serving(database, settings, tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        yield portal


@pytest.fixture
def browser(web: Served) -> Browser:
    return signed_in(web.database, web.port)


@pytest.fixture
def nobody() -> int:
    """The number of an account without rights; skips where we may not become it."""
    if os.geteuid():
        pytest.skip("only root becomes somebody else")
    return pwd.getpwnam("nobody").pw_uid


@pytest.fixture
def mint(database: Database) -> Mint:
    """The text of a token, of nobody where nothing else is said."""

    def mint(user: str = "nobody", scope: AccessScope = AccessScope.READ, *, expires_in: float = 3600) -> str:
        with database.begin() as conn:
            made = put_token(conn, user, hash_of(SECRET), scope=scope, expires_in=expires_in)
        return str(ParsedToken(made.id, SECRET))

    return mint


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
