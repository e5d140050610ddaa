"""HTTP as CiGri 3's clients, and web servers in front of us, expect it."""

import json

import pytest

from cigri.identity.unix_sockets import UnixSocketConnection
from modules.portal.cigri3 import doorway
from modules.portal.cigri3.dispatch import BASE
from modules.portal.request_guard import LARGEST_JSON
from tests.portal.conftest import Served
from tests.portal.raw import connected


def ask(portal: Served, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    connection = UnixSocketConnection(portal.place)
    try:
        connection.request(method, BASE + path)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def test_an_answer_has_no_blanks_unless_it_is_to_be_read(portal: Served) -> None:
    _, _, body = ask(portal, "GET", "/clusters")
    told = json.loads(body)
    assert body == json.dumps(told, separators=(",", ":")).encode() + b"\n"
    _, _, body = ask(portal, "GET", "/clusters?pretty")
    assert body == json.dumps(told, indent=2).encode() + b"\n"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/campaigns", "GET, POST"),
        ("/campaigns/1", "DELETE, GET, PUT"),
        ("/clusters", "GET"),
        ("/campaigns/", "GET, POST"),
    ],
)
def test_what_a_path_takes_is_told_with_what_it_does_not_take(path: str, methods: str, portal: Served) -> None:
    status, headers, _ = ask(portal, "PATCH", path)
    assert (status, headers["allow"]) == (405, methods)


def test_a_head_is_what_a_get_would_be_without_its_body(portal: Served) -> None:
    _, got, body = ask(portal, "GET", "/campaigns")
    status, headers, nothing = ask(portal, "HEAD", "/campaigns")
    assert (status, headers["content-length"], nothing) == (200, str(len(body)), b"")
    assert headers["content-type"] == got["content-type"]


def test_a_body_that_is_too_long_is_read_to_its_end_and_refused(portal: Served) -> None:
    text = "x" * (LARGEST_JSON + 1)
    told = portal.request("POST", f"{BASE}/campaigns", text)
    assert (told.status, told.body["status"], "bytes at most" in told.body["message"]) == (413, 413, True)


def test_a_body_that_never_comes_is_not_waited_for(portal: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorway, "LONGEST_PIECE_SECONDS", 0.1)
    with connected(portal.place) as line:
        line.say(f"POST {BASE}/campaigns HTTP/1.1\r\nHost: localhost\r\nContent-Length: {10**9}\r\n\r\n".encode())
        assert line.status() == 413


def test_half_a_million_tasks_go_through(portal: Served) -> None:
    params = [f"run{number:07d} {number / 1e6:.6f}" for number in range(500_000)]
    described = {"name": "half", "clusters": {"dahu": {"exec_file": "/bin/true"}}, "params": params}
    told = portal.request("POST", f"{BASE}/campaigns", json.dumps(described))
    assert told.status == 201
    _, _, answer = ask(portal, "GET", f"/campaigns/{told.body['id']}")
    assert json.loads(answer)["total_jobs"] == 500_000
