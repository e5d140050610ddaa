"""A real browser, one process for all journeys; what its pages ask elsewhere or complain of fails the test."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, sync_playwright

from cigri.identity.callers import AccessScope
from cigri.settings.sections import PortalSettings, Settings
from tests.grid import Grid
from tests.portal.browser import made_link
from tests.portal.conftest import Served, serving

CHROMIUM = shutil.which("chromium")
ENOUGH = 15_000  # milliseconds

Visit = Callable[..., Page]


class Witness:
    """What one browser asked that is not the portal's, and what its console complained of."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._refused = set[str]()
        self._complaints = list[tuple[str, str]]()
        self.elsewhere = list[str]()

    def follow(self, context: BrowserContext) -> None:
        context.on("request", lambda request: self._asked(request.url))
        context.on("response", self._answered)
        context.on("console", self._said)
        context.on("weberror", lambda error: self._complaints.append(("", str(error.error))))

    @property
    def complaints(self) -> list[str]:
        """But for pages that are refused: a browser tells of each, and the test has seen it."""
        return [said for url, said in self._complaints if url not in self._refused]

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self._origin}/", "data:")):
            self.elsewhere.append(url)

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.request.is_navigation_request():
            self._refused.add(response.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complaints.append((message.location["url"], message.text))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """While it runs nothing else in this thread may use asyncio: no journey does, and it ends with them."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])  # root has no sandbox
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """The home page in a browser of its own: of a user, or of nobody yet where it is empty."""
    witnesses = list[Witness]()
    with ExitStack() as stack:

        def visit(
            portal: Served, user: str = "nobody", scope: AccessScope = AccessScope.SUBMIT, **options: Any
        ) -> Page:
            origin = f"http://127.0.0.1:{portal.port}"
            context = stack.enter_context(closing(chromium.new_context(base_url=origin, **options)))
            context.set_default_timeout(ENOUGH)
            witnesses.append(Witness(origin))
            witnesses[-1].follow(context)
            page = context.new_page()
            if user:
                link = secrets.token_urlsafe(32)
                made_link(portal.database, user, link, scope)
                page.goto(f"/sign-in?link={link}")
                page.get_by_role("button", name="sign in as").click()
                page.wait_for_url("/")
            return page

        yield visit
    assert [url for witness in witnesses for url in witness.elsewhere] == []
    assert [said for witness in witnesses for said in witness.complaints] == []


@pytest.fixture
def working(local: Grid, tmp_path: Path) -> Iterator[Served]:
    """The portal of a grid that runs jobs on this host, whenever a test has it cycle."""
    tmp_path.chmod(0o755)
    settings = Settings(portal=PortalSettings(), data_directory=tmp_path)
    with serving(local.database, settings, tmp_path / "portal.sock", "127.0.0.1:0") as portal:
        yield portal
