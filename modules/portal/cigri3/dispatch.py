"""A path of CiGri 3's: what it takes, by whom it is asked, and how its answer goes back."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from cigri.endpoints import HEADERS, Endpoint, P, R
from cigri.endpoints.dispatch import InProcessClient, run_endpoint
from cigri.endpoints.storable_values import LARGEST
from cigri.errors import NotFound, UsageError
from cigri.formats.json_values import to_json_value
from cigri.formats.untrusted_text import safe_json
from cigri.identity.callers import Caller
from modules.portal.held_requests import LONGEST_WAIT
from modules.portal.services import PortalServices

BASE = "/cigri-api"
"""API_BASE of the clients' configuration, as it is delivered."""
PRETTY = "pretty"
MOST_DIGITS = 18  # of a number


class Cigri3Response(NamedTuple):
    """An answer; `location`: of what was made."""

    body: Any
    status: HTTPStatus = HTTPStatus.OK
    location: str = ""


@dataclass(frozen=True)
class Cigri3Request:
    """A request, whose caller is known."""

    caller: Caller
    grid: InProcessClient
    services: PortalServices
    named: Mapping[str, str]
    """What the path names."""
    options: Mapping[str, str]
    body: bytes
    key: str

    def number(self, name: str) -> int:
        """Of something in the path; raise NotFound for what numbers nothing."""
        return read_number(self.named[name])

    def count(self, name: str, usual: int) -> int:
        """An option that is a number; raise UsageError for one that is none, or below 0."""
        text = self.options.get(name, str(usual))
        if not is_number(text):
            raise UsageError(f"{name}: {text[:30]!r} is no number from 0 on")
        return int(text)

    def ask_cluster(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        """What a cluster may have to say; raise ResponsePending until it has."""
        assert not args, "parameters are given by name"
        question = (endpoint.name, self.caller, json.dumps(asked, sort_keys=True))
        answer: R = self.services.errands.fetch_or_start(
            self.caller.user,
            question,
            lambda: run_endpoint(endpoint, self.services.database, self.services.settings.current, self.caller, asked),
        )
        return answer


@dataclass(frozen=True)
class Cigri3Route:
    """`options`: what may stand in the query; anything else is an error, lest `?hodl` cancels what was to be held."""

    method: str
    path: str
    function: Callable[[Cigri3Request], Cigri3Response]
    options: tuple[str, ...] = field(default=())


class Cigri3Dispatcher:
    """One for all requests."""

    def __init__(self, services: PortalServices) -> None:
        self._services = services

    def serving(self, path: Cigri3Route) -> Callable[[Request], Awaitable[Response]]:
        """What serves it; the work is done in a thread, and clusters are waited for: clients never ask twice."""

        async def serve(request: Request) -> Response:
            caller = await run_in_threadpool(self._services.identities.caller, request)
            body = b"" if path.method == "GET" else await request.body()
            return await self._services.held.answer(
                caller.user, lambda: self._answer(path, request, caller, body), LONGEST_WAIT
            )

        return serve

    def _answer(self, path: Cigri3Route, request: Request, caller: Caller, body: bytes) -> Response:
        options = dict(request.query_params)
        if unknown := sorted(options.keys() - {*path.options, PRETTY}):
            known = f"there are {', '.join([*path.options, PRETTY])}"
            raise UsageError(f"{', '.join(unknown)[:100]}: no option of {path.method} {path.path}; {known}")
        asked = Cigri3Request(
            caller,
            InProcessClient(self._services.database, self._services.settings.current, caller),
            self._services,
            request.path_params,
            options,
            body,
            request.headers.get(HEADERS["key"], ""),
        )
        told = path.function(asked)
        headers = {"Location": told.location} if told.location else None
        indent = 2 if options.get(PRETTY, "false") != "false" else None
        return Response(as_cigri3(told.body, indent), told.status, headers, "application/json")


def as_cigri3(body: Any, indent: int | None = None) -> bytes:
    """One line without blanks, or several to be read, and the end of it."""
    marks = (",", ":") if indent is None else None
    return (
        safe_json(json.dumps(to_json_value(body), ensure_ascii=False, indent=indent, separators=marks)) + "\n"
    ).encode()


def is_number(text: str) -> bool:
    """Is it one that the database holds, from 0 on?"""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and int(text) <= LARGEST


def read_number(text: str) -> int:
    """Raise NotFound for what numbers nothing."""
    if not is_number(text):
        raise NotFound(f"{text[:30]!r} is no number of anything here")
    return int(text)


def link(rel: str, path: str, title: str = "") -> dict[str, str]:
    """Its path is relative to the base, which clients put before whatever they ask."""
    return {"rel": rel, "href": path} | ({"title": title} if title else {})


def accepted(message: str) -> Cigri3Response:
    """What was wanted is done, or begun."""
    status = HTTPStatus.ACCEPTED
    return Cigri3Response({"status": status, "title": status.phrase, "message": message}, status)
