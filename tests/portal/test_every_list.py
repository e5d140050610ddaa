"""Every list of the API has an end: it comes in pages, or OpenAPI says how long it is at most."""

from collections.abc import Iterator
from typing import Any

import pytest

from cigri.database import Database
from cigri.endpoints import list_endpoints
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.paging import LONGEST_PAGE
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.portal.conftest import Served

SUCCESSES = ("200", "201")
AFTER_OR_BEFORE = {"after", "before"}
WHOLE = {"failures", "latest_tasks", "rates", "strip", "submit_stages", "check_stages", "cluster_hours"}
WHOLE |= {"eligible_queues"}
"""They are no lists of what there is, or mean nothing in parts; each has a bound of its own."""


def _lists(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Of each answer that is an array, or an object whose keys are no fields: name, operation, schema, headers."""
    for operations in described["paths"].values():
        for operation in operations.values():
            for status in SUCCESSES:
                answer = operation["responses"].get(status, {})
                schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
                if schema.get("type") == "array" or "additionalProperties" in schema:
                    yield operation["operationId"], operation, schema, answer.get("headers", {})


def test_each_list_comes_in_pages_or_says_its_most_rows(portal: Served) -> None:
    unbounded, found = [], []
    for name, operation, schema, headers in _lists(portal.get("/openapi.json").body):
        found.append(name)
        asked = {parameter["name"] for parameter in operation.get("parameters", [])}
        is_paged = "limit" in asked and bool(AFTER_OR_BEFORE & asked) and "Link" in headers
        most = schema.get("maxItems", schema.get("maxProperties"))
        if not is_paged and not (most is not None and most <= LONGEST_PAGE and name in WHOLE):
            unbounded.append(name)
    assert unbounded == []
    assert len(found) > 25


def test_no_answer_is_a_list_that_openapi_does_not_tell(portal: Served) -> None:
    """By the types of answers, whatever is made of them."""
    told = {name for name, *_ in _lists(portal.get("/openapi.json").body)}
    typed = {one.name for one in list_endpoints() if getattr(one.answer, "__origin__", None) in (list, dict)}
    assert typed == told


def test_lists_that_are_told_as_a_whole_are_those_of_most_rows() -> None:
    assert {one.name for one in list_endpoints() if one.most_rows is not None} == WHOLE


def test_each_paged_list_refuses_a_page_of_nothing(database: Database) -> None:
    """A limit that is not looked at lets a page be as long as the list."""
    from cigri.errors import UsageError
    from tests.factories import a_campaign, a_cluster

    with database.begin() as conn:
        a_cluster(conn, options={"spool": "/nowhere"})
        a_campaign(conn, 1)
    grid = InProcessClient(database, Settings, Caller("alice", is_operator=True))
    for endpoint in list_endpoints():
        if endpoint.paging is None:
            continue
        needed = {"campaign_id": 1, "number": 0, "cluster": "dahu"}
        asked = {name: needed[name] for name in endpoint.in_path}
        for limit in (0, -1, LONGEST_PAGE + 1):
            with pytest.raises(UsageError, match=f"^limit {limit}: a page has 1 to {LONGEST_PAGE} rows"):
                grid.call(endpoint, **asked, limit=limit)
