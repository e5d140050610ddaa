"""In a real browser whose reader a real proxy knows, a page of another port of the same host can change nothing."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Browser, BrowserContext, HttpCredentials, expect
from sqlalchemy import text

from cigri.database import Database
from tests.factories import a_cluster
from tests.portal.browser import PROOF
from tests.portal.journeys.conftest import ENOUGH
from tests.portal.proxies import Proxied

CAMPAIGN = {"name": "foreign", "exec_file": "touch", "nb_jobs": 1, "clusters": ["dahu"]}
BEGINNING, END = f'{json.dumps(CAMPAIGN)[:-1]}, "project": "', '"}'  # around the = that a form puts between them

FORM = """<!doctype html><title>foreign</title>
<form method="post" enctype="text/plain" action="{url}"><input name="{beginning}" value="{end}"></form>
<script>document.forms[0].submit()</script>"""
FETCH = """<!doctype html><title>asking</title><script>
fetch({url}, {{method: "POST", mode: "no-cors", credentials: "include", body: new Blob([{body}])}})
  .finally(() => {{ document.title = "asked" }})
</script>"""


@pytest.fixture
def foreign_pages(proxied: Proxied) -> Iterator[str]:
    """The origin of somebody else's pages at another port of the same host."""
    url = f"https://127.0.0.1:{proxied.port}/api/v1/campaigns"
    pages = {
        "/form": FORM.format(url=url, beginning=escape(BEGINNING), end=escape(END)),
        "/fetch": FETCH.format(url=json.dumps(url), body=json.dumps(json.dumps(CAMPAIGN))),
    }

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path, "").encode()
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Foreign)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def reader(chromium: Browser, proxied: Proxied) -> Iterator[BrowserContext]:
    """A browser that has shown the proxy who its reader is."""
    known: HttpCredentials = {"username": "nobody", "password": "n"}
    with closing(chromium.new_context(ignore_https_errors=True, http_credentials=known)) as context:
        context.set_default_timeout(ENOUGH)
        yield context


def campaigns(database: Database) -> int:
    with database.begin() as conn:
        return int(conn.execute(text("SELECT count(*) FROM campaigns")).scalar_one())


def test_a_page_of_another_port_submits_nothing(
    reader: BrowserContext, proxied: Proxied, foreign_pages: str, database: Database
) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    page = reader.new_page()
    page.goto(f"https://127.0.0.1:{proxied.port}/")
    expect(page.get_by_text("nobody").first).to_be_visible()
    with page.expect_response(lambda response: response.request.method == "POST") as told:
        page.goto(f"{foreign_pages}/form", wait_until="commit")
    assert told.value.status == 403
    asking = reader.new_page()
    asking.goto(f"{foreign_pages}/fetch")
    expect(asking).to_have_title("asked")
    assert campaigns(database) == 0


def test_our_own_page_submits(reader: BrowserContext, proxied: Proxied, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    page = reader.new_page()
    page.goto(f"https://127.0.0.1:{proxied.port}/submit")
    found = PROOF.search(page.content())
    assert found
    send = """([body, proof]) => fetch("/api/v1/campaigns", {
        method: "POST", body, headers: {"Content-Type": "application/json", ...(proof ? {"X-CiGri-Proof": proof} : {})},
    }).then((answer) => answer.status)"""
    assert page.evaluate(send, [json.dumps(CAMPAIGN), ""]) == 403
    assert campaigns(database) == 0
    assert page.evaluate(send, [json.dumps(CAMPAIGN), found[1]]) == 201
    assert campaigns(database) == 1
