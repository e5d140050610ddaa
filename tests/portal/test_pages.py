"""Lists are told in pages that say how to go on; what takes the database too long is cut, and told so."""

import json
import os
import pwd
from http.client import HTTPResponse
from typing import Any

import pytest
from sqlalchemy import text

import cigri.database
from cigri.database import Database
from cigri.endpoints import API
from cigri.endpoints.audit import audit_trail
from cigri.endpoints.campaigns import campaigns, errors
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.events import events
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import limits
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.tasks import tasks
from cigri.flow.audit import put_audit
from cigri.flow.ceilings import put_limit
from cigri.flow.events import NewEvent, put_events
from cigri.identity.callers import Caller
from cigri.identity.unix_sockets import UnixSocketConnection
from cigri.settings.sections import Settings
from cigri.states import EventLevel
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Served

ME = Caller(pwd.getpwuid(os.geteuid()).pw_name, is_operator=True)
LISTS = ["/campaigns", "/errors", "/events", "/audit", "/campaigns/1/tasks", "/campaigns/1/parameters", "/limits"]


@pytest.fixture(autouse=True)
def _grid(database: Database) -> None:
    """Seven of everything."""
    with database.begin() as conn:
        a_cluster(conn)
        for number in range(7):
            campaign_id = a_campaign(conn, 7, user=ME.user)
            new = NewEvent("PROLOGUE_FAILED", EventLevel.ERROR, f"it {number}", "failed", campaign_id)
            put_events(conn, [new])
            put_audit(conn, ME, "whoami", {})
            put_limit(conn, f"limit{number}", 1)


def page(portal: Served, path: str) -> tuple[list[Any], str | None]:
    """What is told there, and where the next page is."""
    connection = UnixSocketConnection(portal.place)
    try:
        connection.request("GET", path)
        response: HTTPResponse = connection.getresponse()
        link = response.getheader("Link")
        told: list[Any] = json.loads(response.read())
        return told, link and link.removeprefix("<").removesuffix('>; rel="next"')
    finally:
        connection.close()


@pytest.mark.parametrize("path", LISTS)
def test_links_lead_through_the_whole_list(path: str, portal: Served) -> None:
    whole, link = page(portal, f"{API}{path}?limit=100")
    assert (len(whole), link) == (7, None)
    pages, link = [], "?limit=3"
    while link is not None:
        told, link = page(portal, f"{API}{path}{link}")
        pages.append(told)
    assert [len(told) for told in pages] == [3, 3, 1]
    assert [row for told in (pages[::-1] if path in ("/events", "/audit") else pages) for row in told] == whole


@pytest.mark.parametrize("path", LISTS)
def test_a_page_has_its_bounds(path: str, portal: Served) -> None:
    for limit in (0, 10_001):
        told = portal.get(f"{API}{path}?limit={limit}")
        assert (told.status, f"limit {limit}: a page has 1 to 10000 rows" in told.body["detail"]) == (400, True)


@pytest.mark.parametrize(
    "endpoint", [campaigns, errors, events, audit_trail, limits], ids=lambda endpoint: endpoint.name
)
def test_a_client_walks_the_pages(endpoint: Any, portal: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    remote, here = PortalClient(portal.place), InProcessClient(portal.database, Settings, ME)
    whole = remote.call(endpoint, limit=100)
    monkeypatch.setattr("cigri.endpoints.paging.LONGEST_PAGE", 3)
    assert walk(remote, endpoint) == walk(here, endpoint) == whole
    assert walk(remote, endpoint, 5) == (whole[-5:] if endpoint in (events, audit_trail) else whole[:5])
    assert [task.number for task in walk(remote, tasks, campaign_id=1, after=1)] == [2, 3, 4, 5, 6]
    remote.close()


def test_a_statement_that_takes_too_long_is_cut(portal: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a lock, as long as it may."""
    monkeypatch.setattr(cigri.database, "ANSWER_LIMIT", 1)
    with portal.database.begin() as conn:
        conn.execute(text("LOCK TABLE campaigns IN ACCESS EXCLUSIVE MODE"))
        told = portal.get(f"{API}/campaigns")
    assert (told.status, told.body["type"]) == (503, "/problems/QueryTimedOut")
    assert told.body["detail"].startswith("the database was at this for 1 s: ask for less at a time")
    assert portal.get(f"{API}/campaigns").status == 200
