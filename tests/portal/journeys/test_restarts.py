"""What is typed in an open page outlives a restart of the portal, and is sent when it is there again."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from cigri.database import Database
from cigri.flow.browser_sessions import end_sessions
from cigri.identity.callers import Caller
from cigri.settings.sections import PortalSettings, Settings
from tests.portal.browser import made_link
from tests.portal.conftest import Served, put_web, serving
from tests.portal.journeys.conftest import ENOUGH

CAMPAIGN = "name: typed\nexec_file: run\nparams: [a]\nclusters: {dahu: {}}\n"

expect.set_options(timeout=ENOUGH)


class Restarted:
    """A portal that is ended and started again at the same address."""

    def __init__(self, database: Database, directory: Path) -> None:
        self._database, self._directory = database, directory
        self._running = ExitStack()
        self.portal = self._start("127.0.0.1:0")

    def _start(self, address: str) -> Served:
        settings = Settings(portal=PortalSettings(), data_directory=self._directory)
        return self._running.enter_context(serving(self._database, settings, self._directory / "portal.sock", address))

    def end(self) -> None:
        self._running.close()

    def start(self) -> None:
        self.portal = self._start(f"127.0.0.1:{self.portal.port}")


@pytest.fixture
def restarted(database: Database, tmp_path: Path) -> Iterator[Restarted]:
    with database.begin() as conn:
        put_web(conn)
    tmp_path.chmod(0o755)
    portal = Restarted(database, tmp_path)
    yield portal
    portal.end()


@pytest.fixture
def page(chromium: Browser, restarted: Restarted) -> Iterator[Page]:
    """One of nobody's; no witness, for its console complains of a portal that is not there."""
    context = chromium.new_context(base_url=f"http://127.0.0.1:{restarted.portal.port}")
    with closing(context):
        context.set_default_timeout(ENOUGH)
        page = context.new_page()
        link = secrets.token_urlsafe(32)
        made_link(restarted.portal.database, "nobody", link)
        page.goto(f"/sign-in?link={link}")
        page.get_by_role("button", name="sign in as").click()
        page.wait_for_url("/")
        yield page


def test_amounts_of_a_retry_outlive_a_restart(page: Page, restarted: Restarted) -> None:
    page.goto("/campaigns/1")
    page.get_by_text("Retry with...").click()
    memory, send = page.get_by_role("textbox", name="memory"), page.get_by_role("button", name="with this memory")
    memory.fill("4GB")
    restarted.end()
    send.click()
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    expect(memory).to_have_value("4GB")
    restarted.start()
    send.click()
    expect(page.get_by_role("img", name="4 waiting")).to_be_visible()


def test_a_priority_outlives_a_restart(page: Page, restarted: Restarted) -> None:
    page.goto("/campaigns/1")
    page.get_by_label("priority").fill("7")
    restarted.end()
    restarted.start()
    page.get_by_label("priority").press("Enter")
    expect(page.get_by_text("7 among those of nobody")).to_be_visible()


def test_a_description_is_judged_and_submitted_after_a_restart(page: Page, restarted: Restarted) -> None:
    page.goto("/submit")
    restarted.end()
    restarted.start()
    page.get_by_label("description, as").fill(CAMPAIGN)
    expect(page.get_by_label("verdict")).to_contain_text("It can be submitted")
    restarted.end()
    restarted.start()
    page.get_by_role("button", name="submit").click()
    expect(page.get_by_role("heading", name="4 typed")).to_be_visible()


def test_who_is_signed_out_keeps_what_was_typed(page: Page, restarted: Restarted) -> None:
    page.goto("/campaigns/1")
    page.get_by_label("priority").fill("7")
    with restarted.portal.database.begin() as conn:
        end_sessions(conn, Caller("nobody"))
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    expect(page.get_by_label("priority")).to_have_value("7")
