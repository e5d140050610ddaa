"""What is large is told in more pages, and nothing of it is lost."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from sqlalchemy import insert, update

from cigri.database import Database
from cigri.endpoints.descriptions import parameters
from cigri.endpoints.dispatch import EndpointReader, InProcessClient
from cigri.endpoints.paging import pages, walk
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.tasks import latest_tasks, tasks
from cigri.flow.views import page_sizes
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from cigri.tables.tasks import Task, TaskHistory
from tests.factories import a_campaign, a_cluster, submitted_jobs
from tests.portal.conftest import Served
from tests.portal.raw import connected

LENGTHS = [100, 100, 3000, 0, 900, 5000, 10, 1000, 1000, 1]


@pytest.fixture
def long_tasks(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of campaign 1, whose pages may have 1000 bytes."""
    monkeypatch.setattr(page_sizes, "LARGEST_PAGE", 1000)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, len(LENGTHS), user="nobody")
        for number, length in enumerate(LENGTHS):
            conn.execute(update(Task).where(Task.c.number == number).values(parameter="x" * length))
        submitted_jobs(conn, 1, cluster, len(LENGTHS))
    return ["x" * length for length in LENGTHS]


@pytest.fixture(params=["in this process", "by the portal"])
def grid(request: pytest.FixtureRequest, database: Database, portal: Served) -> Iterator[EndpointReader]:
    if request.param == "in this process":
        yield InProcessClient(database, Settings, Caller("nobody", is_operator=True))
        return
    client = PortalClient(portal.place)
    yield client
    client.close()


def test_a_page_ends_where_it_is_large_and_nothing_is_lost(grid: EndpointReader, long_tasks: list[str]) -> None:
    told = [*pages(grid, parameters, limit=4, campaign_id=1)]
    assert [parameter for page in told for parameter in page] == long_tasks
    assert [len(page) for page in told] == [3, 3, 2, 1, 1], "each with one row at least, and none without need"
    assert [task.parameter for task in walk(grid, tasks, campaign_id=1)] == long_tasks
    assert [task.number for task in walk(grid, tasks, 7, campaign_id=1)] == [*range(7)]


def test_the_latest_tasks_are_fewer_where_they_are_large(grid: EndpointReader, long_tasks: list[str]) -> None:
    assert [task.number for task in grid.call(latest_tasks, campaign_id=1)] == [9, 8]


def test_archived_tasks_have_pages_as_others_have(
    grid: EndpointReader, long_tasks: list[str], database: Database
) -> None:
    with database.begin() as conn:
        a_campaign(conn, 0, user="nobody")
        for number, parameter in enumerate(long_tasks):
            row = {"campaign_id": 2, "number": number, "parameter": parameter, "state": "done", "attempts": 1}
            conn.execute(insert(TaskHistory).values(row))
    assert walk(grid, parameters, campaign_id=2) == long_tasks


def test_the_link_of_a_short_page_leads_behind_its_last_row(portal: Served, long_tasks: list[str]) -> None:
    connection = HTTPConnection("localhost")
    path, found = "/api/v1/campaigns/1/tasks", list[Any]()
    query: str | None = "?limit=100"
    with connected(portal.place) as line:
        connection.sock = line._sock
        while query is not None:
            connection.request("GET", path + query)
            response = connection.getresponse()
            found += json.loads(response.read())
            link = response.getheader("Link")
            query = None if link is None else link.partition("<")[2].partition(">")[0]
    assert [task["number"] for task in found] == [*range(len(LENGTHS))]


def test_clients_of_cigri_3_go_on_behind_a_short_page(portal: Served, long_tasks: list[str]) -> None:
    path, found = "/campaigns/1/jobs", list[int]()
    while path:
        told = portal.get(f"/cigri-api{path}").body
        found += [task["id"] for task in told["items"]]
        path = next((link["href"] for link in told["links"] if link["rel"] == "next"), "")
    assert found == [*range(len(LENGTHS))]
