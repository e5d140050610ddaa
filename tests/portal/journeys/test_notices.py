"""The browser tells what has become of a campaign, if one asks for it, though nobody looks at its page."""

from playwright.sync_api import expect

from cigri.flow.campaigns import cancel_campaign
from cigri.identity.callers import Caller
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit

NOTIFY = "Notify me when it ends or needs me"
UNSEEN = """\
window.told = [];
window.Notification = class {
    static async requestPermission() { return "granted"; }
    constructor(title, options) { window.told.push(`${title}: ${options.body}`); }
};
Object.defineProperty(document, "hidden", { get: () => true });
"""


def test_who_asks_for_it_is_told_that_a_campaign_has_ended(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.add_init_script(UNSEEN)
    page.goto("/campaigns/1")
    button = page.get_by_role("button", name=NOTIFY)
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("told") == [], "that it waits for its user was known before"
    with web.database.begin() as conn:
        cancel_campaign(conn, 1, Caller("nobody"))
    expect(page.locator("main .state").first).to_have_text("cancelled", timeout=15_000)
    assert page.evaluate("told") == ["1 sums: cancelled"]


def test_who_asks_no_more_is_told_nothing(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.add_init_script(UNSEEN)
    page.goto("/campaigns/1")
    button = page.get_by_role("button", name=NOTIFY)
    button.click()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    with web.database.begin() as conn:
        cancel_campaign(conn, 1, Caller("nobody"))
    page.reload()
    expect(page.locator("main .state").first).to_have_text("cancelled")
    assert page.evaluate("told") == []


def test_a_browser_that_forbids_it_says_so(web: Served, visit: Visit) -> None:
    page = visit(web)
    page.goto("/campaigns/1")
    page.get_by_role("button", name=NOTIFY).click()
    expect(page.get_by_role("status")).to_have_text("This browser does not let this page notify you.")
    expect(page.get_by_role("button", name=NOTIFY)).to_have_attribute("aria-pressed", "false")
