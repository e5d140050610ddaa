"""By TCP a token says who asks, and nothing else does; a page of elsewhere is not served."""

import asyncio
import json
import socket
from http.client import HTTPConnection
from pathlib import Path

import pytest

from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.remote_portal import find_elsewhere
from cigri.errors import ConfigError
from cigri.identity.unix_sockets import is_served
from cigri.settings.loading import load
from modules.portal.listening import PortalListener
from modules.portal.origins import PublicNames, read_names
from tests.portal.conftest import Answered, Mint, Served, bearer


def ask(portal: Served, headers: dict[str, str], path: str = "/api/v1/whoami") -> Answered:
    connection = HTTPConnection("127.0.0.1", portal.port)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return Answered(response.status, json.loads(response.read()))
    finally:
        connection.close()


def test_a_token_is_asked_for(open_portal: Served, mint: Mint) -> None:
    told = ask(open_portal, {})
    assert (told.status, told.body["type"]) == (401, "/problems/NotAuthenticated")
    assert ask(open_portal, bearer(mint())).body["user"] == "nobody"


@pytest.mark.parametrize("headers", [{"X-Remote-User": "root"}, {"Authorization": "Basic cm9vdDpyb290"}], ids=str)
def test_other_words_are_no_token(headers: dict[str, str], open_portal: Served) -> None:
    assert ask(open_portal, headers).status == 401


def test_the_socket_is_served_beside_it(open_portal: Served) -> None:
    assert open_portal.get("/api/v1/whoami").status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("LOCALHOST:8080", 200),
        ("[::1]:8080", 200),
        ("grid.example.org", 200),
        ("grid.example.org:443", 200),
        ("evil.example.org", 421),
        ("127.0.0.1.evil.example.org", 421),
        ("localhost:8080:evil", 421),
        ("", 421),
    ],
)
def test_a_portal_answers_to_its_names_only(host: str, status: int, open_portal: Served, mint: Mint) -> None:
    assert ask(open_portal, {**bearer(mint()), "Host": host}).status == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 200),
        ("https://grid.example.org", 200),
        ("https://grid.example.org:8443", 403),
        ("http://grid.example.org", 403),
        ("https://localhost", 403),
        ("http://localhost:8080", 403),
    ],
)
def test_an_own_page_may_change_things(origin: str, status: int, open_portal: Served, mint: Mint) -> None:
    mint()
    told = open_portal.request("POST", "/api/v1/tokens/1/revoke", headers={"Origin": origin})
    assert told.status == status


@pytest.mark.parametrize(
    ("name", "host", "origin"),
    [
        ("Grid.example.org", "grid.example.org", "https://grid.example.org"),
        ("grid.example.org:443", "grid.example.org", "https://grid.example.org"),
        ("grid.example.org:8443", "grid.example.org", "https://grid.example.org:8443"),
        ("http://grid.example.org", "grid.example.org", "http://grid.example.org"),
        ("http://grid:80", "grid", "http://grid"),
        ("http://grid:443", "grid", "http://grid:443"),
        ("[fd00::1]:8443", "[fd00::1]", "https://[fd00::1]:8443"),
    ],
)
def test_a_public_name_is_https_at_its_usual_port_unless_it_says_otherwise(name: str, host: str, origin: str) -> None:
    assert read_names([name]) == PublicNames(frozenset({host}), frozenset({origin}))


@pytest.mark.parametrize(
    "name", ["", "https://", "grid/path", "ftp://grid", "grid:port", "*.example.org", "a b", "-grid"]
)
def test_what_is_no_name_is_refused_with_its_setting(name: str) -> None:
    with pytest.raises(ConfigError, match=r"portal\.names"):
        read_names([name])


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0:80", "192.0.2.1:80", "[::]:80", ":80", "80", "grid.example.org:80", "localhost:80", "127.0.0.1:x"],
)
def test_only_addresses_of_loopback_are_taken(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:8080"):
        load({"CIGRI_SET_PORTAL__ADDRESS": address, "HOME": str(tmp_path)})


def test_an_address_that_is_taken_is_told_and_leaves_no_socket(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(ConfigError, match=r"portal\.address"):
            PortalListener(tmp_path / "portal.sock", 0o600, f"127.0.0.1:{other.getsockname()[1]}")
    assert not is_served(tmp_path / "portal.sock")


def test_a_command_asks_by_url(open_portal: Served, mint: Mint) -> None:
    token = mint()
    place = find_elsewhere({"CIGRI_URL": f"http://127.0.0.1:{open_portal.port}/", "CIGRI_TOKEN": token})
    assert place is not None
    remote = PortalClient(place)
    try:
        told = remote.call(whoami)
    finally:
        remote.close()
    assert (told.user, told.how) == ("nobody", "token 1")


async def _is_hurried(listening: socket.socket) -> bool:
    """Does what is accepted there send small pieces at once?"""
    told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.set_result(bool(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    async with await asyncio.start_server(accepted, sock=listening):
        with socket.create_connection(listening.getsockname()):
            return await asyncio.wait_for(told, 10)


def test_an_answer_in_two_pieces_does_not_wait_for_the_reader(tmp_path: Path) -> None:
    """It would, for 40 ms, wherever a connection is used again."""
    listener = PortalListener(tmp_path / "portal.sock", 0o600, "127.0.0.1:0")
    try:
        assert asyncio.run(_is_hurried(listener.sockets[1]))
    finally:
        listener.close()
