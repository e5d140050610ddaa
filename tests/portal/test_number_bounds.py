"""What a number may be stands in OpenAPI, and one beyond it is refused by the endpoint, in a sentence that names it."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from cigri.database import Database
from cigri.endpoints import list_endpoints
from cigri.endpoints.storable_values import LARGEST
from tests.portal.conftest import Served
from tests.portal.test_changes import ASKED, put_grid

SENDING = {one.name for one in list_endpoints() if one.sends_description}
CHECKING = {"check_campaign", "check_stages"}
FITTING = {("set_quota", "within"), ("send_input", "size"), ("send_input", "offset")}
"""What has to fit another parameter, too."""


class Bounded(NamedTuple):
    """A parameter of an endpoint, in the query or in the body, and values that it may not have."""

    endpoint: str
    method: str
    parameter: str
    is_in_query: bool
    schema: dict[str, Any]

    @property
    def beyond(self) -> Iterator[float]:
        """One too little, and one too large."""
        if "exclusiveMinimum" in self.schema:
            yield self.schema["exclusiveMinimum"]
        if self.schema.get("minimum", -LARGEST) > -LARGEST:
            yield self.schema["minimum"] - 1
        if self.schema.get("maximum", LARGEST) < LARGEST:
            yield self.schema["maximum"] + 1

    @property
    def within(self) -> Iterator[float]:
        """The least and the largest value that it may have."""
        if (self.endpoint, self.parameter) not in FITTING:
            if self.schema.get("minimum", -LARGEST) > -LARGEST:
                yield self.schema["minimum"]
            if self.schema.get("maximum", LARGEST) < LARGEST:
                yield self.schema["maximum"]


def number_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The part that tells of a number, where null may be said as well."""
    parts = schema.get("anyOf", [schema])
    return next((part for part in parts if part.get("type") in ("integer", "number")), None)


def bounded(described: dict[str, Any]) -> list[Bounded]:
    """Every number that has narrower bounds than the database."""
    found = []
    schemas = described["components"]["schemas"]
    for operations in described["paths"].values():
        for method, operation in operations.items():
            name = operation["operationId"]
            asked = [
                (one["name"], True, one["schema"]) for one in operation.get("parameters", []) if one["in"] == "query"
            ]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "$ref" in content.get("schema", {}):
                body = schemas[content["schema"]["$ref"].rpartition("/")[2]]
                asked += [(parameter, False, schema) for parameter, schema in body["properties"].items()]
            for parameter, is_in_query, schema in asked:
                number = number_schema(schema)
                if number is not None:
                    one = Bounded(name, method.upper(), parameter, is_in_query, number)
                    found += [one] * bool([*one.beyond])
    return found


def ask(portal: Served, one: Bounded, value: float) -> tuple[int, dict[str, Any]]:
    """Ask as tests/portal/test_changes.py does, with this value."""
    asked = ASKED[one.endpoint]
    url, body = urlsplit(asked.path), asked.body
    path = url.path
    if one.is_in_query:
        kept = [pair for pair in url.query.split("&") if pair and pair.partition("=")[0] != one.parameter]
        path += "?" + "&".join([*kept, urlencode({one.parameter: value})])
    else:
        path += f"?{url.query}" if url.query else ""
        body = {**(body or {}), one.parameter: value}
    sent = None if one.method == "GET" else body if asked.is_raw else json.dumps(body or {})
    headers = {"Content-Type": "application/json"}
    told = portal.request(one.method, f"/api/v1{path}", sent, headers=headers)
    return told.status, told.body


def refusal(endpoint: str) -> int:
    """The status of an answer that refuses a number; where a description is only looked at, it is told among others."""
    if endpoint in CHECKING:
        return 200
    return 422 if endpoint in SENDING else 400


def places_of(told: Any) -> list[str]:
    """What the answer finds wrong, of the first campaign where there are several."""
    answer = told[0] if isinstance(told, list) and told else told
    return [problem["place"] for problem in answer.get("problems") or []] if isinstance(answer, dict) else []


def test_each_bound_that_is_described_holds(portal: Served, database: Database) -> None:
    with database.begin() as conn:
        put_grid(conn)
    wrong = dict[tuple[str, str, float], tuple[int, Any]]()
    described = portal.get("/openapi.json").body
    every = bounded(described)
    for one in every:
        for value in one.beyond:
            status, told = ask(portal, one, value)
            if status != refusal(one.endpoint) or one.parameter not in places_of(told):
                wrong[one.endpoint, one.parameter, value] = status, told
        for value in one.within:
            status, told = ask(portal, one, value)
            if status == 500 or one.parameter in places_of(told):
                wrong[one.endpoint, one.parameter, value] = status, told
    assert wrong == {}
    limits = {one.endpoint for one in every if one.parameter == "limit"}
    paged = {
        operation["operationId"]
        for operations in described["paths"].values()
        for operation in operations.values()
        if any(parameter["name"] == "limit" for parameter in operation.get("parameters", []))
    }
    assert limits == paged
    assert {"hours", "days", "capacity", "priority", "share", "within", "keep"} <= {one.parameter for one in every}
