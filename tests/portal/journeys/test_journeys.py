"""What people come for, in a real browser."""

import getpass
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cigri.cli import gridsub, gridweb
from cigri.settings.sections import PortalSettings
from cigri.states import Outcome
from tests.factories import a_campaign, end_jobs, submitted_jobs
from tests.grid import Grid
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import ENOUGH, Visit

ME = getpass.getuser()

expect.set_options(timeout=ENOUGH)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def state(page: Page, word: str) -> None:
    expect(page.locator("main .state").first).to_have_text(word)


def test_of_what_gridsub_submits_the_bar_moves_without_reload(
    working: Served, local: Grid, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(working.place))
    page = visit(working, ME)
    page.evaluate("window.isSame = true")
    description = {"name": "moving", "exec_file": "test", "params": ["1", "1", "''"], "clusters": {"here": {}}}
    (tmp_path / "campaign.json").write_text(json.dumps(description))
    assert gridsub.main(["-f", str(tmp_path / "campaign.json")]) == 0
    expect(page.get_by_role("img", name="3 waiting")).to_be_visible()
    local.run_until(lambda: local.counts() == {"done": 2, "failed": 1})
    expect(page.get_by_role("img", name="2 done, 1 failed")).to_be_visible()
    assert page.evaluate("window.isSame")


def test_the_title_moves_with_the_campaign_and_not_with_its_charts(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/campaigns/1")
    page.locator("#course-drawn .whole").wait_for()
    expect(page).to_have_title("0 % · sums · CiGri")
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1))
    expect(page).to_have_title("25 % · sums · CiGri")


def test_from_home_to_the_stderr_of_a_failure_it_takes_three_clicks(working: Served, local: Grid, visit: Visit) -> None:
    local.submit(["a"], "echo it went wrong >&2; exit 3")
    local.run_until(lambda: local.counts() == {"failed": 1})
    page = visit(working, ME)
    page.get_by_role("link", name="1 to fix").click()
    page.get_by_role("link", name="task 0").click()
    page.get_by_text("what it wrote").click()
    expect(page.locator("details pre").first).to_contain_text("it went wrong")


def test_a_foreign_user_sees_what_others_may_and_no_button(web: Served, visit: Visit) -> None:
    page = visit(web, "daemon")
    expect(page.get_by_role("link", name="theirs")).to_be_visible()
    expect(page.get_by_role("link", name="sums")).to_have_count(0)
    page.goto("/campaigns/1")
    expect(page.get_by_text("1 x exit 3 on dahu")).to_be_visible()
    expect(page.get_by_text("no such file")).to_have_count(0)
    switches_of_chart = ["done", "failed"]
    expect(page.locator("main").get_by_role("button")).to_have_text([*switches_of_chart, "Show"])
    refused = page.goto("/jobs/1/output")
    assert refused is not None
    assert refused.status == 404
    expect(page.get_by_role("heading", name="Not Found")).to_be_visible()


def test_a_link_of_gridweb_lets_one_browser_in(
    working: Served, visit: Visit, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(working.place))
    working.change_settings(portal=PortalSettings(address=f"127.0.0.1:{working.port}"))
    assert gridweb.main(["--root"]) == 0
    link = capsys.readouterr().out.strip()
    first, second = visit(working, ""), visit(working, "")
    for page in (first, second):
        page.goto(link)
    press(first, f"sign in as {ME}")
    expect(first.get_by_role("heading", name="Campaigns of")).to_be_visible()
    press(second, f"sign in as {ME}")
    expect(second.get_by_text("does not know this browser")).to_be_visible()
    press(first, "sign out")
    expect(first.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_campaign_is_held_released_and_cancelled_by_buttons(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.get_by_role("link", name="1 sums").click()
    press(page, "Hold")
    state(page, "held")
    press(page, "Resume")
    state(page, "needs you: 1 failed")
    page.get_by_text("Cancel…").click()
    press(page, "Cancel the campaign")
    state(page, "cancelled")
    expect(page.get_by_role("button", name="Hold")).to_have_count(0)


def test_what_failed_is_retried_or_ignored(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.get_by_role("link", name="1 to fix").click()
    press(page, "Retry")
    expect(page.get_by_role("img", name="4 waiting")).to_be_visible()
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1), exit_code=4, outcome=Outcome.FAILURE)
    press(page, "Ignore")
    expect(page.get_by_role("button", name="Ignore")).to_have_count(0)
    expect(page.get_by_role("img", name="1 failed, 3 waiting")).to_be_visible()


def test_what_one_comes_for_is_on_the_first_screen(web: Served, visit: Visit) -> None:
    """However many kinds of failures there are, and however many tasks."""
    with web.database.begin() as conn:
        a_campaign(conn, 60, user="nobody", name="large")
        for code in (1, 1, 2, 137, 5):
            end_jobs(conn, 1, submitted_jobs(conn, 4, 1, 4), exit_code=code, outcome=Outcome.FAILURE)
    page = visit(web, viewport={"width": 1280, "height": 800})
    page.goto("/campaigns/4")
    state(page, "needs you: 20 failed")
    main = page.locator("main")
    first = [main.get_by_role("button", name=name).first for name in ("Retry", "Ignore", "Hold", "Set")]
    first += [
        main.get_by_text("Cancel…"),
        main.locator(".places").get_by_role("row", name="dahu"),
        main.locator(".bar"),
        main.locator("dl"),
    ]
    for shown in first:
        box = shown.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800, shown
    course = main.get_by_role("heading", name="Course").bounding_box()
    assert course is not None
    assert course["y"] > 700, "charts stand below"


def test_by_keyboard_alone_a_campaign_is_reached_and_held(web: Served, visit: Visit) -> None:
    page = visit(web)
    tab_to(page, "1 sums")
    page.keyboard.press("Enter")
    page.wait_for_url("/campaigns/1")
    tab_to(page, "Hold")
    page.keyboard.press("Enter")
    state(page, "held")


def tab_to(page: Page, words: str) -> None:
    focused = list[str]()
    while words not in focused:
        assert len(focused) < 40, focused
        page.keyboard.press("Tab")
        focused.append(page.evaluate("document.activeElement.textContent.trim()"))
