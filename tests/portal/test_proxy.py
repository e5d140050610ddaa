"""A reverse proxy that the operator trusts says who its callers are; nobody else's word for it counts."""

import json
import os
import pwd
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from cigri.cli.command import grid_user
from cigri.cli.signed_token import create_by_key
from cigri.database import Database
from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.remote_portal import find_elsewhere
from cigri.errors import ConfigError
from cigri.flow.holds import hold_campaign
from cigri.flow.ssh_keys import put_key
from cigri.identity.callers import AccessScope, Caller
from cigri.settings.sections import PortalSettings, Settings
from cigri.ssh_keys.challenge_text import RequestedToken
from cigri.ssh_keys.public_keys import read_public_key
from modules.portal import make_app
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.request_guard import LARGEST_JSON
from modules.portal.settings_in_force import SettingsInForce
from tests.factories import a_campaign, a_cluster
from tests.portal.browser import FORM, PROOF
from tests.portal.conftest import Answered, Mint, Serve, Served
from tests.portal.proxies import Proxied
from tests.portal.raw import connected
from tests.portal.ssh_keys import KEYGEN, make_key, public

BASIC = b"Host: localhost\r\nAuthorization: Basic bm9ib2R5Om4=\r\n"  # nobody, by the password
PROXY = PortalSettings(proxy="daemon", operators=("nobody",))


@pytest.fixture
def behind(serve: Serve, nobody: int) -> Served:
    """A portal that trusts processes of the account daemon."""
    assert nobody
    return serve(Settings(portal=PROXY))


def by_proxy(portal: Served, headers: dict[str, str]) -> Answered:
    return portal.get("/api/v1/whoami", uid=pwd.getpwnam("daemon").pw_uid, headers=headers)


def test_the_caller_is_whom_the_proxy_names(behind: Served) -> None:
    told = by_proxy(behind, {"X-Remote-User": "nobody"})
    assert told.body == {"user": "nobody", "is_operator": True, "scope": "operate", "how": "proxy"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Remote-User": ""},
        {"X-Remote-User": "root"},
        {"X-Remote-User": "daemon"},
        {"X-Remote-User": "nobody, root"},
        {"X-Remote-User": "0"},
        {"X-Remote-User": "stranger"},
        {"X-Remote-User": "nobody", "x-remote-user": "nobody"},
        {"Remote-User": "nobody"},
        {"X_Remote_User": "nobody"},
    ],
    ids=str,
)
def test_without_one_good_name_the_proxy_is_nobody(headers: dict[str, str], behind: Served) -> None:
    assert by_proxy(behind, headers).status == 401


def test_from_anybody_else_the_header_changes_nothing(behind: Served, nobody: int) -> None:
    told = behind.get("/api/v1/whoami", uid=nobody, headers={"X-Remote-User": "daemon"})
    assert (told.body["user"], told.body["how"]) == ("nobody", "kernel")
    assert behind.get("/api/v1/whoami", headers={"X-Remote-User": "nobody"}).body["user"] == grid_user()


def test_a_token_that_comes_through_it_is_its_user(behind: Served, mint: Mint) -> None:
    told = by_proxy(behind, {"Authorization": f"Bearer {mint('daemon')}", "X-Remote-User": "nobody"})
    assert (told.body["user"], told.body["how"]) == ("daemon", "token 1")


@pytest.mark.parametrize("name", ["root", "no-such-account", pwd.getpwuid(os.geteuid()).pw_name])
def test_a_proxy_has_an_account_of_its_own(name: str, database: Database) -> None:
    with closing(DeferredResponses()) as errands, pytest.raises(ConfigError, match=r"portal\.proxy"):
        make_app(database, SettingsInForce(Settings(portal=PortalSettings(proxy=name))), errands)


def test_people_are_known_behind_a_proxy_of_the_page(proxied: Proxied) -> None:
    status, text = proxied.get("/api/v1/whoami", "nobody", {"X-Remote-User": "games"})
    assert (status, json.loads(text)["user"], json.loads(text)["how"]) == (200, "nobody", "proxy")
    assert proxied.get("/api/v1/whoami", headers={"X-Remote-User": "nobody"})[0] == 401
    for nobody_at_all in ("root", "www-data", "stranger"):
        status, text = proxied.get("/api/v1/whoami", nobody_at_all)
        assert (status, json.loads(text)["type"]) == (401, "/problems/NotAuthenticated")


def test_pages_are_theirs_behind_it_and_change_what_is_theirs(proxied: Proxied, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user="nobody")
    status, page = proxied.get("/campaigns/1", "nobody", {"Accept": "text/html"})
    found = PROOF.search(page.decode())
    assert (status, bool(found), b"sign out" in page) == (200, True, False), "the proxy knows who they are"
    assert found
    own = FORM | {"Origin": f"https://127.0.0.1:{proxied.port}"}
    for form, headers, status in (
        ("", own, 403),
        (f"proof={found[1]}", own | {"Origin": "https://evil.example.org"}, 403),
        (f"proof={found[1]}", own | {"Origin": f"http://127.0.0.1:{proxied.port}"}, 403),
        (f"proof={found[1]}", own | {"Origin": "https://127.0.0.1"}, 403),
        (f"proof={found[1]}", own | {"Origin": "https://127.0.0.1:1"}, 403),
        (f"proof={found[1]}", own | {"Origin": "http://localhost"}, 403),
        (f"proof={found[1]}", own | {"Sec-Fetch-Site": "same-site"}, 403),
        (f"proof={found[1]}", FORM, 403),
        (f"proof={found[1]}", own, 303),
    ):
        assert proxied.send("POST", "/campaigns/1/hold", "nobody", headers, form)[0] == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json"}, 201),
        ({"Content-Type": "application/x-ndjson"}, 201),
        ({}, 403),
        ({"Content-Type": "text/plain"}, 403),
        ({"Content-Type": "text/plain;charset=UTF-8"}, 403),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 403),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 403),
        ({"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Content-Type": "application/json", "Sec-Fetch-Site": "none"}, 403),
        ({"Content-Type": "application/json", "Origin": "https://127.0.0.1"}, 403),
    ],
    ids=str,
)
def test_whom_the_proxy_knows_changes_by_the_api_what_no_form_can(
    headers: dict[str, str], status: int, proxied: Proxied, database: Database
) -> None:
    """A browser adds a password by itself: without the proof of a page it is believed nothing."""
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    campaign = json.dumps({"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": ["dahu"]})
    assert proxied.send("POST", "/api/v1/campaigns", "nobody", headers, campaign)[0] == status


@pytest.mark.parametrize("site", ["cross-site", "same-site", "odd"])
def test_a_foreign_page_does_not_even_ask_the_api(site: str, proxied: Proxied) -> None:
    told = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    assert proxied.get("/api/v1/whoami", "nobody", told)[0] == 403
    assert proxied.get("/cigri-api/campaigns", "nobody", told)[0] == 403
    assert proxied.get("/", "nobody", told | {"Accept": "text/html"})[0] == 200, "a link leads to a page"


def test_programs_are_known_by_their_tokens_behind_it(proxied: Proxied, mint: Mint) -> None:
    token = mint()
    place = find_elsewhere({"CIGRI_URL": f"https://127.0.0.1:{proxied.port}/token", "CIGRI_TOKEN": token})
    assert place is not None
    remote = PortalClient(place)
    assert remote.call(whoami).how == "token 1"
    remote.close()
    assert proxied.get("/token/api/v1/whoami", "nobody", {"X-Remote-User": "nobody"})[0] == 401


@pytest.mark.skipif(KEYGEN is None, reason="needs OpenSSH's ssh-keygen")
def test_the_signature_of_an_ssh_key_gives_a_token_behind_it(
    proxied: Proxied, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path / "key")
    with database.begin() as conn:
        put_key(conn, "nobody", read_public_key(public(key)))
    monkeypatch.setenv("CIGRI_URL", f"https://127.0.0.1:{proxied.port}/token")
    wanted = RequestedToken("nobody", "", AccessScope.SUBMIT, 60, "")
    made = create_by_key(key, wanted, for_root=False)
    assert (made.user, made.scope) == ("nobody", AccessScope.SUBMIT)


@pytest.mark.parametrize(
    "before", ["", "/token", "//token", "/token/..", "/token/%2e%2e", "/%74oken", "/TOKEN", "/token/."]
)
@pytest.mark.parametrize("name", ["X-Remote-User", "x-remote-user", "X_Remote_User"])
def test_no_way_to_write_a_path_carries_a_forged_name(before: str, name: str, proxied: Proxied) -> None:
    path = f"{before}/api/v1/whoami"
    assert proxied.get(path, headers={name: "games"})[0] in (400, 401, 404)
    status, text = proxied.get(path, "nobody", {name: "games"})
    assert status in (400, 401, 404) or json.loads(text)["user"] == "nobody"


@pytest.mark.parametrize("path", [b"/api/v1/tokens", b"/token/api/v1/tokens"])
def test_a_large_body_is_refused_behind_it(path: bytes, proxied: Proxied) -> None:
    """The portal answers and hangs up before all of it has come; Apache tells the client of the latter only."""
    head = b"POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (path, BASIC, LARGEST_JSON + 1)
    with connected(proxied.port, proxied.context) as line:
        with suppress(OSError):  # the proxy may have hung up
            line.say(head + b" " * (LARGEST_JSON + 1))
        assert line.status() == (502 if proxied.program == "apache" else 413)


def test_a_page_is_told_behind_it_at_once_what_changes(proxied: Proxied, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user="nobody")
    page = proxied.get("/campaigns/1", "nobody", {"Accept": "text/html"})[1].decode()
    path = page.partition('data-changes="')[2].partition('"')[0].replace("&amp;", "&")
    with connected(proxied.port, proxied.context) as line:
        line.say(b"GET %s HTTP/1.1\r\n%sAccept: text/event-stream\r\n\r\n" % (path.encode(), BASIC))
        line.until(b": listening")
        with database.begin() as conn:
            hold_campaign(conn, 1, Caller("nobody"))
        line.until(b"event: changed")


def test_slow_callers_keep_nobody_behind_it_from_being_served(proxied: Proxied) -> None:
    with ExitStack() as stack:
        for number in range(100):
            line = stack.enter_context(connected(proxied.port, proxied.context))
            line.say(b"POST /api/v1/tokens HTTP/1.1\r\n" + (BASIC + b"Content-Length: 9\r\n\r\n") * (number % 2))
        assert proxied.get("/api/v1/whoami", "nobody")[0] == 200
