"""A campaign is written in a real browser: it is judged while it is typed, and submitted."""

import re
import secrets

import pytest
from playwright.sync_api import FilePayload, Page, ViewportSize, expect

from cigri.flow.browser_sessions import end_sessions
from cigri.identity.callers import Caller
from tests.portal.browser import made_link
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit
from tests.waiting import looks

FORETOLD = 120_000.0  # milliseconds
TABLE = b"mesh,seed\nwing,1\nplane,2\n"
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


def test_a_table_of_this_computer_is_read_into_the_form(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/submit")
    described, verdict = page.get_by_label("description, as"), page.get_by_label("verdict")
    described.fill(CAMPAIGN.replace("run", "run {mesh} {seed}"))
    file, told = page.get_by_label("or take them from a file"), page.get_by_role("status")
    file.set_input_files(FilePayload(name="runs.CSV", mimeType="text/csv", buffer=TABLE))
    expect(told).to_have_text("The lines of runs.CSV are in the form.")
    expect(page.get_by_label("these lines are")).to_have_value(".csv")
    expect(verdict).to_contain_text("2 tasks")
    expect(verdict.get_by_role("definition").first).to_contain_text("run wing 1")
    for payload, said in ((b"\xff\xfe", "is not UTF-8 text"), (b"x,\n" * 300_000, "is too large for this page")):
        file.set_input_files(FilePayload(name="other.tsv", mimeType="text/plain", buffer=payload))
        expect(told).to_contain_text(f"other.tsv {said}")
    expect(page.get_by_label("parameters, one a line")).to_have_value(TABLE.decode())
    page.get_by_role("button", name="submit").click()
    expect(page.get_by_text("0 of 2 tasks done")).to_be_visible()


def test_lines_are_numbered_and_the_verdict_is_beside_them(web: Served, visit: Visit) -> None:
    page = visit(web, viewport=ViewportSize(width=1280, height=800))
    page.goto("/submit")
    described, verdict = page.get_by_label("description, as"), page.get_by_label("verdict")
    described.fill("\n" * 120 + "x")
    numbers = page.locator(".gutter").first
    expect(numbers.locator("span")).to_have_count(121)
    expect(numbers.locator("span").last).to_have_text("121")
    described.evaluate("area => area.scrollTop = area.scrollHeight")
    expect(numbers.locator("span").last).to_be_in_viewport()
    text, beside = described.bounding_box(), verdict.bounding_box()
    assert text
    assert beside
    assert beside["x"] > text["x"] + text["width"]
    assert beside["y"] < text["y"] + text["height"] / 2
    number = numbers.bounding_box()
    assert number
    assert abs(number["height"] - text["height"]) < 1, "the numbers stand beside their lines"


def sign_in_again(page: Page, web: Served, user: str) -> None:
    link = secrets.token_urlsafe(32)
    made_link(web.database, user, link)
    page.goto(f"/sign-in?link={link}")
    page.get_by_role("button", name="sign in as").click()
    page.wait_for_url("/")
    page.goto("/submit")


def test_what_was_typed_outlives_the_session_and_is_shown_to_nobody_else(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/submit")
    described = page.get_by_label("description, as")
    described.fill(CAMPAIGN)
    page.get_by_label("parameters, one a line").fill("a\nb")
    with web.database.begin() as conn:
        end_sessions(conn, Caller("nobody"))
    page.get_by_role("button", name="submit").click()
    expect(page.get_by_text("gridweb").first).to_be_visible()
    sign_in_again(page, web, "daemon")
    expect(described).to_have_value("")
    with web.database.begin() as conn:
        end_sessions(conn, Caller("daemon"))
    sign_in_again(page, web, "nobody")
    expect(described).to_have_value(CAMPAIGN)
    expect(page.get_by_role("status")).to_have_text("This is what you typed before in this tab.")
    expect(page.get_by_label("verdict")).to_contain_text("2 tasks")
    page.get_by_role("button", name="submit").click()
    expect(page.get_by_text("0 of 2 tasks done")).to_be_visible()
    page.get_by_role("link", name="submit").click()
    expect(described).to_have_value("")


def test_what_was_typed_is_gone_with_whoever_signs_out(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/submit")
    page.get_by_label("description, as").fill(CAMPAIGN)
    page.get_by_role("button", name="sign out").click()
    page.wait_for_url("/sign-in*")
    assert page.evaluate("sessionStorage.getItem('draft')") is None


def test_an_example_is_judged_at_once(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/submit")
    page.get_by_role("link", name="a table, a task for each row").click()
    verdict = page.get_by_label("verdict")
    expect(verdict).to_contain_text("3 tasks")
    expect(verdict.get_by_role("definition").first).to_have_text("echo solve wing --seed 1")
