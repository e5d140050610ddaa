"""Pages: what a reader sees of campaigns, that nothing in them is more than text, and that strangers see none."""

import hashlib
import re

import pytest
from sqlalchemy import text

from cigri.flow.campaigns import cancel_campaign
from cigri.flow.holds import hold_campaign
from cigri.identity.callers import Caller
from modules.portal.rendering.page_renderer import STATIC
from tests.factories import a_campaign, end_jobs, submitted_jobs
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import HOSTILE, Served

VENDORED = STATIC / "vendored"
OUTSIDE = re.compile(r"""(?:https?:)?//[\w.]+|@import|url\(""")
INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE)


PAGES = [
    "/",
    "/campaigns/1",
    "/campaigns/2",
    "/campaigns/1?state=failed&cluster=dahu",
    "/campaigns/1/course",
    "/campaigns/1/tasks/0",
    "/campaigns/1/tasks/0/files",
    "/jobs/1/output",
    "/submit",
    "/submit?example=table",
    "/events",
    "/events?of=grid&closed=1",
    "/clusters",
    "/clusters/dahu",
    "/usage",
]
"""Of a browser that may see all of them."""


def test_home_shows_a_line_for_each_campaign_of_mine(browser: Browser) -> None:
    told = browser.get("/")
    assert told.status == 200
    assert "1 sums" in told.words
    assert "needs you: 1 failed 0/4" in told.words
    assert "1 failed 3 waiting" in told.words
    assert "1 to fix" in told.words
    assert "held 0/2" in told.words
    assert "theirs" not in told.words


def test_home_says_why_nothing_runs(browser: Browser) -> None:
    assert "dahu: " in browser.get("/").words


def test_home_shows_others_where_they_are_named(browser: Browser) -> None:
    assert "3 theirs" in browser.get("/?user=daemon").words
    everybody = browser.get("/?user=*").words
    assert ("1 sums" in everybody, "3 theirs of daemon" in everybody) == (True, True)


@pytest.mark.parametrize("path", PAGES)
def test_nothing_in_a_page_is_more_than_text(path: str, browser: Browser) -> None:
    told = browser.get(path)
    assert "<script>alert" not in told.text
    assert not INLINE.search(told.text)
    assert not OUTSIDE.search(told.text)


def test_a_hostile_name_is_shown_as_it_is(browser: Browser) -> None:
    assert HOSTILE in browser.get("/").words


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/static/page.js", "/static/nothing", "/api/v1/whoami", "/sign-in", "/healthz"]
)
@pytest.mark.parametrize("is_known", [True, False])
def test_browsers_are_told_to_run_nothing_but_ours(path: str, is_known: bool, web: Served) -> None:
    told = (signed_in(web.database, web.port) if is_known else Browser(web.port)).get(path)
    policy = dict(part.split(" ", 1) for part in told.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert told.headers["x-content-type-options"] == "nosniff"
    assert told.headers["referrer-policy"] == "same-origin"


def test_pages_are_kept_by_nobody_and_static_files_for_a_day(browser: Browser) -> None:
    assert browser.get("/").headers["cache-control"] == "no-store"
    assert browser.get("/static/style.css").headers["cache-control"] == "max-age=86400"


@pytest.mark.parametrize("path", PAGES)
def test_strangers_are_told_how_to_sign_in_and_no_more(path: str, web: Served) -> None:
    told = Browser(web.port).get(path)
    assert (told.status, "gridweb" in told.words) == (401, True)
    assert "sums" not in told.text


def test_what_is_refused_is_told_in_a_page(browser: Browser) -> None:
    told = browser.get("/?state=perhaps")
    assert (told.status, "state 'perhaps' is not known here; there are held," in told.words) == (400, True)
    assert "text/html" in told.headers["content-type"]
    assert browser.get("/nothing").status == 404


@pytest.mark.parametrize("path", PAGES)
def test_words_that_an_address_may_not_have_are_refused(path: str, browser: Browser) -> None:
    told = browser.get(f"{path}{'&' if '?' in path else '?'}ended=1")
    assert (told.status, "'ended' in the address is not known here; " in told.words) == (400, True), told.words


def test_it_is_said_which_words_an_address_may_have(browser: Browser) -> None:
    home, one = browser.get("/?ended=1").words, browser.get("/campaigns/1?number=1").words
    assert "there are user, name, project, state, order, after" in home
    assert "there are state, cluster, exit_code, node, parameter, first, last, after, order" in one
    assert "this page takes none" in browser.get("/clusters?x=1").words


def test_programs_are_told_as_json(browser: Browser) -> None:
    told = browser.get("/?order=perhaps", Accept="*/*")
    assert told.headers["content-type"] == "application/problem+json"


def test_pages_name_only_what_is_served(browser: Browser) -> None:
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', browser.get("/").text):
        assert browser.get(name).status == 200, name


def test_vendored_files_are_what_their_sums_say() -> None:
    sums = dict(line.split("  ")[::-1] for line in (VENDORED / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == {path.name for path in VENDORED.iterdir()} - {"SHA256SUMS"}
    for name, told in sums.items():
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == told, name


def test_our_own_static_files_ask_nobody_else() -> None:
    for path in STATIC.iterdir():
        if path.is_file():
            assert not OUTSIDE.search(re.sub(r"^\s*//.*", "", path.read_text(), flags=re.MULTILINE)), path


def test_home_goes_on_behind_the_last_line(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.home.MOST_LINES", 1)
    (following,) = re.findall(r'href="([^"]+)" rel="next"', browser.get("/").text)
    told = browser.get(following.replace("&amp;", "&"))
    assert ("1 sums" in told.words, HOSTILE in told.words) == (False, True)


def test_home_shows_what_ended_lately_below_what_is_open(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        cancel_campaign(conn, 2, Caller("nobody"))
        old = a_campaign(conn, 1, user="nobody", name="long ago")
        cancel_campaign(conn, old, Caller("nobody"))
        conn.execute(text(f"UPDATE campaigns SET ended_at = now() - interval '8 days' WHERE id = {old}"))
    shown, _, ended = browser.get("/").words.partition("Ended in the last 7 days")
    assert ("1 sums" in shown, HOSTILE in shown, HOSTILE in ended) == (True, False, True)
    assert "long ago" not in ended
    assert f"{old} long ago" in browser.get("/?state=all").words


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("name=SUM", ["1"]),
        ("name=%25", []),
        ("name=script", ["2"]),
        ("user=*&project=physics", ["4"]),
        ("state=held", ["2", "4"]),
        ("state=cancelled", []),
        ("user=*&order=-id", ["4", "3", "2", "1"]),
        ("user=*&order=name", ["2", "4", "1", "3"]),
        ("user=*&order=-name", ["3", "1", "4", "2"]),
        ("user=*&order=project", ["1", "2", "3", "4"]),
        ("user=*&order=state", ["1", "2", "3", "4"]),
        ("name=&project=&state=&order=", ["1", "2", "4"]),
    ],
)
def test_campaigns_are_found_and_sorted(
    query: str, shown: list[str], browser: Browser, web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one page, and on pages of one that lead to each other."""
    with web.database.begin() as conn:
        assert a_campaign(conn, 1, user="nobody", name="Matrices") == 4
        conn.execute(text("INSERT INTO projects (name) VALUES ('physics')"))
        conn.execute(text("UPDATE campaigns SET project_id = 1 WHERE id = 4"))
        hold_campaign(conn, 4, Caller("nobody"))
    told = browser.get(f"/?{query}")
    assert listed(told.text) == shown
    assert ("No campaign is like this" in told.words) is not bool(shown)
    monkeypatch.setattr("modules.portal.pages.home.MOST_LINES", 1)
    found, following = list[str](), [f"/?{query}"]
    while following:
        told = browser.get(following[0].replace("&amp;", "&"))
        found += listed(told.text)
        following = re.findall(r'href="([^"]+)" rel="next"', told.text)
    assert found == shown


def listed(page: str) -> list[str]:
    return re.findall(r'<td data-label="campaign"><a href="/campaigns/(\d+)"', page)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("project=alchemy", 404, "there is no project 'alchemy'"),
        ("state=lost", 400, "state 'lost' is not known here"),
        ("order=size", 400, "order 'size' is not known here"),
    ],
)
def test_what_nobody_knows_is_refused_in_a_sentence(query: str, status: int, words: str, browser: Browser) -> None:
    told = browser.get(f"/?{query}")
    assert (told.status, words in told.words) == (status, True)


def test_home_draws_how_fast_a_campaign_is(browser: Browser, web: Served) -> None:
    assert 'class="spark"' not in browser.get("/").text
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '1 hour' WHERE id = 1"))
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 2))
    told = browser.get("/")
    assert (told.status, told.text.count('class="spark"')) == (200, 1)
    assert "at most 60.0 an hour" in told.text


def test_times_are_told_from_now_with_the_exact_one_in_the_title(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '150 minutes' WHERE id = 1"))
        conn.execute(text("UPDATE campaigns SET submitted_at = '2020-02-03 04:05:06Z' WHERE id = 2"))
    told = browser.get("/campaigns/1").text
    assert re.search(
        r'<time class="relative" datetime="[^"]+\+00:00" title="[-0-9]+ [:0-9]+ UTC">2 hours ago</time>', told
    )
    assert '<time datetime="2020-02-03T04:05:06+00:00">2020-02-03 04:05 UTC</time>' in browser.get("/campaigns/2").text


@pytest.mark.parametrize(
    ("path", "here"),
    [
        ("/", "my campaigns"),
        ("/?state=all", "my campaigns"),
        ("/?user=nobody", "my campaigns"),
        ("/?user=*", "all campaigns"),
        ("/?user=%2A&order=-id", "all campaigns"),
        ("/submit", "submit"),
        ("/clusters/dahu", "clusters"),
        ("/usage", "usage"),
    ],
)
def test_the_page_that_one_is_on_is_marked(path: str, here: str, browser: Browser) -> None:
    nav = browser.get(path).text.partition("</nav>")[0]
    assert re.findall(r'aria-current="page">([^<]+)<', nav) == [here]


def test_no_page_is_marked_on_others(browser: Browser) -> None:
    for path in ("/campaigns/1", "/?user=daemon"):
        assert "aria-current" not in browser.get(path).text.partition("</nav>")[0]


def test_the_title_says_how_far_a_campaign_is(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1))
    assert "<title>25 % · sums · CiGri</title>" in browser.get("/campaigns/1").text


def test_one_task_is_no_tasks(browser: Browser) -> None:
    assert "0 of 1 task done" in browser.get("/campaigns/3").words
    assert "1 event, open" in browser.get("/events").words


@pytest.mark.parametrize("path", ["//clusters", "/clusters/../events", "/clusters/a%2fb"])
def test_a_browser_reads_of_a_crooked_path_on_a_page(path: str, browser: Browser) -> None:
    told = browser.get(path)
    assert (told.status, told.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "this path is not written straight" in told.words
