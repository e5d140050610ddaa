"""What holds of every page, in a real browser: by whom it is read, on what screen, and with what script."""

from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit
from tests.portal.test_browser_pages import PAGES

LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 740}
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
GRAVE = {"serious", "critical"}
FOR_ANYBODY = ["/sign-in", "/nothing"]


@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_whoever_sees_hears_or_points_otherwise_can_use_it(screen: ViewportSize, web: Served, visit: Visit) -> None:
    page = visit(web, viewport=screen)
    found = {}
    for path in PAGES + FOR_ANYBODY:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the screen"
        page.evaluate(AXE_SCRIPT)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found[path, scheme] = faults(page)
    assert {where: told for where, told in found.items() if told} == {}


def faults(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds grave, and where."""
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [(fault["id"], node["html"]) for fault in found if fault["impact"] in GRAVE for node in fault["nodes"]]


def test_without_script_pages_lead_to_each_other_and_change_things(web: Served, visit: Visit) -> None:
    page = visit(web, java_script_enabled=False)
    for path in PAGES:
        page.goto(path)
        expect(page.locator("h1")).to_be_visible()
    page.goto("/")
    page.get_by_role("link", name="1 sums").click()
    page.get_by_role("button", name="hold").click()
    expect(page.locator("main .state").first).to_have_text("held")
    page.get_by_role("link", name="task 0").click()
    page.get_by_text("what it wrote").click()
    page.get_by_role("link", name="fetch it from dahu").click()
    expect(page.get_by_role("heading", name="Output of job")).to_be_visible()
