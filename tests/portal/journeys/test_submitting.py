"""A campaign is written in a real browser: it is judged while it is typed, and submitted."""

import re

import pytest
from playwright.sync_api import expect

from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit
from tests.waiting import looks

FORETOLD = 120_000.0  # milliseconds
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


@pytest.mark.process
def test_when_it_would_end_comes_beside_what_is_typed(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/submit")
    described, verdict = page.get_by_label("description, as"), page.get_by_label("verdict")
    described.fill(CAMPAIGN + "duration: 60\nparams: [a, b]\n")
    expect(verdict).to_contain_text("It can be submitted")
    page.get_by_role("button", name="simulate").press("Enter")
    expect(verdict).to_contain_text("It is being simulated")
    expect(verdict).to_contain_text("Expected end:", timeout=FORETOLD)
    expect(verdict.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("/submit$"))
    described.fill(CAMPAIGN)
    expect(verdict).to_contain_text("no parameters are given")


@pytest.mark.process
def test_without_script_a_button_foretells_it(web: Served, visit: Visit) -> None:
    page = visit(web, java_script_enabled=False)
    page.goto("/submit")
    page.get_by_label("description, as").fill(CAMPAIGN + "params: [a]\n")
    page.get_by_role("button", name="simulate").click()
    expect(page.get_by_label("verdict")).to_contain_text("press simulate again")
    for _ in looks(FORETOLD / 1000):
        page.get_by_role("button", name="simulate").click()
        if page.get_by_text("Expected end:").count():
            break


def test_without_script_a_button_judges_judges_it(web: Served, visit: Visit) -> None:
    page = visit(web, java_script_enabled=False)
    page.goto("/submit")
    page.get_by_label("description, as").fill(CAMPAIGN)
    page.get_by_role("button", name="check").click()
    expect(page.get_by_label("verdict")).to_contain_text("no parameters are given")
    expect(page.get_by_label("description, as")).to_have_value(CAMPAIGN)
