"""A campaign is written in a real browser: it is judged while it is typed, and submitted."""

import re

from playwright.sync_api import expect

from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit

CAMPAIGN = "name: typed\nexec_file: run\nclusters: {dahu: {}}\n"


def test_it_is_judged_while_it_is_typed(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.get_by_role("link", name="submit").click()
    described, verdict = page.get_by_label("description, as"), page.get_by_label("verdict")
    described.press_sequentially(CAMPAIGN + "walltim: 3\n")
    expect(verdict).to_contain_text("walltim: unknown field")
    expect(described).to_be_focused()
    described.fill(CAMPAIGN)
    expect(verdict).to_contain_text("no parameters are given")
    page.get_by_label("parameters, one a line").fill("a\nb\n")
    expect(verdict).to_contain_text("2 tasks")
    expect(page).to_have_url(re.compile("/submit$"))
    page.get_by_role("button", name="submit").click()
    expect(page.get_by_role("heading", name="4 typed")).to_be_visible()
    expect(page.get_by_text("0 of 2 tasks done")).to_be_visible()


def test_without_script_a_button_judges_it(web: Served, visit: Visit) -> None:
    page = visit(web, java_script_enabled=False)
    page.goto("/submit")
    page.get_by_label("description, as").fill(CAMPAIGN)
    page.get_by_role("button", name="check").click()
    expect(page.get_by_label("verdict")).to_contain_text("no parameters are given")
    expect(page.get_by_label("description, as")).to_have_value(CAMPAIGN)
