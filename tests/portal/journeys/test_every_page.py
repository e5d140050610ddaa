"""What holds of every page, in a real browser: by whom it is read, on what screen, and with what script."""

from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, Route, ViewportSize, expect

from cigri.flow.audit import put_audit
from cigri.flow.events import NewEvent, put_events
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.identity.callers import AccessScope, Caller
from cigri.states import EventLevel
from tests.portal.conftest import HOSTILE, Served
from tests.portal.journeys.conftest import Visit
from tests.portal.test_browser_pages import PAGES

LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 740}
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
GRAVE = {"serious", "critical"}
FOR_ANYBODY = ["/sign-in", "/nothing"]
FOR_OPERATORS = ["/operator", "/operator/audit?before=2", "/operator/audit", "/operator/quotas", "/clusters/dahu"]
LONG = "sums_differ_" * 20

on_each_screen = pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])


@pytest.fixture
def troubled(web: Served) -> Served:
    """A grid of which operators are told something in each part of their page."""
    with web.database.begin() as conn:
        put_pass(conn, ModulePass("updator", "here", 1, 0.5, {}, ""))
        put_events(conn, [NewEvent("INVARIANT", EventLevel.ERROR, "tasks", f"{LONG} {HOSTILE}")])
        for _ in range(2):
            put_audit(conn, Caller("root"), "hold_campaign", {"campaign_id": 1, "reason": LONG})
    return web


@on_each_screen
def test_whoever_sees_hears_or_points_otherwise_can_use_it(screen: ViewportSize, web: Served, visit: Visit) -> None:
    assert grave(visit(web, viewport=screen), PAGES + FOR_ANYBODY) == {}


@on_each_screen
def test_so_can_operators(screen: ViewportSize, troubled: Served, visit: Visit) -> None:
    page = visit(troubled, "root", AccessScope.OPERATE, viewport=screen)
    assert grave(page, FOR_OPERATORS) == {}
    expect(page.get_by_role("button", name="Disable")).to_be_visible()


def grave(page: Page, paths: list[str]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Of each page and scheme of colours with any, its faults."""
    found = {}
    page.route("**/output", stand_still)
    for path in paths:
        leave_for(page, path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the screen"
        page.evaluate(AXE_SCRIPT)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found[path, scheme] = faults(page)
    return {where: told for where, told in found.items() if told}


def stand_still(route: Route) -> None:
    """A page that waits for a cluster loads itself anew each second: on a busy machine nobody would be done with it."""
    answer = route.fetch()
    route.fulfill(response=answer, headers={name: told for name, told in answer.headers.items() if name != "refresh"})


def leave_for(page: Page, path: str) -> None:
    """A page that loads itself anew would break off the way to the next one."""
    page.goto("about:blank")
    page.goto(path)


def faults(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds grave, and where."""
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [(fault["id"], node["html"]) for fault in found if fault["impact"] in GRAVE for node in fault["nodes"]]


def test_without_script_pages_lead_to_each_other_and_change_things(web: Served, visit: Visit) -> None:
    page = visit(web, java_script_enabled=False)
    for path in PAGES:
        leave_for(page, path)
        expect(page.locator("h1")).to_be_visible()
    leave_for(page, "/")
    page.get_by_role("link", name="1 sums").click()
    page.get_by_role("button", name="Hold").click()
    expect(page.locator("main .state").first).to_have_text("held")
    page.get_by_role("link", name="task 0").click()
    page.get_by_text("what it wrote").click()
    page.get_by_role("link", name="fetch it from dahu").click()
    expect(page.get_by_role("heading", name="Output of job")).to_be_visible()


def test_without_script_an_operator_is_told_all(troubled: Served, visit: Visit) -> None:
    page = visit(troubled, "root", AccessScope.OPERATE, java_script_enabled=False)
    page.get_by_role("link", name="operator").click()
    for heading in ("Modules", "What is wrong", "What the doctor finds", "Who changed what"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_role("row", name="hold campaign")).to_have_count(2)
