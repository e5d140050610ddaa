"""Examples in OpenAPI are what their schemas say, of one grid, and requests that are made of them are understood."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import jsonschema_rs
import pytest
from sqlalchemy import update

from cigri.database import Database
from cigri.endpoints import list_endpoints
from cigri.endpoints.portal_client import STREAM
from cigri.flow.excluded_nodes import put_exclusion
from cigri.settings.loading import load
from cigri.settings.sections import NodeSettings
from cigri.tables.clusters import Cluster
from modules.portal import make_app
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.example_values import DIGEST
from modules.portal.openapi_examples import ExampleMaker, NoExample
from modules.portal.problem_details import MEDIA_TYPE
from modules.portal.settings_in_force import SettingsInForce
from tests.factories import a_cluster
from tests.portal.conftest import Served
from tests.portal.test_changes import put_grid
from tests.portal.test_routes import plain

JSON_TYPE = "application/json"
NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
OF_ROOT, AS_ROOT = {"create_token", "create_link"}, {"for_root": True}
"""The tests run as root, who has to say so; nobody else does."""


class Operation(NamedTuple):
    """One method of one path, as OpenAPI describes it."""

    method: str
    path: str
    described: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.described["operationId"])

    def parameters(self, place: str) -> Iterator[dict[str, Any]]:
        return (each for each in self.described.get("parameters", []) if each["in"] == place)

    def example(self, *, is_whole: bool) -> tuple[str, dict[str, str]]:
        """Path and headers, with all parameters or with those that have to be."""
        path = self.path
        for each in self.parameters("path"):
            path = path.replace(f"{{{each['name']}}}", quote(str(each["example"]), safe=""))
        asked = {
            each["name"]: _as_text(each["example"])
            for each in self.parameters("query")
            if (is_whole or each["required"]) and each["example"] is not None
        }
        headers = {each["name"]: each["example"] for each in self.parameters("header") if is_whole}
        return f"{path}?{urlencode(asked, doseq=True)}", headers

    def kind(self) -> dict[str, str]:
        return {"Content-Type": STREAM if STREAM in self._contents() else JSON_TYPE}

    def body(self) -> str | None:
        """A text as it is; None where nothing is sent."""
        for content in self._contents().values():
            example = content["example"]
            if isinstance(example, str):
                return example
            return json.dumps(example | (AS_ROOT if self.name in OF_ROOT else {}))
        return None

    def _contents(self) -> dict[str, Any]:
        contents: dict[str, Any] = self.described.get("requestBody", {}).get("content", {})
        return contents


def _as_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


@pytest.fixture
def described(database: Database) -> Iterator[dict[str, Any]]:
    errands = DeferredResponses()
    yield make_app(database, SettingsInForce(load()), errands).openapi()
    errands.close()


def operations(described: dict[str, Any]) -> list[Operation]:
    return [
        Operation(method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def fits(described: dict[str, Any], schema: dict[str, Any], example: Any) -> bool:
    validator = jsonschema_rs.validator_for({**schema, "components": described["components"]})
    return validator.is_valid(example)


def test_each_schema_has_an_example_that_it_takes(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert len(schemas) > 150
    wrong = [
        name
        for name, schema in schemas.items()
        if not schema.get("examples") or not all(fits(described, schema, each) for each in schema["examples"])
    ]
    assert wrong == []


def test_each_parameter_and_each_body_has_an_example_that_it_takes(described: dict[str, Any]) -> None:
    wrong, found = [], 0
    for operation in operations(described):
        bodies = operation.described.get("requestBody", {}).get("content", {})
        asked = [*operation.described.get("parameters", [])]
        asked += bodies.values()
        for each in asked:
            found += 1
            if "example" not in each or not fits(described, each["schema"], each["example"]):
                wrong.append((operation.name, each.get("name", "body")))
    assert wrong == []
    assert found > 250


def test_each_problem_is_told_with_its_type_and_status(described: dict[str, Any]) -> None:
    """Each operation names all that it may answer; who asks no cluster is told of none that does not answer."""
    for status, answer in described["components"]["responses"].items():
        content = answer["content"][MEDIA_TYPE]
        for kind, example in content["examples"].items():
            assert fits(described, content["schema"], example["value"])
            assert (example["value"]["type"], example["value"]["status"]) == (f"/problems/{kind}", int(status))
            assert f"`{kind}`: {example['summary']}." in answer["description"]
    assert {"400", "401", "403", "404", "409", "422", "500", "502", "503", "507"} == set(
        described["components"]["responses"]
    )
    endpoints = {endpoint.name: endpoint for endpoint in list_endpoints()}
    for operation in operations(described):
        told = operation.described["responses"]
        assert told["404"] == {"$ref": "#/components/responses/404"}
        assert ("502" in told) is endpoints[operation.name].may_defer


def test_the_pages_of_problems_are_those_of_openapi(described: dict[str, Any], portal: Served) -> None:
    for answer in described["components"]["responses"].values():
        for example in answer["content"][MEDIA_TYPE]["examples"].values():
            assert plain(portal, "GET", example["value"]["type"], {"Accept": "text/html"}).status == HTTPStatus.OK


@pytest.mark.parametrize("is_whole", [False, True], ids=["what has to be", "all"])
def test_a_request_made_of_the_examples_is_understood(
    is_whole: bool, described: dict[str, Any], portal: Served, database: Database
) -> None:
    with database.begin() as conn:
        put_grid(conn)
        conn.execute(update(Cluster).where(Cluster.c.name == "dahu").values(config={"driver": "slurm"}))
        a_cluster(conn, "luke", driver="slurm")
        put_exclusion(conn, 1, "dahu", "dahu-3", "it is sick", NodeSettings())
    wrong, understood = [], 0
    for operation in operations(described):
        path, headers = operation.example(is_whole=is_whole)
        answer = portal.request(operation.method, path, operation.body(), headers={**headers, **operation.kind()})
        if answer.status in NOT_UNDERSTOOD or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            wrong.append((operation.name, answer.status, answer.body))
        understood += answer.status < HTTPStatus.BAD_REQUEST
    assert wrong == [], "\n".join(map(str, wrong))
    assert understood > 80


def test_what_is_streamed_as_the_examples_say_is_taken(
    described: dict[str, Any], portal: Served, database: Database
) -> None:
    """One after the other: the file is lacking until it is sent, and the tasks are added to the example's campaign."""
    with database.begin() as conn:
        for name in ("dahu", "luke"):
            a_cluster(conn, name, driver="slurm")
    found = {operation.name: operation for operation in operations(described)}

    def send(name: str, *, is_whole: bool = False) -> Any:
        path, headers = found[name].example(is_whole=is_whole)
        answer = portal.request("POST", path, found[name].body(), headers={**headers, **found[name].kind()})
        assert answer.status < HTTPStatus.BAD_REQUEST, (name, answer)
        return answer.body

    assert send("lacked_inputs") == {"sums": [DIGEST]}
    assert send("send_input", is_whole=True) == {"sha256": DIGEST, "held": 0, "is_stored": True}
    assert send("lacked_inputs") == {"sums": []}
    assert send("send_inputs") == {"taken": 1, "wrong": []}
    assert send("submit_campaign")["id"] == 1
    assert send("add_tasks") == {"id": 1, "added": 2}
    assert send("apply_resources")["changes"]


def test_a_field_of_which_nothing_is_said_is_found() -> None:
    maker = ExampleMaker({"New": {"properties": {"unheard": {"type": "string"}}}})
    with pytest.raises(NoExample, match=r"New\.unheard"):
        maker.of_model("New")
