"""Lists in pages: wherever a page ends, each row is told once, in its place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints import list_endpoints, paging
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.paging import pages, walk
from cigri.flow.audit import put_audit
from cigri.flow.tokens import put_token
from cigri.flow.views import page_sizes
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of
from cigri.states import Outcome
from tests.conftest import clone_database, made_template
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

ROWS = 5
ALICE = Caller("alice", is_operator=True)
PAGED = {endpoint.name: endpoint for endpoint in list_endpoints() if endpoint.paging is not None}
ASKED: dict[str, list[dict[str, Any]]] = {
    "audit_trail": [{}],
    "campaigns": [{}, *({"order": order} for order in ("-id", "name", "-name", "state", "user"))],
    "errors": [{}],
    "events": [{}, {"campaigns": "1", "with_closed": True}],
    "get_tokens": [{}],
    "parameters": [{"campaign_id": 1}],
    "tasks": [{"campaign_id": 1}],
    "written": [{"campaign_id": 1}],
}
"""Each of them has ROWS rows to tell."""
SIZES = pytest.mark.parametrize("size", range(1, ROWS + 2))


def put_rows(conn: Connection) -> None:
    cluster = a_cluster(conn)
    for name in ("one", "two", "one", "two", "one"):
        number = a_campaign(conn, ROWS, name=name)
        jobs = submitted_jobs(conn, number, cluster, ROWS if number == 1 else 1)
        end_jobs(conn, cluster, jobs, Outcome.FAILURE if number == 1 else Outcome.SUCCESS, exit_code=3)
        put_audit(conn, ALICE, "pause_campaign", {"campaign_id": number})
        put_token(conn, "alice", hash_of(str(number)), scope=AccessScope.READ, expires_in=3600.0)


@pytest.fixture(scope="module")
def rows_template(server: Path) -> Iterator[str]:
    with made_template(server, put_rows) as name:
        yield name


@pytest.fixture(scope="module")
def database_url(server: Path, compiled: None, rows_template: str) -> Iterator[str]:
    yield from clone_database(server, rows_template)


@pytest.fixture
def grid(database: Database) -> InProcessClient:
    return InProcessClient(database, ALICE)


def test_each_list_in_pages_is_tried() -> None:
    assert PAGED.keys() == ASKED.keys()


@SIZES
@pytest.mark.parametrize(("name", "asked"), [(name, asked) for name in ASKED for asked in ASKED[name]], ids=str)
def test_rows_are_told_once_wherever_pages_end(
    name: str, asked: dict[str, Any], size: int, grid: InProcessClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grid.call(PAGED[name], **asked, limit=100)
    assert len(whole) == ROWS, whole
    is_backwards = PAGED[name].paging.is_backwards  # type: ignore[union-attr]  # they all have it
    monkeypatch.setattr(paging, "LONGEST_PAGE", size)
    assert walk(grid, PAGED[name], **asked) == whole
    for most in range(ROWS + 2):
        expected = whole[max(0, ROWS - most) :] if is_backwards else whole[:most]
        assert walk(grid, PAGED[name], most, **asked) == expected, most
    if not is_backwards:
        assert [row for page in pages(grid, PAGED[name], size, **asked) for row in page] == whole


@SIZES
@pytest.mark.parametrize("name", ["parameters", "tasks"])
def test_rows_are_told_once_where_pages_end_early(
    name: str, size: int, grid: InProcessClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grid.call(PAGED[name], campaign_id=1, limit=100)
    monkeypatch.setattr(page_sizes, "LARGEST_PAGE", size)
    assert len(grid.call(PAGED[name], campaign_id=1, limit=100)) < ROWS
    assert walk(grid, PAGED[name], campaign_id=1) == whole
