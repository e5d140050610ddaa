"""The page of events: each sees their own, those of the grid are everybody's, and who may closes them."""

import re

import pytest

from cigri.database import Database
from cigri.flow.events import NewEvent, put_events
from cigri.flow.views.campaigns import list_campaigns
from cigri.identity.callers import AccessScope
from cigri.states import EventLevel, Outcome
from tests.factories import end_jobs, submitted_jobs
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import HOSTILE, Served
from tests.portal.test_attacks import contents


def press(browser: Browser, page: Page, **fields: str) -> Page:
    """A button of the first event of a page."""
    (action, *_) = re.findall(r'action="(/events/fix[^"]*)"', page.text)
    (ids, *_) = re.findall(r'name="ids" value="([^"]+)"', page.text)
    return browser.post(action.replace("&amp;", "&"), {"proof": page.proof, "ids": ids, **fields})


def failed(database: Database) -> int:
    with database.begin() as conn:
        return list_campaigns(conn, [1])[0].failed


def trouble(code: str, subject: str, message: str) -> NewEvent:
    return NewEvent(code, EventLevel.ERROR, subject, message, cluster_id=1)


@pytest.fixture
def troubled(web: Served) -> Served:
    """The grid has an event, too."""
    with web.database.begin() as conn:
        put_events(conn, [trouble("CLUSTER_UNREACHABLE", "dahu", f"dahu is away {HOSTILE}")])
    return web


def test_it_tells_what_failed_and_what_it_means(browser: Browser) -> None:
    told = browser.get("/events").words
    assert "1 event, open, the latest first. TASK_FAILED of campaign 1 on dahu open" in told
    assert "a task failed by its own fault, or died too often" in told
    assert "no such file" in told
    assert "task 0" in told


def test_dates_in_messages_are_those_of_the_reader(browser: Browser, web: Served) -> None:
    """A script puts them into the reader's zone."""
    with web.database.begin() as conn:
        put_events(conn, [trouble("CLUSTER_UNREACHABLE", "dahu", "next try at 2026-12-01 08:00:00 UTC")])
    assert 'next try at <time datetime="2026-12-01T08:00:00+00:00">' in browser.get("/events?of=grid").text


def test_failures_that_are_alike_are_one_entry(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        for _ in range(2):
            end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1), Outcome.FAILURE, exit_code=3)
    page = browser.get("/events")
    assert "3 x TASK_FAILED of campaign 1" in page.words
    press(browser, page)
    assert "There is no open event of your campaigns." in browser.get("/events").words


def test_an_event_is_closed_and_still_found(browser: Browser, web: Served) -> None:
    told = press(browser, browser.get("/events?campaigns=1"))
    assert (told.status, told.headers["location"]) == (303, "/events?campaigns=1")
    assert "TASK_FAILED" not in browser.get("/events").text
    assert re.search(r"closed .* by nobody", browser.get("/events?closed=1").words)
    assert failed(web.database) == 1


def test_a_failed_task_is_done_again(browser: Browser, web: Served) -> None:
    press(browser, browser.get("/events"), resubmit="1")
    assert failed(web.database) == 0


def test_what_was_closed_before_is_told(browser: Browser) -> None:
    page = browser.get("/events")
    assert [press(browser, page).status for _ in range(2)] == [303, 409]


def test_a_foreign_user_sees_and_closes_none_of_it(browser: Browser, web: Served) -> None:
    other = signed_in(web.database, web.port, "daemon")
    assert "There is no open event of your campaigns." in other.get("/events").words
    assert other.get("/events?campaigns=1").status == 404
    (ids,) = re.findall(r'name="ids" value="([^"]+)"', browser.get("/events").text)
    form = {"proof": other.get("/").proof, "ids": ids, "resubmit": "1"}
    before = contents(web.database)
    assert other.post("/events/fix", form).status == 404
    assert other.post("/events/fix", {**form, "of": "grid"}).status == 403
    assert contents(web.database) == before


def test_who_may_look_only_closes_nothing(browser: Browser, web: Served) -> None:
    reader = signed_in(web.database, web.port, "nobody", AccessScope.READ)
    told = reader.get("/events")
    assert ("TASK_FAILED" in told.text, "/events/fix" in told.text) == (True, False)
    (ids,) = re.findall(r'name="ids" value="([^"]+)"', browser.get("/events").text)
    before = contents(web.database)
    assert reader.post("/events/fix", {"proof": told.proof, "ids": ids}).status == 403
    assert contents(web.database) == before


def test_closing_needs_the_proof_of_a_page(browser: Browser, web: Served) -> None:
    before = contents(web.database)
    for form in ({}, {"proof": "0" * 64}):
        assert browser.post("/events/fix", {**form, "ids": "1"}).status == 403
    assert contents(web.database) == before


def test_events_of_the_grid_are_seen_by_all_and_closed_by_operators(browser: Browser, troubled: Served) -> None:
    told = browser.get("/events?of=grid")
    assert f"dahu is away {HOSTILE}" in told.words
    assert "<script>alert" not in told.text
    assert "/events/fix" not in told.text
    assert "of clusters and the grid: 1 open" in browser.get("/events").words
    operator = signed_in(troubled.database, troubled.port, "root", AccessScope.OPERATE)
    assert press(operator, operator.get("/events?of=grid"), of="grid").headers["location"] == "/events?of=grid"
    assert "There is no open event" in browser.get("/events?of=grid").words


def test_older_events_are_behind_a_link(browser: Browser, troubled: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with troubled.database.begin() as conn:
        put_events(conn, [trouble("CLUSTER_ANSWER", f"s{at}", f"answer {at}") for at in range(120)])
    (older,) = re.findall(r'href="([^"]+)" rel="next"', browser.get("/events?of=grid").text)
    told = browser.get(older.replace("&amp;", "&")).words
    assert ("dahu is away" in told, "answer 119" in told) == (True, False)


@pytest.fixture
def operator(troubled: Served) -> Browser:
    """Who sees three open events of the grid."""
    with troubled.database.begin() as conn:
        put_events(conn, [trouble("NODE_SICK", "dahu-1", "it is sick"), trouble("NODE_SICK", "dahu-2", "it is sick")])
    return signed_in(troubled.database, troubled.port, "root", AccessScope.OPERATE)


def marks(page: Page) -> dict[str, str]:
    return dict(re.findall(r'name="(mark-\d+)" value="([^"]+)"', page.text))


def test_events_that_are_marked_are_closed_together(operator: Browser) -> None:
    page = operator.get("/events?of=grid")
    chosen = dict(list(marks(page).items())[:2])
    told = operator.post("/events/fix?of=grid", {"proof": page.proof, "of": "grid", **chosen})
    assert (told.status, told.headers["location"]) == (303, "/events?of=grid")
    after = operator.get("/events?of=grid")
    assert ("1 event, open" in after.words, "CLUSTER_UNREACHABLE" in after.words) == (True, True)
    assert marks(after) == {}, "one alone has a button of its own"


def test_all_events_of_a_page_are_closed_at_once(operator: Browser) -> None:
    page = operator.get("/events?of=grid")
    (ids,) = re.findall(r'id="close-all" name="ids" value="([^"]+)"', page.text)
    assert "Close all on this page: 3 entries" in page.words
    operator.post("/events/fix?of=grid", {"proof": page.proof, "of": "grid", "ids": ids})
    assert "There is no open event." in operator.get("/events?of=grid").words


def test_where_none_is_marked_none_is_closed(operator: Browser) -> None:
    page = operator.get("/events?of=grid")
    told = operator.post("/events/fix?of=grid", {"proof": page.proof, "of": "grid"})
    assert (told.status, "no event is marked" in told.words) == (400, True)
    assert "3 events, open" in operator.get("/events?of=grid").words


def test_who_may_close_none_marks_none(operator: Browser, browser: Browser, web: Served) -> None:
    page = browser.get("/events?of=grid")
    assert ("3 events, open" in page.words, marks(page), "close-all" in page.text) == (True, {}, False)
    before = contents(web.database)
    chosen = marks(operator.get("/events?of=grid"))
    proof = browser.get("/submit").proof
    assert browser.post("/events/fix?of=grid", {"proof": proof, "of": "grid", **chosen}).status == 403
    assert contents(web.database) == before
