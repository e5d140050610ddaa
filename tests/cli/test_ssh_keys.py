"""gridtoken by SSH keys: registered on the grid's host, they give tokens to whoever signs elsewhere."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from cigri.cli import gridtoken
from cigri.cli.command import grid_user
from cigri.database import Database
from cigri.settings.sections import PortalSettings, Settings
from tests.cli.running import Run
from tests.portal.conftest import bearer, serving
from tests.portal.ssh_keys import KEYGEN, agent_with, make_key, public
from tests.portal.test_tcp import ask

COMMAND = gridtoken
AS_ROOT = ["--root"] if grid_user() == "root" else []
pytestmark = [pytest.mark.process, pytest.mark.skipif(KEYGEN is None, reason="needs OpenSSH's ssh-keygen")]

Elsewhere = Callable[[str], dict[str, object]]
"""Who the portal says that a token is."""


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


@pytest.fixture
def elsewhere(
    database: Database, run: Run, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Elsewhere]:
    """The key is registered on the grid's host, and CIGRI_URL names the grid; no token is there."""
    with serving(database, Settings(portal=PortalSettings()), tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        with monkeypatch.context() as on_host:
            on_host.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))
            added = run("keys", "add", f"{key}.pub", *AS_ROOT)
            assert added.status == 0, added.err
        monkeypatch.setenv("CIGRI_URL", f"http://127.0.0.1:{portal.port}")
        yield lambda token: dict(ask(portal, bearer(token)).body)


def test_a_key_gives_a_token_elsewhere(elsewhere: Elsewhere, run: Run, key: Path) -> None:
    made = run("create", "--ssh-key", key, "--scope", "submit", "--expires", "7d", "--comment", "laptop", *AS_ROOT)
    assert made.status == 0, made.err
    told = elsewhere(made.out.strip())
    assert (told["user"], told["scope"]) == (grid_user(), "submit")
    assert f"token 1 of {grid_user()} allows to submit until " in made.err


def test_an_agent_signs_where_only_the_public_key_is_there(
    elsewhere: Elsewhere, run: Run, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = tmp_path / "agent"
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with agent_with(key, socket):
        key.unlink()
        assert run("create", "--ssh-key", f"{key}.pub", *AS_ROOT).status == 1, "no agent is named"
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        made = run("create", "--ssh-key", f"{key}.pub", *AS_ROOT)
        assert made.status == 0, made.err
    assert elsewhere(made.out.strip())["user"] == grid_user()


def test_who_signs_for_somebody_else_is_refused(elsewhere: Elsewhere, run: Run, key: Path) -> None:
    refused = run("create", "--ssh-key", key, "--user", "daemon")
    assert (refused.status, refused.out) == (1, "")
    assert "this signature opens nothing" in refused.err


def test_keys_are_listed_and_removed(
    elsewhere: Elsewhere, run: Run, key: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = run("create", "--ssh-key", key, *AS_ROOT).out.strip()
    monkeypatch.delenv("CIGRI_URL")
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(tmp_path / "portal.sock"))
    assert run("keys", "list").out.splitlines()[1].split()[:3] == ["1", grid_user(), "valid"]
    assert run("list", "--json").json[0]["ssh_key_id"] == 1
    assert run("keys", "remove", 1).out == f"SSH key 1 of {grid_user()} is removed\n"
    assert run("keys", "list").out.splitlines()[1].split()[2] == "removed"
    assert "user" not in elsewhere(token)


@pytest.mark.parametrize(
    ("argv", "status", "says"),
    [
        (["create", "--ssh-key", "id"], 2, "--ssh-key is for a grid elsewhere: $CIGRI_URL names it"),
        (["create", "--user", "alice"], 2, "--user goes with --ssh-key"),
        (["keys", "add", "nowhere.pub"], 2, "nowhere.pub: No such file or directory"),
        (["keys", "remove", "7"], 1, "you have no SSH key 7; `gridtoken keys list` lists yours"),
        (["keys", "show"], 2, "invalid choice: 'show'"),
        (["keys"], 2, "required: action"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told(argv: list[str], status: int, says: str, run: Run) -> None:
    told = run(*argv)
    assert (told.status, says in told.err) == (status, True), told.err


def test_a_private_key_is_not_sent(run: Run, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", "/nowhere/portal.sock")
    told = run("keys", "add", key)
    assert (told.status, "this is a private key" in told.err) == (2, True), told.err


def test_a_key_may_come_by_standard_input(run: Run, key: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    line = tmp_path / "line"
    line.write_text(public(key))
    with line.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run("keys", "add", "-", *AS_ROOT, "--json").json["comment"] == "id_ed25519"


class Greedy(BaseHTTPRequestHandler):
    """A portal that has another text signed than was asked of it."""

    asked: ClassVar[list[str]]

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.rfile.read(int(self.headers["Content-Length"]))
        told = b'{"nonce": "n", "grid": "g", "text": "host: bank.example.org", "expires_at": "2026-11-25T00:00:00Z"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


def test_nothing_is_signed_that_was_not_asked_for(run: Run, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Greedy.asked = []
    with HTTPServer(("127.0.0.1", 0), Greedy) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        monkeypatch.setenv("CIGRI_URL", f"http://127.0.0.1:{server.server_port}")
        told = run("create", "--ssh-key", key, *AS_ROOT)
        server.shutdown()
        thread.join()
    assert (told.status, "asks to sign something else" in told.err) == (1, True), told.err
    assert Greedy.asked == ["/api/v1/challenges"]
