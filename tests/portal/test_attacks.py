"""Nobody can be anybody else: each of these attacks is refused, and the tables are as they were before."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cigri.database import Database
from cigri.flow.ssh_keys import put_key
from cigri.flow.tokens import end_token
from cigri.identity.callers import AccessScope, Caller
from cigri.settings.sections import PortalSettings, Settings
from cigri.ssh_keys.public_keys import read_public_key
from cigri.tables import everything
from modules.portal.connections import PeerHttpProtocol
from modules.portal.request_guard import LARGEST_JSON
from tests.factories import NOON, a_campaign, a_cluster, set_time
from tests.portal.conftest import SECRET, Answered, Mint, Served, bearer, serving
from tests.portal.proxies import Proxied
from tests.portal.raw import Line, connected
from tests.portal.ssh_keys import make_key, public, signed
from tests.waiting import looks

pytestmark = pytest.mark.process
JSON = {"Content-Type": "application/json"}
AS_ROOT_INSIDE = """\
import ctypes, os, socket, sys
uid = int(sys.argv[1])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
kernel = ctypes.CDLL(None)
kernel.prctl(4, 1)  # PR_SET_DUMPABLE: its own /proc is its own again
if kernel.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit(77)
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {uid} 1")
assert os.geteuid() == 0
with socket.socket(socket.AF_UNIX) as sock:
    sock.connect("portal.sock")
    sock.sendall(sys.argv[2].encode())
    answer = b""
    while piece := sock.recv(65536):
        answer += piece
print(answer.decode())
"""


class Target(NamedTuple):
    """A portal; tokens that were good once, or are for others, by what is wrong with them; an SSH key of nobody's."""

    portal: Served
    worthless: dict[str, str]
    key: Path


def contents(database: Database) -> dict[str, object]:
    """Of each table a sum of its rows, but for when a token was last used."""
    told = "SELECT (to_jsonb(t) - 'last_used_at')::text AS told FROM {0} t"
    summed = f"SELECT '{{0}}', md5(string_agg(told, ' ' ORDER BY told)) FROM ({told}) AS rows"
    with database.read() as conn:
        found = conn.exec_driver_sql(" UNION ALL ".join(summed.format(name) for name in everything().tables))
        return {name: told for name, told in found}


@pytest.fixture
def target(database: Database, mint: Mint, tmp_path: Path) -> Iterator[Target]:
    """With a campaign and a token of root; what is done to it must change nothing."""
    tmp_path.chmod(0o755)
    set_time(database, NOON - timedelta(hours=1))
    worthless = {"expired": mint("root", AccessScope.OPERATE, expires_in=60)}
    set_time(database, NOON)
    worthless["revoked"] = mint("root", AccessScope.OPERATE)
    right = mint("root", AccessScope.OPERATE)
    worthless |= {
        "of another number": right.replace("cgr_3_", "cgr_1_"),
        "of no number": right.replace("cgr_3_", "cgr_999_"),
        "guessed": right.replace(SECRET, "t" * 43),
        "cut": right[:-1],
        "of an account that is gone": mint("gone-for-good", AccessScope.OPERATE),
    }
    key = make_key(tmp_path / "key")
    with database.begin() as conn:
        put_key(conn, "nobody", read_public_key(public(key)))
        end_token(conn, 2, Caller("root"))
        a_cluster(conn)
        a_campaign(conn, 2, user="root")
    before = contents(database)
    settings = Settings(portal=PortalSettings(proxy="daemon"))
    with serving(database, settings, tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        yield Target(portal, worthless, key)
    assert contents(database) == before


def revoke_of_root(target: Target, headers: dict[str, str], uid: int | None = None) -> Answered:
    return target.portal.request("POST", "/api/v1/tokens/3/revoke", "{}", uid=uid, headers=JSON | headers)


def raw(*lines: str, body: str = "") -> bytes:
    return "\r\n".join([*lines, "", body]).encode()


def test_root_of_a_user_namespace_is_who_it_is_outside(target: Target, nobody: int) -> None:
    request = raw("GET /api/v1/whoami HTTP/1.1", "Host: localhost", "Connection: close")
    argv = [sys.executable, "-I", "-c", AS_ROOT_INSIDE, str(nobody), request.decode()]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=target.portal.place.parent)
    if done.returncode == 77:
        pytest.skip("this kernel lets nobody make user namespaces")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.partition("\n\n")[2])["user"] == "nobody"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Remote-User": "root"},
        {"X-Forwarded-User": "root", "X-Forwarded-For": "127.0.0.1", "Forwarded": "for=unix:;by=root"},
        {"Remote-User": "root", "REMOTE_USER": "root", "X-Remote-Uid": "0"},
        {"Authorization": "Basic cm9vdDo="},
        {"Cookie": "user=root; session=1"},
        {"X-HTTP-Method-Override": "DELETE", "X-Original-URL": "/api/v1/tokens", "X-Rewrite-URL": "/"},
    ],
    ids=str,
)
def test_headers_make_nobody_root(headers: dict[str, str], target: Target, nobody: int) -> None:
    assert revoke_of_root(target, headers, nobody).status == 404


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example.org", "null", "https://localhost.evil.example.org", ""),
        *("http://localhost:3000", "https://localhost", "ftp://localhost", "localhost", "http://127.0.0.1"),
    ],
)
def test_a_page_of_elsewhere_changes_nothing(origin: str, target: Target) -> None:
    """Root's browser would be believed, and needs no body to do harm."""
    told = target.portal.request("POST", "/api/v1/tokens/3/revoke", headers={"Origin": origin})
    assert (told.status, "a page of elsewhere" in told.body["detail"]) == (403, True)


def test_the_proxy_is_not_root_by_its_own_word(target: Target) -> None:
    daemon = pwd.getpwnam("daemon").pw_uid if os.geteuid() == 0 else None
    if daemon is None:
        pytest.skip("only root becomes somebody else")
    for name in ("root", "daemon", "", "root\troot"):
        assert revoke_of_root(target, {"X-Remote-User": name}, daemon).status == 401


def test_worthless_tokens_open_nothing_on_either_listener(target: Target) -> None:
    for what, token in target.worthless.items():
        assert revoke_of_root(target, bearer(token)).status == 401, what
        with connected(target.portal.port) as line:
            line.say(raw("GET /api/v1/tokens HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}"))
            assert line.status() == 401, what


def test_who_signs_is_nobody_but_the_user_of_the_key(target: Target) -> None:
    """Nor anybody by another's challenge, nor by their own for anything else, nor twice."""
    asked = [ask_for(target, user, "read") for user in ("root", "daemon", "nobody", "nobody")]
    spoilt = [signed(target.key, one["text"]) for one in asked[:2]]
    spoilt.append(signed(target.key, asked[2]["text"].replace("scope: read", "scope: operate")))
    spoilt.append(signed(target.key, asked[3]["text"], "git"))
    for one, signature in zip(asked, spoilt, strict=True):
        for _ in range(2):
            told = {"nonce": one["nonce"], "signature": signature}
            answered = target.portal.request("POST", "/api/v1/challenges/answer", json.dumps(told), headers=JSON)
            assert answered.status == 403


def ask_for(target: Target, user: str, scope: str) -> Any:
    told = {"user": user, "host": "localhost", "scope": scope, "for_root": True}
    return target.portal.request("POST", "/api/v1/challenges", json.dumps(told), headers=JSON).body


def test_a_token_counts_in_its_header_alone(target: Target) -> None:
    right = target.worthless["of another number"].replace("cgr_1_", "cgr_3_")
    for attempt in (
        [f"GET /api/v1/whoami?access_token={right} HTTP/1.1"],
        [f"GET /api/v1/whoami?Authorization=Bearer%20{right} HTTP/1.1"],
        [f"GET /api/v1/whoami;{right} HTTP/1.1"],
        ["GET /api/v1/whoami HTTP/1.1", f"Cookie: token={right}"],
        ["GET /api/v1/whoami HTTP/1.1", f"X-Token: {right}"],
        ["GET /api/v1/whoami HTTP/1.1", f"Authorization: {right}"],
        ["GET /api/v1/whoami HTTP/1.1", f"Proxy-Authorization: Bearer {right}"],
        ["GET /api/v1/whoami HTTP/1.1", f"Authorization: Bearer {right}", f"Authorization: Bearer {right}"],
    ):
        with connected(target.portal.port) as line:
            line.say(raw(*attempt, "Host: localhost"))
            assert line.status() in (401, 404, 422), attempt


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/tokens/3%2frevoke",
        "/api/v1/tokens/3%2Frevoke",
        "/api/v1/tokens/3%5Crevoke",
        "/api/v1/tokens/3/revoke%00",
        "/api/v1/whoami/../tokens/3/revoke",
        "/api/v1/whoami/%2e%2e/tokens/3/revoke",
        "/api/v1/whoami/.%2E/tokens/3/revoke",
        "/api/v1/./tokens/3/revoke",
        "//api/v1/tokens/3/revoke",
        "/api/v1//tokens/3/revoke",
        "/api/v1/tokens/3/revoke/",
        "/api/v1/tokens/3/revoke;x=1",
        "/API/V1/tokens/3/revoke",
        "http://localhost/api/v1/tokens/3/revoke",
        "*",
    ],
)
def test_a_path_is_written_in_one_way(path: str, target: Target) -> None:
    """Even by root, who could by the right one: what stands before the portal may judge by paths."""
    told = target.portal.request("POST", path, "{}", headers=JSON)
    assert told.status in (404, 405), told


SMUGGLED = raw(
    "POST /api/v1/tokens/3/revoke HTTP/1.1",
    "Host: localhost",
    "Content-Length: 2",
    "Content-Type: application/json",
    body="{}",
).decode()
CONFLICTS = [
    ["Content-Length: 4", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Content-Length: 4"],
    ["Content-Length: 4", "Content-Length: 400"],
    ["Content-Length: +4"],
    ["Content-Length: 4, 400"],
    ["Transfer-Encoding : chunked"],
    ["Transfer-Encoding: xchunked"],
    ["Transfer-Encoding: chunked, identity"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    ["Transfer-Encoding: \x0bchunked"],
    ["X: y\r\n Transfer-Encoding: chunked", "Content-Length: 4"],
]


def test_what_is_smuggled_would_work_by_itself(portal: Served, mint: Mint) -> None:
    mint("root")
    with connected(portal.place) as line:
        line.say(SMUGGLED.replace("/3/", "/1/").encode())
        assert line.status() == 200


def test_a_request_ends_where_it_says_or_is_none(target: Target) -> None:
    """By root on the socket, for whom the smuggled one would work."""
    for conflict in CONFLICTS:
        with connected(target.portal.place) as line:
            line.say(raw("POST /api/v1/whoami HTTP/1.1", "Host: localhost", *conflict, body=f"0\r\n\r\n{SMUGGLED}"))
            assert line.statuses()[0] in (400, 405, 501), conflict
            assert 200 not in line.statuses(), conflict


def test_nothing_is_smuggled_through_a_proxy(proxied: Proxied, database: Database, mint: Mint) -> None:
    """Behind it the proxy's word counts: what the smuggled request says must not be that word."""
    mint("games")
    before = contents(database)
    smuggled = SMUGGLED.replace("/3/", "/1/").replace("Host: localhost", "Host: localhost\r\nX-Remote-User: games")
    for conflict in CONFLICTS:
        for path in ("/api/v1/whoami", "/token/api/v1/whoami"):
            head = (f"POST {path} HTTP/1.1", "Host: localhost", "Authorization: Basic bm9ib2R5Om4=", *conflict)
            with connected(proxied.port, proxied.context) as line:
                line.say(raw(*head, body=f"0\r\n\r\n{smuggled}"))
                assert 200 not in line.statuses(), conflict
    assert contents(database) == before


def test_a_large_body_is_refused_before_it_is_sent(target: Target) -> None:
    with connected(target.portal.place) as line:
        line.say(raw("POST /api/v1/tokens HTTP/1.1", "Host: localhost", f"Content-Length: {LARGEST_JSON + 1}"))
        assert line.status() == 413


def test_a_body_without_an_end_is_refused_when_it_is_too_large(target: Target) -> None:
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with connected(target.portal.place) as line:
        line.say(raw("POST /api/v1/tokens HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"))
        sent = line.say_until_refused(piece, limit=4 * LARGEST_JSON)
        assert line.status() == 413
    assert sent < 2 * LARGEST_JSON


def test_a_deep_body_is_refused(target: Target) -> None:
    told = target.portal.request("POST", "/api/v1/tokens", "[" * 1_000_000, headers=JSON)
    assert told.status in (400, 422)


def test_a_head_without_an_end_is_refused_when_it_is_too_large(target: Target) -> None:
    with connected(target.portal.port) as line:
        line.say(b"GET /api/v1/whoami HTTP/1.1\r\n")
        assert line.say_until_refused(b"X: " + b"x" * 10_000 + b"\r\n", limit=10_000_000) < 10_000_000


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\n",
        raw("POST /api/v1/tokens HTTP/1.1", "Host: localhost", "Content-Length: 100", body="{"),
        raw("POST /api/v1/tokens HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", body="1\r\n{\r\n"),
    ],
    ids=["nothing", "head", "body", "chunks"],
)
def test_who_does_not_go_on_is_left(beginning: bytes, quick_target: Target) -> None:
    with connected(quick_target.portal.port) as line:
        line.say(beginning)
        assert line.is_closed()


def test_a_head_that_goes_on_for_ever_is_left(quick_target: Target) -> None:
    """Letter by letter: each comes in time, and the whole does not."""
    with connected(quick_target.portal.port) as line:
        line.say(b"GET /api/v1/whoami HTTP/1.1\r\nX: ")
        assert line.drip_until_closed()


def test_idle_connections_keep_nobody_from_being_served(target: Target) -> None:
    lines: list[Line] = []
    try:
        for number in range(200):
            place: Path | int = target.portal.place if number % 2 else target.portal.port
            lines.append(Line(place))
            lines[-1].say(
                b"POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n" * (number % 3 > 0)
            )
        assert target.portal.get("/api/v1/whoami").status == 200
    finally:
        for line in lines:
            line.close()


def test_one_account_cannot_take_all_connections(target: Target, nobody: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has three, and three are left for others; a new one takes the place of that on which we wait longest."""
    monkeypatch.setattr("modules.portal.connections.MOST_AT_ONCE", 6)
    monkeypatch.setattr("modules.portal.connections.PeerHttpProtocol.patience", 600.0)
    lines = [Line(target.portal.place) for _ in range(4)]
    try:
        assert lines[0].is_closed()
        assert target.portal.get("/api/v1/whoami").status == 200
        assert target.portal.get("/api/v1/whoami", uid=nobody).status == 200
    finally:
        for line in lines:
            line.close()
    assert any(is_answered(target) for _ in looks()), "as soon as the portal has seen that they are gone"


def is_answered(target: Target) -> bool:
    try:
        return target.portal.get("/api/v1/whoami").status == 200
    except (ConnectionError, HTTPException):
        return False


def test_idle_connections_by_tcp_give_way_to_others(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose they are is not known: some say nothing, some begin a head or a body, and some keep what they had."""
    monkeypatch.setattr("modules.portal.connections.MOST_AT_ONCE", 20)
    monkeypatch.setattr("modules.portal.connections.PeerHttpProtocol.patience", 600.0)
    body = raw("POST /api/v1/challenges HTTP/1.1", "Host: localhost", "Content-Length: 100", body="{")
    answered = raw("GET /healthz HTTP/1.1", "Host: localhost")
    lines = [Line(target.portal.port) for _ in range(40)]
    try:
        for number, line in enumerate(lines[-10:]):
            line.say((b"", answered[:20], body, answered)[number % 4])
        told = []
        for _ in range(20):
            with connected(target.portal.port) as line:
                line.say(raw("GET /healthz HTTP/1.1", "Host: localhost"))
                told.append(line.status())
        assert told == [200] * 20
        assert lines[0].is_closed()
    finally:
        for line in lines:
            line.close()


def test_a_connection_on_which_nothing_is_said_is_closed_soon(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.connections.PeerHttpProtocol.patience", 600.0)
    for place in (target.portal.place, target.portal.port):
        with connected(place) as line:
            assert line.is_closed()


def test_who_does_not_read_is_left(quick_target: Target) -> None:
    """Of an answer that is larger than what the kernel holds for them."""
    with connected(quick_target.portal.place) as line:
        asked = raw("GET /openapi.json HTTP/1.1", "Host: localhost")
        line.say(asked * 20)
        assert line.status() == 200
        assert any(not opened_by(os.geteuid()) for _ in looks())


def opened_by(uid: int) -> int:
    return PeerHttpProtocol.opened[uid]


@pytest.fixture
def quick_target(target: Target, monkeypatch: pytest.MonkeyPatch) -> Target:
    """Its patience is short."""
    monkeypatch.setattr("modules.portal.connections.PeerHttpProtocol.patience", 0.3)
    return target
