"""What changes on the grid is shown in a page that stays as its reader has it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from cigri.states import Outcome
from tests.factories import end_jobs, submitted_jobs
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import ENOUGH, Visit

expect.set_options(timeout=ENOUGH)


@pytest.fixture
def campaign(web: Served, visit: Visit) -> Iterator[Page]:
    """The page of campaign 1, in a window in which one has to scroll."""
    page = visit(web, viewport={"width": 1000, "height": 500})
    page.goto("/campaigns/1")
    page.locator("#course-drawn .whole").wait_for()
    page.evaluate("window.isSame = true")
    yield page
    assert page.evaluate("window.isSame")


def end_one(web: Served, outcome: Outcome = Outcome.SUCCESS) -> None:
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1), outcome, exit_code=0 if outcome is Outcome.SUCCESS else 3)


def test_what_is_typed_stays_while_the_rest_moves(web: Served, campaign: Page) -> None:
    failures, memory = campaign.locator("#part-failures"), campaign.get_by_role("textbox", name="memory")
    campaign.get_by_text("Retry with...").click()
    memory.fill("4GB")
    campaign.get_by_label("priority").fill("7")
    campaign.get_by_role("heading", level=1).click()
    end_one(web, Outcome.FAILURE)
    expect(campaign.get_by_role("img", name="2 failed")).to_be_visible()
    expect(memory).to_have_value("4GB")
    expect(memory).to_be_visible()
    expect(failures.locator("h3")).to_contain_text("1 x exit 3")
    expect(campaign.get_by_label("priority")).to_have_value("7")
    memory.fill("")
    campaign.get_by_label("priority").fill("0")
    campaign.get_by_role("heading", level=1).click()
    expect(failures.locator("h3")).to_contain_text("2 x exit 3")


def test_a_field_that_one_is_in_keeps_its_caret_while_the_rest_moves(web: Served, campaign: Page) -> None:
    campaign.get_by_label("priority").focus()
    end_one(web)
    expect(campaign.get_by_role("img", name="1 done")).to_be_visible()
    expect(campaign.get_by_label("priority")).to_be_focused()


def test_scroll_rows_and_focus_stay(web: Served, campaign: Page) -> None:
    campaign.get_by_text("Cancel…").click()
    campaign.locator("button[id^=retry-]").focus()
    campaign.evaluate("window.scrollTo(0, 200)")
    campaign.evaluate("window.kept = document.querySelector('.failures')")
    end_one(web)
    expect(campaign.get_by_role("img", name="1 done")).to_be_visible()
    expect(campaign.get_by_role("button", name="Cancel the campaign")).to_be_visible()
    assert campaign.evaluate("window.scrollY") == 200
    assert campaign.evaluate("document.activeElement.textContent") == "Retry"
    assert campaign.evaluate("window.kept.isConnected"), "what has not changed is not touched"
