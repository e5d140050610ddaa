"""What is asked is checked by its types; what is unknown is refused; and errors say what to do."""

import json
from collections.abc import Mapping
from http.client import HTTPMessage
from inspect import Parameter, signature
from typing import NamedTuple, get_type_hints

import jsonschema_rs
import pytest

from cigri import endpoints
from cigri.endpoints import API, Access, Endpoint
from cigri.endpoints.parameters import MEANINGS
from cigri.endpoints.portal_client import STREAM
from cigri.identity.unix_sockets import UnixSocketConnection
from tests.factories import a_campaign, a_cluster
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


def test_openapi_names_each_operation_and_says_what_its_group_is(portal: Served) -> None:
    told = portal.get("/openapi.json").body
    operations = [operation for of_path in told["paths"].values() for operation in of_path.values()]
    assert {operation["operationId"] for operation in operations} == {endpoint.name for endpoint in EVERY}
    described = {tag["name"]: tag["description"] for tag in told["tags"]}
    assert all(described.values())
    assert {tag for operation in operations for tag in operation["tags"]} == set(described)


def test_openapi_says_with_which_status_each_kind_of_problem_comes(portal: Served) -> None:
    told = portal.get("/openapi.json").body
    refusals = told["components"]["responses"]
    assert "`NotFound`: no such campaign" in refusals["404"]["description"]
    assert "`AdmissionRefused`: an admission rule says no" in refusals["403"]["description"]
    for of_path in told["paths"].values():
        for operation in of_path.values():
            assert operation["responses"]["404"] == {"$ref": "#/components/responses/404"}


class Plain(NamedTuple):
    status: int
    headers: HTTPMessage
    body: bytes


def plain(portal: Served, method: str, path: str, headers: Mapping[str, str]) -> Plain:
    connection = UnixSocketConnection(portal.place)
    try:
        connection.request(method, path, None, headers)
        response = connection.getresponse()
        return Plain(response.status, response.headers, response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/api/v1/whoami", "/api/v1/campaigns", "/api/v1/nothing", "/problems/NotFound"])
def test_head_is_answered_as_get_without_the_body(path: str, portal: Served) -> None:
    got, asked = plain(portal, "GET", path, {}), plain(portal, "HEAD", path, {})
    assert (asked.status, asked.body) == (got.status, b"")
    changing = ("date",)
    assert [header for header in asked.headers.items() if header[0] not in changing] == [
        header for header in got.headers.items() if header[0] not in changing
    ]
    assert int(asked.headers["content-length"]) == len(got.body) > 0


@pytest.mark.parametrize("named", ["{tag}", "W/{tag}", '"another", {tag}', "*"])
def test_an_answer_that_is_there_already_is_not_sent_again(named: str, portal: Served) -> None:
    tag = plain(portal, "GET", "/api/v1/campaigns", {}).headers["etag"]
    again = plain(portal, "GET", "/api/v1/campaigns", {"If-None-Match": named.format(tag=tag)})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    with portal.database.begin() as conn:
        a_cluster(conn, "dahu")
        a_campaign(conn, 1)
    changed = plain(portal, "GET", "/api/v1/campaigns", {"If-None-Match": tag})
    assert (changed.status, changed.headers["etag"] != tag) == (200, True)


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        ("NotFound", 404, "No such campaign, job, cluster or event, or it belongs to somebody else."),
        ("ClusterUnreachable", 502, "Try later: nothing was run on the cluster."),
        ("UsageError", 400, "The user must change the command."),
        ("Bug", 500, "CiGri is wrong, and its log tells more."),
    ],
)
def test_the_type_of_a_problem_leads_to_a_page(kind: str, status: int, says: str, portal: Served) -> None:
    page = plain(portal, "GET", f"/problems/{kind}", {"Accept": "text/html"})
    assert page.status == 200
    assert says in page.body.decode()
    assert f"status {status} " in page.body.decode()


def test_a_kind_of_problem_that_there_is_not_is_not_found(portal: Served) -> None:
    assert plain(portal, "GET", "/problems/Nothing", {"Accept": "text/html"}).status == 404


SUBMISSIONS = ("submit_campaign", "check_campaign", "simulate_campaigns", "submit_stages", "check_stages")


def test_the_body_of_a_submission_is_described(portal: Served) -> None:
    """By a schema, the example of which is one, and is taken; other uploads are what they are."""
    told = portal.get("/openapi.json").body
    bodies = {
        operation["operationId"]: operation["requestBody"]["content"][STREAM]
        for path in told["paths"].values()
        for operation in path.values()
        if STREAM in operation.get("requestBody", {}).get("content", {})
    }
    for name in SUBMISSIONS:
        schema = jsonschema_rs.validator_for({**bodies[name]["schema"], "components": told["components"]})
        assert schema.is_valid(bodies[name]["example"])
        assert not schema.is_valid(bodies[name]["example"] | {"walltime": -1})
    assert {name for name, body in bodies.items() if body["schema"] == {"type": "string"}} == bodies.keys() - {
        *SUBMISSIONS
    }
    example = json.dumps(bodies["check_campaign"]["example"])
    said = portal.request("POST", f"{API}/campaigns/check", example, headers={"Content-Type": STREAM})
    assert said.status == 200, said.body
    assert [problem["place"] for problem in said.body["problems"]] == ["clusters.dahu", "clusters.luke"], said.body
