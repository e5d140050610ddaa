"""Cursors: what is none of this list is refused in a sentence, and rows that come and go leave each other one told."""

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints import Endpoint, list_endpoints, paging
from cigri.endpoints.clusters import cluster_usage
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.metrics import used_work
from cigri.endpoints.paging import pages, walk
from cigri.endpoints.policy import LIMITS_BY, limits, quotas
from cigri.errors import UsageError
from cigri.flow.ceilings import put_limit, remove_limit
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.factories import NOON, a_campaign, a_cluster, a_quota, set_time

KEYED = {one.name: one for one in list_endpoints() if isinstance(one.paging, KeyPagination)}
PATHS = {"why": {"campaign_id": 1}, "task_commands": {"campaign_id": 1, "number": 0}}


class Row(NamedTuple):
    name: str
    at: datetime = NOON
    is_used: bool = True
    number: int = 0


BY_ALL = KeyPagination("rows", {"-is_used": int, "name": str, "at": datetime, "number": int})


def cursor(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.fixture
def grid(database: Database) -> InProcessClient:
    with database.begin() as conn:
        a_cluster(conn, options={"spool": "/nowhere"})
        a_campaign(conn, 1)
        for number in range(6):
            put_limit(conn, f"limit{number}", 1)
        for cluster in ("", "dahu"):
            a_quota(conn, "*,*,all,/", 5, cluster=cluster)
    return InProcessClient(database, Settings, Caller("alice", is_operator=True))


HOSTILE = {
    "no base64": "%%%",
    "no ASCII": "é",
    "half a character": "\ud800",
    "one letter": "a",
    "no JSON": urlsafe_b64encode(b"[").decode(),
    "no UTF-8": urlsafe_b64encode(b"\xff\xfe").decode(),
    "a number": cursor(3),
    "an object": cursor({"of": "limits"}),
    "an empty list": cursor([]),
    "deep": urlsafe_b64encode(b"[" * 30_000).decode(),
    "a long number": urlsafe_b64encode(b'["limits",' + b"9" * 6000 + b"]").decode(),
    "the name alone": cursor(["NAME"]),
    "too much": cursor(["NAME", *["x"] * 9]),
    "nothing": cursor(["NAME", *[None] * 3]),
    "objects": cursor(["NAME", *[{}] * 3]),
    "a list": cursor([["NAME"], "x"]),
    "another list's": cursor(["campaigns", "x"]),
}


@pytest.mark.parametrize("name", KEYED)
def test_what_is_no_cursor_of_the_list_is_refused(name: str, grid: InProcessClient) -> None:
    endpoint = KEYED[name]
    size = len(endpoint.paging.fields) if isinstance(endpoint.paging, KeyPagination) else 0
    more = {
        "NUL": cursor([name, *["\0"] * size]),
        "surrogates": cursor([name, *["\ud800"] * size]),
        "wrong kinds": cursor([name, *[1.5] * size]),
    }
    for what, text in (HOSTILE | more).items():
        assert _said(grid, endpoint, text.replace("NAME", name)).startswith("after"), what


def _said(grid: InProcessClient, endpoint: Endpoint[..., Any], after: str) -> str:
    """What is said against it; "": nothing."""
    try:
        grid.call(endpoint, **PATHS.get(endpoint.name, {}), after=after)
    except UsageError as error:
        return str(error)
    return ""


def test_a_cursor_of_another_list_is_refused(grid: InProcessClient) -> None:
    (of_limits,) = (KEYED["limits"].paging,)
    assert of_limits is not None
    theirs = of_limits.next_of(grid.call(limits, limit=1), "")
    with pytest.raises(UsageError, match=r"^after: that is a cursor of another list than quotas; take it from"):
        grid.call(quotas, after=theirs)


def test_a_cursor_of_other_groups_is_refused(grid: InProcessClient) -> None:
    of_users = cursor(["used_work", "", "alice", "", "", ""])
    assert grid.call(used_work, apart="user", after=of_users) == []
    assert grid.call(used_work, apart="user,project", after=of_users) == []
    for apart in ("day", "cluster", "day,user", "type"):
        with pytest.raises(UsageError, match=r"^after: it is the cursor of another `apart`"):
            grid.call(used_work, apart=apart, after=of_users)


def test_a_day_of_no_zone_is_no_cursor(grid: InProcessClient) -> None:
    for at in ("2026-11-28", "2026-11-28T12:00:00", "yesterday", 3):
        with pytest.raises(UsageError, match=r"^after: that is no cursor of this list"):
            grid.call(cluster_usage, after=cursor(["cluster_usage", "dahu", at]))


def test_rows_that_vanish_and_come_between_pages_leave_the_others_told_once(
    grid: InProcessClient, database: Database
) -> None:
    """The row that the cursor names goes, one before it comes, one behind it comes."""
    told = []
    for page in pages(grid, limits, 2):
        told += [limit.name for limit in page]
        if len(told) == 2:
            with database.begin() as conn:
                remove_limit(conn, "limit1")
                put_limit(conn, "limit0b", 1)
                put_limit(conn, "limit3b", 1)
    assert told == ["limit0", "limit1", "limit2", "limit3", "limit3b", "limit4", "limit5"]


@pytest.mark.parametrize(("rows", "counts"), [(5, [3, 2]), (6, [3, 3]), (7, [3, 3, 1]), (3, [3]), (0, [])])
def test_a_page_that_is_just_full_ends_the_list_or_does_not(
    rows: int, counts: list[int], grid: InProcessClient, database: Database
) -> None:
    with database.begin() as conn:
        _have_limits(conn, rows)
    assert [len(page) for page in pages(grid, limits, 3)] == counts


def _have_limits(conn: Connection, number: int) -> None:
    for which in range(6):
        remove_limit(conn, f"limit{which}")
    for which in range(number):
        put_limit(conn, f"n{which}", 1)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_rows_whose_keys_begin_alike_are_told_once(size: int) -> None:
    later = datetime(2026, 11, 28, 12, tzinfo=UTC)
    rows = [Row("b"), Row("a", later), Row("a"), Row("a", number=1), Row("a", is_used=False), Row("é€")]
    told, after = list[Row](), ""
    while page := page_of(rows, BY_ALL, after, size):
        told, after = [*told, *page], BY_ALL.next_of(page, after)
    assert told == sorted(rows, key=BY_ALL.key_of)
    assert [row.is_used for row in told] == [True] * 5 + [False]


@pytest.mark.noon
def test_periods_of_usage_are_the_same_on_each_page(database: Database) -> None:
    """Though time goes on between two pages, and with it where periods would begin."""
    with database.begin() as conn:
        for hour in range(4):
            set_time(conn, NOON.replace(hour=8 + hour, minute=30))
            a_cluster(conn, "dahu", free=hour)
            a_cluster(conn, "luke", free=hour)
        set_time(conn, NOON)
    grid = InProcessClient(database, Settings, Caller("alice"))
    whole = walk(grid, cluster_usage, hours=24.0)
    assert len(whole) == 8
    told = []
    for seconds, page in enumerate(pages(grid, cluster_usage, 3, hours=24.0), 1):
        told += page
        set_time(database, NOON.replace(second=seconds))
    assert told == whole


def test_a_cursor_goes_through_an_address_as_it_is(grid: InProcessClient) -> None:
    for name in ("é/&= ?", "x" * 300):
        text = LIMITS_BY.next_of([Row(name)], "")
        assert text.isascii()
        assert text.replace("-", "").replace("_", "").isalnum()
        assert LIMITS_BY.read(text) == (name,)


def test_all_lists_of_one_mechanism_are_walked_by_their_commands(
    grid: InProcessClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "LONGEST_PAGE", 1)
    assert [limit.name for limit in walk(grid, limits)] == [f"limit{number}" for number in range(6)]
