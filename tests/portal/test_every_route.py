"""What holds for each route, whatever is added: HEAD, ETag and 304, 201 with its place, `Prefer: wait=N`."""

import json
import re
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPMessage
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pytest
from starlette.routing import Route

from cigri.database import Database
from cigri.endpoints import API, Endpoint, UploadEndpoint, list_endpoints
from cigri.errors import ClusterUnreachable
from cigri.identity.unix_sockets import UnixSocketConnection
from modules.portal import make_app
from modules.portal.connections import CHANGES
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.settings_in_force import SettingsInForce
from tests.portal.conftest import EnvironmentSettings, Served
from tests.portal.test_changes import ASKED, put_grid

EVERY = list(list_endpoints())
READ = [one for one in EVERY if one.method == "GET" and not one.may_defer]
DEFERRED = [one for one in EVERY if one.may_defer and not isinstance(one, UploadEndpoint)]
"""What a cluster has to say; what is calculated takes as long as it takes."""
MOVING = {"figures", "notices", "checks", "cluster_usage", "cluster_day", "progress", "cores"}
"""They tell the time of the grid, how long ago something was, or a history until now."""
MADE = {"submit_campaign", "submit_stages", "declare_cluster"}
ADDING = re.compile(r"(create|add|submit|declare|subscribe|put|new)_?")
WITHOUT_PLACE = {
    **dict.fromkeys(
        ("create_token", "add_key", "subscribe", "subscribe_to_campaign", "subscribe_to_grid"), "in a list"
    ),
    **dict.fromkeys(("create_link", "create_challenge", "new_secret"), "told once, to nobody else"),
    **dict.fromkeys(("add_affinity",), "a relation, told in a list"),
    **dict.fromkeys(("add_tasks",), "many, of a campaign that is there"),
}
"""What is added and has no address of its own."""
LONG = 60.0  # seconds


class Raw(NamedTuple):
    """An answer as it came."""

    status: int
    headers: HTTPMessage
    body: bytes


def raw(portal: Served, method: str, path: str, body: Any = None, **headers: str) -> Raw:
    connection = UnixSocketConnection(portal.place, LONG)
    try:
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Content-Type": "application/json", **said})
        response = connection.getresponse()
        return Raw(response.status, response.headers, response.read())
    finally:
        connection.close()


@pytest.fixture
def grid(portal: Served, database: Database, monkeypatch: pytest.MonkeyPatch) -> Served:
    """That of tests/portal/test_changes.py."""
    monkeypatch.setenv("CIGRI_SET_PORTAL__ADDRESS", "127.0.0.1:8080")
    with database.begin() as conn:
        put_grid(conn)
    return portal


def test_each_answer_to_get_is_answered_to_head_and_not_sent_twice(grid: Served) -> None:
    wrong = list[tuple[object, ...]]()
    for endpoint in READ:
        path = f"{API}{ASKED[endpoint.name].path}"
        got, asked = raw(grid, "GET", path), raw(grid, "HEAD", path)
        tag = got.headers["ETag"]
        if not tag or (asked.status, asked.body) != (got.status, b"") or set(asked.headers) != set(got.headers):
            wrong.append((endpoint.name, "HEAD", got.status, asked.status, tag))
            continue
        again = raw(grid, "GET", path, If_None_Match=tag)
        is_known = (again.status, again.body, again.headers["ETag"]) == (HTTPStatus.NOT_MODIFIED, b"", tag)
        if not is_known and endpoint.name not in MOVING:
            wrong.append((endpoint.name, "304", again.status, again.headers["ETag"], tag))
    assert wrong == [], "\n".join(map(str, wrong))
    assert len(READ) > 40


def test_each_page_is_answered_to_head(grid: Served, database: Database) -> None:
    """Those that stand for themselves, and those of a campaign, a task, a job and a cluster."""
    names = {"campaign_id": "1", "number": "1", "job_id": "1", "cluster": "dahu", "kind": "NotFound"}
    with closing(DeferredResponses()) as errands:
        routes = make_app(database, SettingsInForce(EnvironmentSettings().current()), errands).routes
    paths = {
        re.sub(r"\{(\w+)(:\w+)?\}", lambda name: names.get(name[1], "1"), route.path)
        for route in routes
        if isinstance(route, Route) and "GET" in (route.methods or ()) and not route.path.startswith(API)
    } - {CHANGES}
    wrong = list[tuple[object, ...]]()
    for path in sorted(paths):
        got, asked = raw(grid, "GET", path, Accept="text/html"), raw(grid, "HEAD", path, Accept="text/html")
        may_be = {got.status} | ({HTTPStatus.OK} if got.status == HTTPStatus.ACCEPTED else set())  # it is there by now
        if asked.status not in may_be or asked.body != b"":
            wrong.append((path, got.status, asked.status))
    assert wrong == []
    assert len(paths) > 20


def test_what_is_made_is_answered_201_with_its_place(grid: Served) -> None:
    making = [one for one in EVERY if one.created is not None]
    assert {one.name for one in making} == MADE
    for endpoint in making:
        path = f"{API}{ASKED[endpoint.name].path}"
        told = raw(grid, "POST", path, json.dumps(ASKED[endpoint.name].body))
        assert told.status == HTTPStatus.CREATED, told.body
        assert raw(grid, "GET", urljoin(path, told.headers["Location"])).status == HTTPStatus.OK


def test_what_is_added_has_a_place_or_it_is_said_why_not() -> None:
    adding = {one.name for one in EVERY if one.method != "GET" and ADDING.match(one.name)}
    assert adding == MADE | WITHOUT_PLACE.keys()


class SilentCluster:
    """A gateway to a cluster that does not answer."""

    def __getattr__(self, _name: str) -> Any:
        return self._ask

    def _ask(self, *_: object, **__: object) -> Any:
        raise ClusterUnreachable("dahu", "it does not answer")


@pytest.mark.parametrize("endpoint", DEFERRED, ids=lambda one: one.name)
def test_what_a_cluster_has_to_say_is_waited_for_where_one_prefers_so(
    endpoint: Endpoint[..., Any], grid: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """202 at once, or the answer itself: here, that there is none."""
    monkeypatch.setattr("modules.portal.deferred_responses.TransportGateway", SilentCluster)
    asked = ASKED[endpoint.name]
    path, body = f"{API}{asked.path}", None if endpoint.method == "GET" else json.dumps(asked.body or {})
    told = raw(grid, endpoint.method, path, body, Prefer="wait=50")
    assert told.status != HTTPStatus.ACCEPTED, told.body
    assert told.status in (HTTPStatus.OK, HTTPStatus.BAD_GATEWAY), told.body
