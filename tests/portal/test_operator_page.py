"""The operator's page: for operators alone, by the rule of the audit trail's endpoint."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import func, text, update

from cigri.flow.events import NewEvent, put_events
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.flow.views.invariants import BROKEN_PROMISE
from cigri.identity.callers import AccessScope
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster
from cigri.tables.grid import ModuleState
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import HOSTILE, Served


@pytest.fixture
def operator(web: Served) -> Browser:
    return signed_in(web.database, web.port, "root", AccessScope.OPERATE)


@pytest.mark.parametrize(
    ("user", "scope"),
    [("nobody", AccessScope.OPERATE), ("daemon", AccessScope.SUBMIT), ("root", AccessScope.SUBMIT)],
    ids=str,
)
def test_others_are_refused_and_not_led_there(user: str, scope: AccessScope, web: Served) -> None:
    other = signed_in(web.database, web.port, user, scope)
    told = other.get("/operator")
    assert (told.status, "this is for operators only" in told.words) == (403, True)
    assert "Who changed what" not in told.text
    assert 'href="/operator"' not in other.get("/").text


def test_strangers_are_refused(web: Served) -> None:
    assert Browser(web.port).get("/operator").status == 401


def test_operators_are_led_there(operator: Browser) -> None:
    assert 'href="/operator"' in operator.get("/").text


def test_it_tells_how_many_forecasts_held_and_of_how_many(operator: Browser, web: Served) -> None:
    assert "forecasts that held" not in operator.get("/operator").words
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET state = 'terminated', ended_at = now() WHERE id = 1"))
        conn.execute(
            text(
                "INSERT INTO forecast_history (campaign_id, at, ratio, remaining, eta, eta_low, eta_high)"
                " SELECT 1, now() - n * interval '1 min', 1, 1, now(), now() - (2 - n) * interval '1 h',"
                " now() + interval '1 h' FROM generate_series(1, 4) AS n"
            )
        )
    assert "forecasts that held 50 % of 4 intervals" in operator.get("/operator").words


def test_it_tells_whether_the_grid_is_at_work(operator: Browser, web: Served) -> None:
    told = operator.get("/operator").words
    assert "Not ready: no almighty." in told
    assert "None has made a pass." in told
    with web.database.begin() as conn:
        put_pass(conn, ModulePass("updator", "here", 1, 0.5, {}, ""))
    assert "updator works" in operator.get("/operator").words


def test_it_tells_what_is_wrong(operator: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        put_events(conn, [NewEvent("INVARIANT", EventLevel.ERROR, "tasks", f"sums differ {HOSTILE}")])
    told = operator.get("/operator")
    assert f"sums differ {HOSTILE}" in told.words
    assert "<script>alert" not in told.text


def test_it_tells_what_the_doctor_finds_and_when(operator: Browser, web: Served) -> None:
    told = operator.get("/operator").words
    assert "odd check failed: everything runs that should nothing cycles the modules: run `cigri up`" in told
    assert "good every cluster answers good the clocks of front-ends are right good nothing is stuck" in told
    assert "The janitor has looked at no promise yet." in told
    with web.database.begin() as conn:
        conn.execute(update(Cluster).values(failures=3, blocked_until=func.now()))
        put_events(conn, [NewEvent(BROKEN_PROMISE, EventLevel.ERROR, "tasks", f"2 times {HOSTILE}")])
        put_pass(conn, ModulePass("janitor", "here", 1, 0.5, {}, ""))
        conn.execute(update(ModuleState).values(started_at=func.now() - timedelta(hours=2)))
    told = operator.get("/operator").words
    assert f"broken check failed: the promises of the tables held when the janitor looked 2 times {HOSTILE}" in told
    assert "odd check failed: every cluster answers dahu: 3 visits in a row failed" in told
    assert re.search(r"As of \d{4}-[^.]+ UTC ?\. The janitor looked 2 h before\.", told), told


def test_it_looks_at_no_task_for_that(operator: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(text("INSERT INTO task_counts (campaign_id, state, n) VALUES (4711, 'waiting', 3)"))
    assert "good the promises of the tables held when the janitor looked" in operator.get("/operator").words


def test_it_tells_who_changed_what(browser: Browser, operator: Browser) -> None:
    browser.post("/campaigns/1/hold", {"proof": browser.get("/campaigns/1").proof})
    for path in ("/operator", "/operator/audit"):
        assert re.search(r"UTC nobody session \d+ hold campaign campaign 1 ", operator.get(path).words), path
