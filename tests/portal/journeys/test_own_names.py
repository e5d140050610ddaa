"""In a real browser a session at a name of its own, as `gridweb` of an own grid makes one, reaches no other port."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.portal.browser import made_link
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import ENOUGH

OWN_NAME = f"{'0123456789abcdef' * 2}.localhost"


class Listener:
    """Somebody else's server at another port of this host: the cookies that it is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        shown = self.shown

        class Curious(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                shown.extend(self.headers.get_all("Cookie", []))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Curious)
        self.port = self.server.server_port


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    thread = threading.Thread(target=listener.server.serve_forever)
    thread.start()
    yield listener
    listener.server.shutdown()
    thread.join()
    listener.server.server_close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    with closing(chromium.new_context()) as context:
        context.set_default_timeout(ENOUGH)
        yield context


def signed_in_at(host: str, context: BrowserContext, web: Served) -> Page:
    """By a link, as its reader opens it."""
    link = secrets.token_urlsafe(32)
    made_link(web.database, "nobody", link)
    page = context.new_page()
    page.goto(f"http://{host}:{web.port}/sign-in?link={link}")
    page.get_by_role("button", name="sign in as").click()
    page.wait_for_url(f"http://{host}:{web.port}/")
    return page


def test_at_a_name_of_its_own_a_session_works_and_is_shown_to_no_other_port(
    context: BrowserContext, web: Served, listener: Listener
) -> None:
    page = signed_in_at(OWN_NAME, context, web)
    page.goto(f"http://{OWN_NAME}:{web.port}/campaigns/1")
    page.locator("#act-hold").click()
    page.locator("#act-release").wait_for()
    for host in ("127.0.0.1", "localhost", f"{'f' * 32}.localhost"):
        page.goto(f"http://{host}:{listener.port}/")
    assert listener.shown == []


def test_at_the_address_it_would_be_shown_to_all(context: BrowserContext, web: Served, listener: Listener) -> None:
    """Why the name is there: a browser takes all ports of a host for one."""
    page = signed_in_at("127.0.0.1", context, web)
    page.goto(f"http://127.0.0.1:{listener.port}/")
    assert any(cookie.startswith("cigri-session=") for cookie in listener.shown)
