"""A campaign's page, and what its owner does on it; a foreign user sees numbers and changes nothing."""

import re
from typing import Any

import pytest
from sqlalchemy import select, text

from cigri.api_models.campaigns import CampaignView
from cigri.database import Database
from cigri.flow.audit import list_audit
from cigri.flow.views.campaigns import list_campaigns
from cigri.identity.callers import AccessScope
from cigri.states import Outcome
from cigri.tables.campaigns import Bucket
from cigri.tables.tasks import Task
from tests.factories import a_campaign, end_jobs, run_jobs, submitted_jobs
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import HOSTILE, Served
from tests.portal.test_attacks import contents

LARGEST_PAGE = 200_000  # bytes


def press(browser: Browser, path: str, *, page: str = "/campaigns/1", **fields: str) -> Page:
    """A button of that page."""
    return browser.post(path, {"proof": browser.get(page).proof, **fields})


def found(database: Database, campaign_id: int = 1) -> CampaignView:
    with database.begin() as conn:
        return list_campaigns(conn, [campaign_id])[0]


def failure_key(browser: Browser) -> str:
    (key,) = re.findall(r'id="failure-(\w+)"', browser.get("/campaigns/1").text)
    return str(key)


def test_it_tells_how_far_it_is_and_what_failed(browser: Browser) -> None:
    told = browser.get("/campaigns/1").words
    assert "1 sums needs you: 1 failed" in told
    assert "0 of 4 tasks done (0%)" in told
    assert "1 failed 3 waiting" in told
    assert "1 x exit 3 on dahu no such file task 0" in told
    assert "1 failed task waits for a decision" in told


def test_it_says_what_is_true_of_its_state(browser: Browser, web: Served) -> None:
    """Of one that fails while it runs, of one with no job, and of one that only its user can move on."""
    with web.database.begin() as conn:
        jobs = submitted_jobs(conn, 1, 1, 3)
    assert "1 sums queued 1 failed of nobody" in browser.get("/campaigns/1").words
    with web.database.begin() as conn:
        run_jobs(conn, jobs)
    assert "1 sums running 1 failed of nobody" in browser.get("/campaigns/1").words
    with web.database.begin() as conn:
        end_jobs(conn, 1, jobs)
    assert "1 sums needs you: 1 failed of nobody" in browser.get("/campaigns/1").words
    press(browser, f"/campaigns/1/failures/{failure_key(browser)}/ignore")
    assert "1 failed of nobody" not in browser.get("/campaigns/1").words


def test_other_kinds_of_failures_than_the_first_are_folded(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        for code in (4, 5):
            end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1), Outcome.FAILURE, exit_code=code)
    told = browser.get("/campaigns/1").text.partition('id="more-failures"')
    assert [part.count('class="failure"') for part in told] == [2, 0, 1]
    assert "1 more kind<" in told[2]


def test_it_tells_why_there_is_not_more(browser: Browser) -> None:
    assert re.search(r"dahu [a-z ]+ 0 0 0 1 \w+", browser.get("/campaigns/1").words)


def test_a_hostile_campaign_is_shown_as_it_is(browser: Browser) -> None:
    told = browser.get("/campaigns/2")
    assert f"2 {HOSTILE} held" in told.words
    assert "<script>alert" not in told.text


def test_its_tasks_are_gone_through_by_number(browser: Browser) -> None:
    told = browser.get("/campaigns/1?after=1").text
    assert re.findall(r'/campaigns/1/tasks/(\d+)">\d', told.partition('id="tasks"')[2]) == ["2", "3"]


def test_a_strip_of_all_tasks_leads_to_those_that_failed(browser: Browser) -> None:
    told = browser.get("/campaigns/1").text
    strip = told.partition('class="strip"')[2].partition("</svg>")[0]
    assert dict(re.findall(r'<path class="(\w+)" d="([^"]+)"', strip)) == {
        "failed": "M0 0h1v40H0z",
        "waiting": "M1 0h3v40H1z",
    }
    assert re.findall(r"<title>(.+?)</title>", strip)[:2] == ["tasks 0 to 0: 1 failed", "tasks 1 to 1: 1 waiting"]
    assert 'the first ones: <a href="/campaigns/1?first=0&amp;last=0#tasks">0</a>' in told


def test_a_range_of_tasks_is_zoomed_into_and_gone_through(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.campaign.SHOWN_TASKS", 2)
    told = browser.get("/campaigns/1?first=1&last=3")
    assert "Tasks 1 to 3" in told.words
    assert listed(told) == ["1", "2"]
    assert re.findall(r'<path class="(\w+)" d="([^"]+)"', told.text) == [("waiting", "M0 0h3v40H0z")]
    (following,) = re.findall(r'href="([^"]+)#tasks" rel="next"', told.text)
    told = browser.get("/campaigns/1" + following.replace("&amp;", "&"))
    assert listed(told) == ["3"]
    assert 'rel="next"' not in told.text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("state=failed", ["0"]),
        ("state=waiting&order=-number", ["3", "2", "1"]),
        ("cluster=dahu", ["0"]),
        ("exit_code=3", ["0"]),
        ("exit_code=4", []),
        ("node=node-1", ["0"]),
        ("parameter=2", ["2"]),
        ("state=&cluster=&exit_code=&node=&parameter=&first=&last=&order=number", ["0", "1", "2", "3"]),
    ],
)
def test_tasks_are_found(query: str, shown: list[str], browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    told = browser.get(f"/campaigns/1?{query}")
    assert listed(told) == shown
    assert ("No task is like this" in told.words) is not bool(shown)
    monkeypatch.setattr("modules.portal.pages.campaign.SHOWN_TASKS", 1)
    monkeypatch.setattr("cigri.flow.views.task_search.MOST_EXAMINED", 2)
    found, following = list[str](), [f"?{query}"]
    while following:
        told = browser.get(f"/campaigns/1{following[0].replace('&amp;', '&')}")
        found += listed(told)
        following = re.findall(r'href="([^"]+)#tasks" rel="next"', told.text)
    assert found == shown


def listed(page: Page) -> list[str]:
    return re.findall(r"tasks/(\d+)\">\d", page.text.partition('id="tasks"')[2])


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("state=lost", 400, "state 'lost': no task is ever in it"),
        ("cluster=luke", 404, "there is no cluster 'luke'"),
        ("order=node", 400, "tasks are sorted by number"),
        ("exit_code=much", 422, "exit_code"),
    ],
)
def test_what_nobody_knows_is_refused_in_a_sentence(query: str, status: int, words: str, browser: Browser) -> None:
    told = browser.get(f"/campaigns/1?{query}")
    assert (told.status, words in told.words) == (status, True)


def test_others_do_not_search_in_parameters(web: Served) -> None:
    other = signed_in(web.database, web.port, "daemon")
    assert 'name="parameter"' not in other.get("/campaigns/1").text
    assert other.get("/campaigns/1?parameter=2").status == 403


@pytest.mark.parametrize("query", ["first=4&last=9", "first=2&last=1", "first=-1&last=2", "last=-1"])
def test_a_range_without_tasks_is_refused_in_a_sentence(query: str, browser: Browser) -> None:
    for path in ("/campaigns/1", "/campaigns/1/strip"):
        told = browser.get(f"{path}?{query}")
        assert (told.status, "this campaign has the tasks 0 to 3" in told.words) == (400, True)


def test_the_strip_of_many_tasks_comes_behind_the_page(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = browser.get("/campaigns/1").text
    monkeypatch.setattr("modules.portal.pages.campaign.STRIP_AT_ONCE", 3)
    later = browser.get("/campaigns/1").text
    assert ('class="strip"' in at_once, 'class="strip"' in later) == (True, False)
    (path,) = re.findall(r'hx-get="(/campaigns/1/strip)"', later)
    strip = browser.get(path).text.partition('<div class="whole">')[2].partition("</svg>")[0]
    assert strip
    assert strip in at_once


def test_its_owner_takes_it_off_the_lists_once_it_has_ended(browser: Browser, web: Served) -> None:
    assert "act-forget" not in browser.get("/campaigns/1").text
    press(browser, "/campaigns/1/cancel")
    assert "1 sums" in browser.get("/?state=all").words
    assert press(browser, "/campaigns/1/forget").status == 303
    assert "1 sums" not in browser.get("/?state=all").words
    assert "act-forget" in browser.get("/campaigns/1").text


@pytest.mark.parametrize(
    ("actions", "state", "is_held"),
    [
        (["hold"], "in_treatment", True),
        (["hold", "release"], "in_treatment", False),
        (["cancel"], "cancelled", False),
    ],
    ids=str,
)
def test_its_owner_changes_it(actions: list[str], state: str, is_held: bool, browser: Browser, web: Served) -> None:
    for action in actions:
        assert f'id="act-{action}"' in browser.get("/campaigns/1").text
        told = press(browser, f"/campaigns/1/{action}")
        assert (told.status, told.headers["location"]) == (303, "/campaigns/1")
    assert (found(web.database).state, found(web.database).is_held) == (state, is_held)
    assert ("Held by nobody" in browser.get("/campaigns/1").words) is is_held
    with web.database.begin() as conn:
        trail = [(entry.user, entry.how) for entry in list_audit(conn)]
    assert trail[-1] == ("nobody", "session 1"), "who has done it is known"


def test_its_owner_sets_its_priority(browser: Browser, web: Served) -> None:
    assert press(browser, "/campaigns/1/priority", priority="7").status == 303
    assert found(web.database).own_priority == 7
    assert "7 among those of nobody" in browser.get("/campaigns/1").words
    refused = press(browser, "/campaigns/1/priority", priority="high")
    assert (refused.status, "'high' is no number" in refused.words) == (400, True)


def test_what_failed_is_retried(browser: Browser, web: Served) -> None:
    told = press(browser, f"/campaigns/1/failures/{failure_key(browser)}/retry")
    assert (told.status, told.headers["location"]) == (303, "/campaigns/1#failures")
    assert (found(web.database).failed, found(web.database).waiting) == (0, 4)


def test_what_failed_is_retried_with_more(browser: Browser, web: Served) -> None:
    assert "Retry with..." in browser.get("/campaigns/1").words
    path = f"/campaigns/1/failures/{failure_key(browser)}/retry"
    refused = press(browser, path, mem="much", walltime="2h")
    assert (refused.status, "--mem much: expected an amount of memory" in refused.words) == (400, True)
    assert found(web.database).failed == 1
    assert press(browser, path, mem=" 2GB ", walltime="2h").status == 303
    own = select(Bucket.c.requirements["own"]).join(Task, Task.c.bucket_id == Bucket.c.id)
    with web.database.begin() as conn:
        given = conn.scalar(own.where(Task.c.campaign_id == 1, Task.c.number == 0))
    assert given == {"mem": 2048, "walltime": 7200}


def test_what_failed_is_ignored_once(browser: Browser, web: Served) -> None:
    key = failure_key(browser)
    assert press(browser, f"/campaigns/1/failures/{key}/ignore").status == 303
    assert (found(web.database).failed, found(web.database).errors) == (1, 0)
    assert f"ignore-{key}" not in browser.get("/campaigns/1").text
    assert press(browser, f"/campaigns/1/failures/{key}/ignore").status == 409


def test_other_failures_are_left_alone(browser: Browser, web: Served) -> None:
    key = failure_key(browser)
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1), Outcome.FAILURE, exit_code=4)
    press(browser, f"/campaigns/1/failures/{key}/ignore")
    assert (found(web.database).failed, found(web.database).errors) == (2, 1)
    press(browser, f"/campaigns/1/failures/{key}/retry")
    assert found(web.database).failed == 1


@pytest.mark.parametrize("path", ["failures/0123456789abcdef/retry", "failures/x/mend", "explode"])
def test_what_is_not_there_is_not_done(path: str, browser: Browser, web: Served) -> None:
    proof = browser.get("/campaigns/1").proof
    before = contents(web.database)
    assert browser.post(f"/campaigns/1/{path}", {"proof": proof}).status in (404, 409)
    assert contents(web.database) == before


BUTTONS = ["hold", "cancel", "priority", "failures/KEY/retry", "failures/KEY/ignore"]


@pytest.mark.parametrize("path", BUTTONS)
def test_a_foreign_user_sees_numbers_and_changes_nothing(path: str, browser: Browser, web: Served) -> None:
    path = f"/campaigns/1/{path}".replace("KEY", failure_key(browser))
    other = signed_in(web.database, web.port, "daemon")
    told = other.get("/campaigns/1")
    assert "1 x exit 3 on dahu" in told.words
    assert "no such file" not in told.text, "what tasks wrote is their owner's"
    assert "act-cancel" not in told.text
    form = {"proof": told.proof, "priority": "3"}
    before = contents(web.database)
    assert other.post(path, form).status in (404, 409)
    assert contents(web.database) == before


@pytest.mark.parametrize("path", BUTTONS)
def test_who_may_look_only_changes_nothing(path: str, browser: Browser, web: Served) -> None:
    path = f"/campaigns/1/{path}".replace("KEY", failure_key(browser))
    reader = signed_in(web.database, web.port, "nobody", AccessScope.READ)
    told = reader.get("/campaigns/1")
    assert "act-cancel" not in told.text
    before = contents(web.database)
    assert reader.post(path, {"proof": told.proof, "priority": "3"}).status == 403
    assert contents(web.database) == before


@pytest.mark.parametrize("path", BUTTONS)
def test_a_form_without_its_proof_changes_nothing(path: str, browser: Browser, web: Served) -> None:
    path = f"/campaigns/1/{path}".replace("KEY", failure_key(browser))
    before = contents(web.database)
    for form in ({}, {"proof": ""}, {"proof": "0" * 64}):
        assert browser.post(path, {**form, "priority": "3"}).status == 403
    assert contents(web.database) == before


def test_an_operator_may_do_what_the_owner_may(web: Served) -> None:
    operator = signed_in(web.database, web.port, "root", AccessScope.OPERATE)
    assert press(operator, "/campaigns/1/hold").status == 303
    assert found(web.database).is_held


def test_a_campaign_of_many_tasks_is_a_page_of_bounded_size(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        number = a_campaign(conn, ["x" * 5000] * 3000, user="nobody")
        for index in range(40):
            jobs = submitted_jobs(conn, number, 1, 5)
            end_jobs(conn, 1, jobs, Outcome.FAILURE, exit_code=index + 1)
        conn.execute(text("UPDATE events SET message = message || :wrote"), {"wrote": "y" * 20_000})
    told = browser.get(f"/campaigns/{number}")
    assert told.status == 200
    assert "20 other kinds" in told.words
    assert len(told.text.encode()) < LARGEST_PAGE
    assert len(browser.get("/").text.encode()) < LARGEST_PAGE


@pytest.mark.parametrize("path", ["/campaigns/9", "/campaigns/9/tasks/0", "/campaigns/1/tasks/9", "/jobs/99/output"])
def test_what_is_not_there_is_told(path: str, browser: Browser) -> None:
    told: Any = browser.get(path)
    assert (told.status, "Not Found" in told.words) == (404, True)
