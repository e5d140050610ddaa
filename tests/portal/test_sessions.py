"""A link lets a browser in once and within a minute; then its cookie is its user, for our own pages alone."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cigri.database import Database
from cigri.flow.audit import list_audit
from cigri.identity.callers import AccessScope
from cigri.identity.token_text import hash_of
from cigri.settings.sections import PortalSettings, Settings
from tests.factories import NOON, a_campaign, a_cluster, set_time
from tests.portal.browser import LINK, Browser, Page, made_link, signed_in
from tests.portal.conftest import Mint, Served, bearer, serving
from tests.portal.test_attacks import contents
from tests.portal.test_tokens import post

COOKIE = "cigri-session"
PUBLIC = "grid.example.org"


@pytest.fixture
def site(database: Database, tmp_path: Path) -> Iterator[Served]:
    """A portal with a port, at noon."""
    set_time(database, NOON)
    tmp_path.chmod(0o755)
    settings = Settings(portal=PortalSettings(names=(PUBLIC,), proxy="daemon"), data_directory=tmp_path)
    with serving(database, settings, tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        portal.change_settings(portal=PortalSettings(address=f"127.0.0.1:{portal.port}"))
        yield portal


def whoami(browser: Browser) -> Page:
    return browser.get("/api/v1/whoami")


def changed(browser: Browser, headers: dict[str, str], path: str = "/api/v1/sessions/end") -> int:
    """The answer's status to a change by the API."""
    own = {"Origin": f"http://{browser.name}", "Content-Type": "application/json"}
    return browser.send("POST", path, "{}", {name: value for name, value in (own | headers).items() if value}).status


def test_gridwebs_link_is_a_page_with_a_button_that_lets_in(site: Served, nobody: int, database: Database) -> None:
    made = post(site, "/sessions", uid=nobody).body
    url = urlsplit(made["url"])
    assert url.netloc == f"127.0.0.1:{site.port}"
    browser, link = Browser(site.port), url.query.removeprefix("link=")
    for _ in range(2):
        told = browser.get(f"/sign-in?link={link}")
        assert (told.status, "sign in as nobody" in told.words) == (200, True), "to look uses nothing up"
    opened = browser.post("/sign-in", {"link": link})
    assert (opened.status, opened.headers["location"]) == (303, "/")
    told = json.loads(whoami(browser).text)
    assert told == {"user": "nobody", "is_operator": False, "scope": "submit", "how": f"session {made['id']}"}
    with database.begin() as conn:
        assert [(e.user, e.how, e.endpoint) for e in list_audit(conn)][-1] == ("nobody", "link", "sign_in")


def test_the_cookie_is_for_this_host_and_no_script(site: Served) -> None:
    made_link(site.database)
    said = Browser(site.port).post("/sign-in", {"link": LINK}).headers["set-cookie"]
    assert said.startswith(f"{COOKIE}=")
    assert {part.strip() for part in said.split(";")[1:]} == {"HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict"}


def test_by_a_public_name_the_cookie_is_for_tls_alone(site: Served) -> None:
    made_link(site.database)
    said = Browser(site.port, PUBLIC).post("/sign-in", {"link": LINK}, Origin=f"https://{PUBLIC}").headers["set-cookie"]
    assert said.startswith(f"__Host-{COOKIE}=")
    assert "Secure" in said


def test_only_hashes_are_kept(site: Served, database: Database) -> None:
    browser = signed_in(site.database, site.port)
    with database.begin() as conn:
        kept = str(conn.execute(text("SELECT to_jsonb(s) FROM sessions s")).all())
    assert browser.cookies[COOKIE] not in kept
    assert hash_of(browser.cookies[COOKIE]) in kept


def test_a_link_opens_once(site: Served) -> None:
    made_link(site.database)
    first, second = Browser(site.port), Browser(site.port)
    assert first.post("/sign-in", {"link": LINK}).status == 303
    assert second.get(f"/sign-in?link={LINK}").status == 403
    refused = second.post("/sign-in", {"link": LINK})
    assert (refused.status, second.cookies) == (403, {})
    assert whoami(first).status == 200


def test_a_link_opens_for_a_minute(site: Served, database: Database) -> None:
    made_link(database)
    set_time(database, NOON + timedelta(seconds=60))
    browser = Browser(site.port)
    assert browser.get(f"/sign-in?link={LINK}").status == 403
    assert (browser.post("/sign-in", {"link": LINK}).status, browser.cookies) == (403, {})


@pytest.mark.parametrize("link", ["", "l" * 42, "m" * 43, LINK + "l", "é" * 43, hash_of(LINK), "l\0" * 21])
def test_a_wrong_link_opens_nothing(link: str, site: Served) -> None:
    made_link(site.database)
    browser = Browser(site.port)
    assert (browser.post("/sign-in", {"link": link}).status, browser.cookies) == (403, {})


def test_a_page_of_elsewhere_signs_nobody_in(site: Served, database: Database) -> None:
    made_link(database)
    browser = Browser(site.port)
    before = contents(database)
    for headers in (
        {"Origin": "https://evil.example.org"},
        {"Origin": "null"},
        {"Origin": "", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "", "Sec_Fetch_Site": "same-site"},
        {"Origin": "", "Sec_Fetch_Site": ""},
    ):
        assert browser.post("/sign-in", {"link": LINK}, **headers).status == 403, headers
    assert contents(database) == before


def test_a_session_ends_by_itself(site: Served, database: Database) -> None:
    browser = signed_in(site.database, site.port)
    set_time(database, NOON + timedelta(hours=12))
    assert whoami(browser).status == 401


def test_the_database_itself_lets_none_live_longer(database: Database) -> None:
    made_link(database)
    with pytest.raises(IntegrityError), database.begin() as conn:
        conn.execute(text("UPDATE sessions SET expires_at = created_at + interval '25 h'"))


def test_who_signs_out_is_a_stranger_with_the_old_cookie_too(site: Served) -> None:
    browser = signed_in(site.database, site.port)
    old = dict(browser.cookies)
    told = browser.post("/sign-out", {"proof": browser.get("/").proof})
    assert (told.status, browser.cookies) == (303, {})
    browser.cookies = old
    assert whoami(browser).status == 401


def test_all_sessions_of_a_user_end_by_their_command(site: Served, nobody: int) -> None:
    browsers = [signed_in(site.database, site.port) for _ in range(1)] + [signed_in(site.database, site.port, "daemon")]
    assert post(site, "/sessions/end", uid=nobody).body == {"ended": 1}
    assert [whoami(browser).status for browser in browsers] == [401, 200]


def test_nobody_ends_the_session_of_somebody_else(site: Served, nobody: int) -> None:
    browser = signed_in(site.database, site.port, "daemon")
    number = json.loads(whoami(browser).text)["how"].removeprefix("session ")
    assert post(site, "/sessions/end", uid=nobody, session_id=int(number)).body == {"ended": 0}
    assert whoami(browser).status == 200
    assert post(site, "/sessions/end", session_id=int(number)).body == {"ended": 1}, "an operator does"


def test_what_only_reads_ends_no_session_but_itself(site: Served, mint: Mint) -> None:
    reader, other = signed_in(site.database, site.port, scope=AccessScope.READ), signed_in(site.database, site.port)
    assert post(site, "/sessions/end", token=mint()).status == 403
    assert changed(reader, {"X-CiGri-Proof": reader.get("/").proof}) == 403
    assert [whoami(browser).status for browser in (reader, other)] == [200, 200]
    assert reader.post("/sign-out", {"proof": reader.get("/").proof}).status == 303
    assert [whoami(browser).status for browser in (reader, other)] == [401, 200]


def test_a_session_may_what_its_scope_says(site: Served) -> None:
    browser = signed_in(site.database, site.port, scope=AccessScope.READ)
    headers = {"X-CiGri-Proof": browser.get("/").proof}
    with site.database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2, user="nobody")
    assert changed(browser, headers, "/api/v1/campaigns/1/hold") == 403


@pytest.mark.parametrize("path", ["/api/v1/tokens", "/api/v1/sessions"])
def test_a_session_makes_neither_tokens_nor_sessions(path: str, site: Served) -> None:
    browser = signed_in(site.database, site.port, "root", AccessScope.OPERATE)
    assert changed(browser, {"X-CiGri-Proof": browser.get("/").proof}, path) == 403


def test_a_token_makes_no_sessions(site: Served, mint: Mint) -> None:
    assert post(site, "/sessions", token=mint("root", AccessScope.OPERATE), for_root=True).status == 403


def test_root_has_to_say_that_it_wants_one(site: Served) -> None:
    if site.get("/api/v1/whoami").body["user"] != "root":
        pytest.skip("only root is root")
    assert post(site, "/sessions").status == 400
    assert post(site, "/sessions", for_root=True).body["user"] == "root"


def test_operators_alone_get_one_that_operates(site: Served, nobody: int) -> None:
    assert post(site, "/sessions", uid=nobody, scope="operate").status == 403


def test_where_there_is_no_address_no_link_is_made(
    site: Served, nobody: int, database: Database, tmp_path: Path
) -> None:
    site.change_settings(portal=PortalSettings())
    before = contents(database)
    told = post(site, "/sessions", uid=nobody)
    assert (told.status, "portal.address" in told.body["detail"]) == (409, True)
    assert contents(database) == before
    (tmp_path / "portal.port").write_text("4711")
    urls = {post(site, "/sessions", uid=nobody).body["url"] for _ in range(2)}
    found = {re.fullmatch(r"http://([0-9a-f]{32})\.localhost:4711/sign-in\?link=[\w-]{43}", url) for url in urls}
    assert len({match and match[1] for match in found} - {None}) == 2, "an own grid's sessions have names of their own"


def test_a_name_of_its_own_is_one_of_this_host(site: Served) -> None:
    own = "0123456789abcdef" * 2
    browser = signed_in(site.database, site.port, name=f"{own}.localhost:{site.port}")
    assert [*browser.cookies] == ["cigri-session"]
    page = browser.get("/")
    assert (page.status, "nobody" in page.words) == (200, True)
    foreign = {"Origin": f"http://{'f' * 32}.localhost:{site.port}"}
    assert browser.post("/sign-out", {"proof": page.proof}, **foreign).status == 403
    for name in ("evil.localhost", f"{own}.localhost.example.org", f"x.{own}.localhost", f"{own}0.localhost"):
        assert Browser(site.port, f"{name}:{site.port}").get("/").status == 421, name


def test_what_is_over_goes_when_another_is_made(site: Served, database: Database) -> None:
    made_link(database, link="a" * 43)
    made_link(database, "daemon", link="b" * 43)
    signed_in(site.database, site.port)
    set_time(database, NOON + timedelta(hours=1))
    made_link(database, link="c" * 43)
    with database.begin() as conn:
        kept = conn.execute(text("SELECT grid_user FROM sessions ORDER BY id")).scalars().all()
    assert kept == ["daemon", "nobody", "nobody"], "the link that nobody opened is gone"


def test_a_change_needs_the_proof_that_our_pages_hold(site: Served, database: Database) -> None:
    """The cookie alone, as another page of the same host may have a browser send it, changes nothing."""
    browser, other = signed_in(site.database, site.port), signed_in(site.database, site.port, "daemon")
    own, foreign = browser.get("/").proof, other.get("/").proof
    before = contents(database)
    for headers in (
        {},
        {"X-CiGri-Proof": ""},
        {"X-CiGri-Proof": foreign},
        {"X-CiGri-Proof": own[:-1]},
        {"X-CiGri-Proof": "é"},
        {"X-CiGri-Proof": own, "Origin": "https://evil.example.org"},
        {"X-CiGri-Proof": own, "Origin": "null"},
        {"X-CiGri-Proof": own, "Origin": "", "Sec-Fetch-Site": "same-site"},
        {"X-CiGri-Proof": own, "Origin": ""},
    ):
        assert changed(browser, headers) == 403, headers
    for form in ({}, {"proof": foreign}, {"proof": own, "Origin": "https://evil.example.org"}):
        origin = form.pop("Origin", f"http://{browser.name}")
        assert browser.post("/sign-out", form, Origin=origin).status == 403, form
    assert contents(database) == before
    assert changed(browser, {"X-CiGri-Proof": own}) == 200


def test_worthless_cookies_are_nobody(site: Served) -> None:
    browser = signed_in(site.database, site.port)
    right = browser.cookies[COOKIE]
    for cookie in (
        f"{COOKIE}={right[:-1]}",
        f"{COOKIE}={right}x",
        f"{COOKIE}={hash_of(right)}",
        f"{COOKIE}={LINK}",
        f"{COOKIE}=",
        f"{COOKIE.upper()}={right}",
        f"__Host-{COOKIE}={right}",
        f"{COOKIE}={right}; {COOKIE}={right}",
        f"{COOKIE}={'t' * 43}; {COOKIE}={right}",
        f"x={COOKIE}={right}",
        f'{COOKIE}="{right}"',
    ):
        told = browser.send("GET", "/api/v1/whoami", None, {"Cookie": cookie})
        assert told.status == 401, cookie


def test_a_cookie_counts_where_the_kernel_says_nothing(site: Served, nobody: int) -> None:
    """On the socket one is who one is, whatever cookie one has found, and so is whom the proxy names."""
    stolen = {"Cookie": f"{COOKIE}={signed_in(site.database, site.port, 'root', AccessScope.OPERATE).cookies[COOKIE]}"}
    assert site.get("/api/v1/whoami", uid=nobody, headers=stolen).body["user"] == "nobody"
    assert site.get("/api/v1/whoami", uid=1, headers=stolen).status == 401, "the proxy"


def test_a_worthless_token_does_not_fall_back_to_a_cookie(site: Served) -> None:
    browser = signed_in(site.database, site.port)
    assert browser.send("GET", "/api/v1/whoami", None, bearer("cgr_1_" + "s" * 43)).status == 401


def test_the_session_of_an_account_that_is_gone_opens_nothing(site: Served) -> None:
    assert whoami(signed_in(site.database, site.port, "gone-for-good")).status == 401


def test_a_stranger_is_told_how_to_sign_in(site: Served) -> None:
    for path in ("/", "/campaigns/1"):
        told = Browser(site.port).get(path)
        assert (told.status in (401, 404), "text/html" in told.headers["content-type"]) == (True, True)
    assert "gridweb" in Browser(site.port).get("/").words


def test_the_proof_of_a_page_is_told_to_its_reader_alone(browser: Browser, web: Served) -> None:
    own = {"Accept": "*/*", "Sec-Fetch-Site": "same-origin"}
    told = browser.get("/proof", **own)
    assert (told.status, told.text) == (200, browser.get("/").proof)
    assert told.headers["content-type"].startswith("text/plain")
    assert told.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in told.headers
    stranger = Browser(web.port).get("/proof", **own)
    assert (stranger.status, stranger.text) == (204, "")
    elsewhere = own | {"Origin": "http://elsewhere.example.org", "Sec-Fetch-Site": "cross-site"}
    assert browser.get("/proof", **elsewhere).status == 403
