"""The operator's page: for operators alone, by the rule of the audit trail's endpoint."""

import re

import pytest

from cigri.flow.events import NewEvent, put_events
from cigri.flow.passes import Pass, put_pass
from cigri.rules.callers import Scope
from cigri.states import EventLevel
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import HOSTILE, Served


@pytest.fixture
def operator(web: Served) -> Browser:
    return signed_in(web.database, web.port, "root", Scope.OPERATE)


@pytest.mark.parametrize(
    ("user", "scope"), [("nobody", Scope.OPERATE), ("daemon", Scope.SUBMIT), ("root", Scope.SUBMIT)], ids=str
)
def test_others_are_refused_and_not_led_there(user: str, scope: Scope, web: Served) -> None:
    other = signed_in(web.database, web.port, user, scope)
    told = other.get("/operator")
    assert (told.status, "this is for operators only" in told.words) == (403, True)
    assert "Who changed what" not in told.text
    assert 'href="/operator"' not in other.get("/").text


def test_strangers_are_refused(web: Served) -> None:
    assert Browser(web.port).get("/operator").status == 401


def test_operators_are_led_there(operator: Browser) -> None:
    assert 'href="/operator"' in operator.get("/").text


def test_it_tells_whether_the_grid_is_at_work(operator: Browser, web: Served) -> None:
    told = operator.get("/operator").words
    assert "Not ready: no almighty." in told
    assert "None has made a pass." in told
    with web.database.begin() as conn:
        put_pass(conn, Pass("updator", "here", 1, 0.5, {}, ""))
    assert "updator works" in operator.get("/operator").words


def test_it_tells_what_is_wrong(operator: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        put_events(conn, [NewEvent("INVARIANT", EventLevel.ERROR, "tasks", f"sums differ {HOSTILE}")])
    told = operator.get("/operator")
    assert f"sums differ {HOSTILE}" in told.words
    assert "<script>alert" not in told.text


def test_it_tells_who_changed_what(browser: Browser, operator: Browser) -> None:
    browser.post("/campaigns/1/hold", {"proof": browser.get("/campaigns/1").proof})
    assert re.search(r'UTC nobody session \d+ hold campaign \{"campaign_id": 1\}', operator.get("/operator").words)


def test_older_changes_are_behind_a_link(browser: Browser, operator: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.pages.operator.MOST_CHANGES", 1)
    proof = browser.get("/campaigns/1").proof
    for action in ("hold", "release"):
        browser.post(f"/campaigns/1/{action}", {"proof": proof})
    told = operator.get("/operator")
    (older,) = re.findall(r'href="([^"#]+)#audit" rel="next"', told.text)
    assert ("release campaign" in told.words, "hold campaign" in told.words) == (True, False)
    assert "hold campaign" in operator.get(older).words
