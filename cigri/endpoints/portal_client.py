"""The grid through its portal: HTTP over the unix socket, where the kernel says who we are, or with a token."""

import json
import select
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from cigri import errors
from cigri.endpoints import API, HEADERS, Endpoint, P, R, UploadEndpoint
from cigri.endpoints.paging import UnfinishedPage
from cigri.endpoints.remote_portal import RemotePortal
from cigri.endpoints.request_bodies import as_body
from cigri.errors import (
    CigriError,
    DescriptionError,
    DescriptionProblem,
    PortalUnavailable,
    TooManyRequests,
)
from cigri.formats.json_values import from_json_value, to_json_value
from cigri.formats.machine_text import read_json
from cigri.identity.unix_sockets import LONGEST_ANSWER, UnixSocketConnection

LONGEST_RECEIVING = 900.0  # seconds in which much may be sent, and looked at
PREFERRED_WAIT = 30  # seconds for which the portal is to hold a request; below LONGEST_ANSWER
OK, ACCEPTED, SENT_ELSEWHERE = range(200, 300), 202, range(300, 400)
STREAM = "application/x-ndjson"
LONGEST_ERRAND = 120.0  # seconds that a cluster, or a calculation, is waited for
ERRAND_PAUSE = 0.1  # between two questions whether there is an answer
SENDING_PAUSE = 0.5  # the same, where much may have to be sent with each


HttpBody = bytes | Iterable[bytes] | None


class _PortalAnswer(NamedTuple):
    """`has_next`: it is a page of a list, which goes on behind it."""

    status: int
    text: bytes
    has_next: bool


class PortalClient:
    """One kept connection, to the portal of now; what went wrong there is raised here, as the same error."""

    def __init__(self, place: Path | RemotePortal) -> None:
        self._place = place
        self._connection = self._connected(LONGEST_ANSWER)
        self._prefix, self._headers = "", dict[str, str]()
        if isinstance(place, Path):
            return
        self._prefix = place.prefix
        self._headers = {"Authorization": f"Bearer {place.token}"} if place.token else {}

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        assert not args, "parameters are given by name"
        path, body = _request(endpoint, asked)
        headers = ({"Content-Type": "application/json"} if body is not None else {}) | _preference(endpoint)

        def exchange() -> _PortalAnswer:
            return self._exchange(self._connection, endpoint.method, path, body, headers)

        return self._read(endpoint, _answered(exchange, ERRAND_PAUSE))

    def send(self, endpoint: UploadEndpoint[P, R], values: Iterable[object], *args: P.args, **asked: P.kwargs) -> R:
        """Of what is calculated the values are sent several times."""
        assert not args, "parameters are given by name"
        return self._sent(endpoint, lambda: as_body(values), asked)

    def send_bytes(
        self, endpoint: UploadEndpoint[P, R], blocks: Iterable[bytes], *args: P.args, **asked: P.kwargs
    ) -> R:
        assert not args, "parameters are given by name"
        return self._sent(endpoint, lambda: blocks, asked)

    def _sent(self, endpoint: UploadEndpoint[..., R], body: Callable[[], HttpBody], asked: dict[str, Any]) -> R:
        """On a connection of its own: what is wrong with one of the values leaves it in the middle."""
        headers = {HEADERS[name]: str(asked.pop(name)) for name in HEADERS.keys() & asked.keys()}
        headers |= _preference(endpoint)
        path, _ = _request(endpoint, asked)
        connection = self._connected(LONGEST_RECEIVING)
        try:
            headers["Content-Type"] = STREAM

            def exchange() -> _PortalAnswer:
                return self._exchange(connection, "POST", path, body(), headers)

            return self._read(endpoint, _answered(exchange, SENDING_PAUSE))
        finally:
            connection.close()

    def _connected(self, timeout: float) -> HTTPConnection:
        place = self._place
        return UnixSocketConnection(place, timeout) if isinstance(place, Path) else place.connection(timeout)

    def _read(self, endpoint: Endpoint[..., R], told: _PortalAnswer) -> R:
        status, text, has_next = told
        if status in SENT_ELSEWHERE:
            raise PortalUnavailable(
                f"{self._place} answers {status} and names another address: correct it here yourself"
            )
        if status not in OK:
            raise _raised(status, text)
        try:
            answer: R = from_json_value(endpoint.answer, read_json(text))
        except ValueError as error:
            raise PortalUnavailable(f"what answers at {self._place} is no portal of this version: {error}") from error
        return UnfinishedPage(answer) if has_next else answer  # type: ignore[call-overload]  # it is a list

    def _exchange(
        self, connection: HTTPConnection, method: str, path: str, body: HttpBody, headers: dict[str, str]
    ) -> _PortalAnswer:
        if _has_ended(connection):
            connection.close()  # it is opened again with the request
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before it has read all
                connection.request(method, self._prefix + path, body, self._headers | headers)
            response: HTTPResponse = connection.getresponse()
            return _PortalAnswer(response.status, response.read(), "Link" in response.headers)
        except (OSError, HTTPException) as error:
            connection.close()
            raise PortalUnavailable(
                f"the portal at {self._place} does not answer: {error}\n"
                "try again later; whoever runs this grid looks with `cigri status`"
            ) from error

    def close(self) -> None:
        self._connection.close()


def _answered(exchange: Callable[[], _PortalAnswer], pause: float) -> _PortalAnswer:
    """What is answered at last, when the same has been asked often enough."""
    told = exchange()
    asked_until = time.monotonic() + LONGEST_ERRAND
    while told.status == ACCEPTED and time.monotonic() < asked_until:
        time.sleep(pause)
        told = exchange()
    if told.status == ACCEPTED:
        raise TooManyRequests(f"there is no answer after {LONGEST_ERRAND:.0f} s; ask again later")
    return told


def _preference(endpoint: Endpoint[..., Any]) -> dict[str, str]:
    """Where an answer has to be found out first: an older portal says 202 at once, and is asked again."""
    return {"Prefer": f"wait={PREFERRED_WAIT}"} if endpoint.may_defer else {}


def _has_ended(connection: HTTPConnection) -> bool:
    """Has the portal hung up since its last answer? Of its own accord it says nothing else."""
    if connection.sock is None:
        return False
    news = select.poll()
    news.register(connection.sock, select.POLLIN)
    return bool(news.poll(0))


def _request(endpoint: Endpoint[..., Any], asked: dict[str, Any]) -> tuple[str, bytes | None]:
    """Path with query, and body."""
    values = {name: to_json_value(value) for name, value in asked.items() if value is not None}
    path = API + endpoint.path.format(**{name: quote(str(values.pop(name)), safe="") for name in endpoint.in_path})
    if endpoint.method == "GET" or isinstance(endpoint, UploadEndpoint):
        return f"{path}?{urlencode(_query(values), doseq=True)}" if values else path, None
    return path, json.dumps(values).encode()


def _query(values: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}


OLD_PROBLEM_TYPES = {
    "RuleBroken": "AdmissionRuleFailed",
    "KeyReused": "IdempotencyKeyReused",
    "Busy": "TooManyRequests",
    "NotForetold": "SimulationFailed",
    "TookTooLong": "QueryTimedOut",
}
"""What a portal of before 0.2 calls errors that have other names now."""


def _raised(status: int, text: bytes) -> CigriError:
    """The error that the portal tells of."""
    try:
        problem = read_json(text)
        kind, detail = str(problem["type"]).rpartition("/")[2], str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return PortalUnavailable(f"the portal answered {status}: {text[:200].decode(errors='replace')}")
    if kind == DescriptionError.__name__:
        return DescriptionError([DescriptionProblem(**told) for told in problem["problems"]])
    known = getattr(errors, OLD_PROBLEM_TYPES.get(kind, kind), None)
    try:
        return known(detail) if isinstance(known, type) and issubclass(known, CigriError) else CigriError(detail)
    except TypeError:  # it is made of more than its sentence
        return CigriError(detail)
