"""What is wrong is named: whichever parameter of whatever endpoint is, the answer says its name, in words and apart."""

import json
import re
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from cigri.endpoints import API, HEADERS, Endpoint, UploadEndpoint
from tests.conftest import clone_database, made_template
from tests.portal.conftest import Answered, Served
from tests.portal.test_changes import ASKED, EVERY, put_grid

HOSTILE_TEXTS = ("?", "\x01", "-1", "x,y", " ", "é" * 300, "\0", "no@such", "+", "3-1")
HOSTILE_NUMBERS = (-1, 0, 10**17, 10**30)
HOSTILE_LISTS: tuple[Any, ...] = ([], ["?"], [3], "x")
CHANGED_BY_ALL = {"config"}
"""Has a document of its own, whose fields the answer names."""


@pytest.fixture(scope="module")
def wrong_template(server: Path) -> Iterator[str]:
    with made_template(server, put_grid) as name:
        yield name


@pytest.fixture
def database_url(server: Path, compiled: None, wrong_template: str) -> Iterator[str]:
    yield from clone_database(server, wrong_template)


def _hostile(parameter: Parameter) -> tuple[Any, ...]:
    kind = str(parameter.annotation)
    if "list" in kind:
        return HOSTILE_LISTS
    return HOSTILE_NUMBERS if re.search(r"\b(int|float)\b", kind) else HOSTILE_TEXTS


def _ask(portal: Served, endpoint: Endpoint[..., Any], parameter: str, value: Any) -> Answered:
    """As an operator asks it, but for this parameter."""
    asked = ASKED[endpoint.name]
    path, _, query = asked.path.partition("?")
    if endpoint.method == "GET" or isinstance(endpoint, UploadEndpoint):
        fields = [pair for pair in parse_qsl(query) if pair[0] != parameter]
        fields += [(parameter, str(one)) for one in (value if isinstance(value, list) else [value])]
        body = None if endpoint.method == "GET" else asked.body if asked.is_raw else json.dumps(asked.body or {})
        path = f"{path}?{urlencode(fields)}"
    else:
        path, body = asked.path, json.dumps({**(asked.body or {}), parameter: value})
    headers = {"Content-Type": "application/json"}
    return portal.request(endpoint.method, f"{API}{path}", body, headers=headers)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda one: one.name)
def test_an_answer_names_the_parameter_that_is_wrong(endpoint: Endpoint[..., Any], portal: Served) -> None:
    unnamed = []
    for parameter in signature(endpoint.function).parameters.values():
        name = parameter.name
        if parameter.kind is not Parameter.KEYWORD_ONLY or name in (*endpoint.in_path, *HEADERS, *CHANGED_BY_ALL):
            continue
        for value in _hostile(parameter):
            told = _ask(portal, endpoint, name, value)
            assert told.status < 500 or told.body["type"] == "/problems/TooManyRequests", (name, value, told.body)
            if told.status not in (400, 422) or told.body["type"] != "/problems/UsageError":
                continue
            places = [problem["place"].split(".") for problem in told.body.get("problems", [])]
            is_named = re.match(rf"(query\.|body\.)?-*{name}\b", told.body["detail"])
            if not is_named or not any(name in place for place in places):
                unnamed.append((name, value, told.body))
    assert unnamed == []
