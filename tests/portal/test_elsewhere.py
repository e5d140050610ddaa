"""A token is shown to the portal that it is for, over a way that nobody reads, and to no other."""

import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest

from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.remote_portal import RemotePortal, find_elsewhere
from cigri.errors import ConfigError, PortalUnavailable
from tests.portal.certificates import write_certificate

TOKEN = "cgr_1_" + "s" * 43
WHO = b'{"user": "alice", "is_operator": false, "scope": "read", "how": "token 1"}'


class Asked(NamedTuple):
    path: str
    authorization: str | None


class Web(BaseHTTPRequestHandler):
    """Answers with what a test has put in."""

    asked: ClassVar[list[Asked]]
    answer: ClassVar[tuple[int, dict[str, str], bytes]]

    def do_GET(self) -> None:
        self.asked.append(Asked(self.path, self.headers["Authorization"]))
        status, headers, body = self.answer
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def web() -> Iterator[HTTPServer]:
    Web.asked, Web.answer = [], (200, {}, WHO)
    with HTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(url: str) -> str:
    place = find_elsewhere({"CIGRI_URL": url, "CIGRI_TOKEN": TOKEN})
    assert place is not None
    remote = PortalClient(place)
    try:
        return remote.call(whoami).user
    finally:
        remote.close()


def test_a_path_of_the_url_stands_before_all_paths(web: HTTPServer) -> None:
    assert ask(f"http://localhost:{web.server_port}/token/") == "alice"
    assert Web.asked == [Asked("/token/api/v1/whoami", f"Bearer {TOKEN}")]


@pytest.mark.parametrize("status", [200, 404])
def test_an_answer_that_is_nested_too_deeply_is_that_of_no_portal(status: int, web: HTTPServer) -> None:
    Web.answer = (status, {}, b"[" * 100_000)
    with pytest.raises(PortalUnavailable):
        ask(f"http://localhost:{web.server_port}")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_token_is_not_sent_where_an_answer_leads(status: int, web: HTTPServer) -> None:
    Web.answer = (status, {"Location": f"http://127.0.0.1:{web.server_port}/other"}, b"")
    with pytest.raises(PortalUnavailable, match=f"answers {status} and names another address"):
        ask(f"http://127.0.0.1:{web.server_port}")
    assert len(Web.asked) == 1


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b'{"user": 1}', b"\xff"])
def test_another_server_is_no_portal(body: bytes, web: HTTPServer) -> None:
    Web.answer = (200, {}, body)
    with pytest.raises(PortalUnavailable, match="no portal of this version"):
        ask(f"http://127.0.0.1:{web.server_port}")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://grid.example.org", "grid.example.org is another: use https"),
        ("http://192.0.2.1:8080", "use https"),
        ("http://127.0.0.1.example.org", "use https"),
        ("http://127.0.0.1@grid.example.org", "neither a user"),
        ("grid.example.org", "is no address of a portal"),
        ("file:///etc/passwd", "is no address of a portal"),
        ("https://", "is no address of a portal"),
        ("https://grid.example.org/?token=x", "neither a user nor"),
        ("https://grid.example.org:port", "write https://"),
    ],
)
def test_a_url_that_nothing_is_sent_to(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        find_elsewhere({"CIGRI_URL": url, "CIGRI_TOKEN": TOKEN})


def test_without_a_url_nothing_is_elsewhere() -> None:
    assert find_elsewhere({"CIGRI_TOKEN": TOKEN}) is None


def found(home: Path) -> RemotePortal | None:
    return find_elsewhere({"CIGRI_URL": "https://grid.example.org", "XDG_CONFIG_HOME": str(home)})


def test_the_token_may_stand_in_a_file_of_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "cigri" / "token"
    with pytest.raises(ConfigError, match="there is no token"):
        found(tmp_path)
    path.parent.mkdir()
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    place = found(tmp_path)
    assert place is not None
    assert place.token == TOKEN
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(ConfigError, match="others can read it"):
            found(tmp_path)
    path.chmod(0o600)
    path.write_text("secret\r\nHost: evil")
    with pytest.raises(ConfigError, match="no token"):
        found(tmp_path)


def test_certificates_are_verified(web: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = write_certificate(tmp_path / "both.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    web.socket = context.wrap_socket(web.socket, server_side=True)
    url = f"https://127.0.0.1:{web.server_port}"
    with pytest.raises(PortalUnavailable, match="certificate verify failed"):
        ask(url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ask(url) == "alice"
    with pytest.raises(PortalUnavailable, match="certificate verify failed"):
        ask(url.replace("127.0.0.1", "localhost"))
    assert len(Web.asked) == 1
