"""Whatever stands in a body, the portal takes it or says what is wrong with it; it never fails over it."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from cigri import endpoints
from cigri.endpoints import Endpoint
from tests.portal.conftest import Served
from tests.portal.test_changes import ASKED, _grid, database_url, filled_template

__all__ = ["_grid", "database_url", "filled_template"]  # the fixtures: a campaign of each kind


def nested(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


NUMBERS: tuple[object, ...] = (2**63, -(2**64), 10**400, 1.5, -1)
ODD = ("a\0b", "\ud800", "x" * 100_000, *NUMBERS, None, [], {}, True, "", nested(100), nested(500), nested(800))
WITH_BODIES = [one for one in endpoints.list_endpoints() if one.method != "GET" and not ASKED[one.name].is_raw]


def variants(value: object) -> Iterator[object]:
    """The value with each of its parts replaced by each odd value, one at a time, and with an odd name added."""
    yield from ODD
    parts: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in parts:
        for changed in variants(part):
            whole: Any = copy.deepcopy(value)
            whole[place] = changed
            yield whole
    if isinstance(value, dict):
        for name in ("a\0b", "\ud800", "x" * 1000):
            yield {**value, name: 1}


@pytest.mark.parametrize("endpoint", WITH_BODIES, ids=lambda one: one.name)
def test_odd_bodies_are_taken_or_refused(endpoint: Endpoint[..., Any], portal: Served) -> None:
    asked = ASKED[endpoint.name]
    headers = {"Content-Type": "application/json"}
    failed = []
    for body in variants(asked.body or {}):
        text = json.dumps(body)
        told = portal.request(endpoint.method, f"/api/v1{asked.path}", text, headers=headers)
        if told.status == 500:
            failed.append(text[:200])
    assert not failed
