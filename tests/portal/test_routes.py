"""What is asked is checked by its types; what is unknown is refused; and errors say what to do."""

from inspect import Parameter, signature
from typing import get_type_hints

import pytest

from cigri import endpoints
from cigri.endpoints import Access, Endpoint
from cigri.endpoints.parameters import MEANINGS
from tests.portal.conftest import Served

EVERY = list(endpoints.list_endpoints())


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/v1/whoami?user=root", 422, "query.user: Extra inputs are not permitted"),
        ("/api/v1/nothing", 404, "Not Found; /openapi.json tells what there is"),
        ("/api/v1/../../etc/passwd", 404, "this path is not written straight; /openapi.json tells what there is"),
    ],
)
def test_what_is_unknown_is_refused(path: str, status: int, says: str, portal: Served) -> None:
    told = portal.get(path)
    assert (told.status, told.body["status"], told.body["detail"]) == (status, status, says)


def test_a_route_takes_its_method_only(portal: Served) -> None:
    assert portal.request("POST", "/api/v1/whoami").status == 405


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.name)
def test_every_endpoint_says_who_may_call_it_and_what_it_answers(endpoint: Endpoint[..., object]) -> None:
    assert endpoint.may in Access
    assert endpoint.function.__doc__, "OpenAPI shows it"
    if hasattr(endpoint.answer, "_fields"):
        assert get_type_hints(endpoint.answer)


def test_names_and_paths_are_unique() -> None:
    assert len({endpoint.name for endpoint in EVERY}) == len(EVERY)
    assert len({(endpoint.method, endpoint.path) for endpoint in EVERY}) == len(EVERY)


def test_openapi_describes_every_endpoint(portal: Served) -> None:
    paths = portal.get("/openapi.json").body["paths"]
    told = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert told == {(endpoint.method, f"/api/v1{endpoint.path}") for endpoint in EVERY}


def test_openapi_says_what_each_field_and_each_parameter_means(portal: Served) -> None:
    told = portal.get("/openapi.json").body
    fields = {
        f"{name}.{field}": schema
        for name, model in told["components"]["schemas"].items()
        for field, schema in model.get("properties", {}).items()
    }
    assert len(fields) > 300
    operations = {f"{method} {path}": op for path, ops in told["paths"].items() for method, op in ops.items()}
    asked = {
        f"{name} {parameter['name']}": parameter
        for name, operation in operations.items()
        for parameter in operation.get("parameters", [])
    }
    assert [name for name, schema in (fields | asked).items() if not schema.get("description")] == []


def test_each_parameter_means_the_same_everywhere_and_each_meaning_is_of_one() -> None:
    names = {
        name
        for endpoint in EVERY
        for name, parameter in signature(endpoint.function).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }
    assert names == set(MEANINGS)


def test_openapi_tells_of_problems_and_of_tokens(portal: Served) -> None:
    told = portal.get("/openapi.json").body
    assert told["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert told["security"] == [{"token": []}, {}]
    answers = told["paths"]["/api/v1/campaigns/{campaign_id}"]["get"]["responses"]
    problem = told["components"]["schemas"]["ProblemDetails"]
    assert answers["4XX"]["content"]["application/problem+json"]["schema"]["$ref"].endswith("/ProblemDetails")
    refused = portal.get("/api/v1/campaigns/9").body
    assert set(problem["required"]) <= set(refused) <= set(problem["properties"])
