"""Errors as the API tells them: problem+json (RFC 9457), with the sentence that a command would show."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from cigri import errors
from cigri.errors import (
    AdmissionRefused,
    CigriError,
    ConfigError,
    DatabaseFull,
    DatabaseUnavailable,
    DescriptionError,
    Forbidden,
    IdempotencyKeyReused,
    NotFound,
    PortalUnavailable,
    QueryTimedOut,
    StorageFull,
    TooManyRequests,
    TransportError,
    UsageError,
)
from cigri.formats.untrusted_text import safe_json
from cigri.outputs.downloading import FULL
from modules.portal.authentication import NotAuthenticated
from modules.portal.services import services_of
from modules.portal.storage_reserve import NOTHING_TAKEN

logger = logging.getLogger(__name__)

STATUS_BY_ERROR: tuple[tuple[type[CigriError], HTTPStatus], ...] = (
    (NotAuthenticated, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (AdmissionRefused, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
    (IdempotencyKeyReused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (DescriptionError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (ConfigError, HTTPStatus.CONFLICT),
    (StorageFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (DatabaseFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (DatabaseUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (QueryTimedOut, HTTPStatus.SERVICE_UNAVAILABLE),
    (TooManyRequests, HTTPStatus.SERVICE_UNAVAILABLE),
    (TransportError, HTTPStatus.BAD_GATEWAY),
    (CigriError, HTTPStatus.CONFLICT),
)
PROBLEM_ADVICE: Mapping[str, str] = {
    **dict(re.findall(r"── (\w+) +(.+?)(?: \(exit \d\))?$", errors.__doc__ or "", re.MULTILINE)),
    "TransportError": "try later: a cluster does not answer as it should",
    "NotAuthenticated": "say who you are: by the socket, a token, or a session",
    "CigriError": "the answer says what to do",
}
"""What may be done about each kind of problem, as the tree of errors tells it."""
BUG, BUG_ADVICE = "Bug", "tell those who run the grid when it was"
MEDIA_TYPE = "application/problem+json"
ASKED_AGAIN = "5"  # seconds until what is too much may be asked again


def add_to(app: FastAPI) -> None:
    """Every answer that is no success is a problem."""
    app.add_exception_handler(CigriError, _ours)
    app.add_exception_handler(OSError, _no_space)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _bug)


def status_of(kind: type[CigriError]) -> HTTPStatus:
    """With which an error of this kind is answered."""
    return next(status for wider, status in STATUS_BY_ERROR if issubclass(kind, wider))


def advice_on(kind: type[CigriError]) -> str:
    """What may be done about it, or about the next wider kind of which that is known."""
    return next(PROBLEM_ADVICE[wider.__name__] for wider in kind.__mro__ if wider.__name__ in PROBLEM_ADVICE)


def list_kinds(widest: type[CigriError] = CigriError) -> Iterator[type[CigriError]]:
    """Every kind, the wider ones first."""
    yield widest
    for narrower in widest.__subclasses__():
        yield from list_kinds(narrower)


def is_documented(kind: type[CigriError]) -> bool:
    """Does the tree of errors tell of it, and may the portal answer it? Others are told as the wider kind is."""
    return kind.__name__ in PROBLEM_ADVICE and kind is not PortalUnavailable


def problem_body(status: HTTPStatus, kind: str, detail: str) -> dict[str, Any]:
    """What is told of each problem (RFC 9457)."""
    return {"type": f"/problems/{kind}", "title": status.phrase, "status": status, "detail": detail}


def is_by_rule(error: Exception) -> bool:
    """Does an admission rule refuse it, alone or beside what else is wrong?"""
    if isinstance(error, DescriptionError):
        return any(problem.message.startswith(AdmissionRefused.begins) for problem in error.problems)
    return isinstance(error, AdmissionRefused)


def _ours(_request: Request, error: Any) -> Response:
    status = status_of(AdmissionRefused if is_by_rule(error) else type(error))
    more = {}
    if isinstance(error, DescriptionError):
        more["problems"] = [problem._asdict() for problem in error.problems]
    if isinstance(error, UsageError) and error.parameter:
        more["problems"] = [{"place": error.parameter, "message": str(error), "hint": ""}]
    answer = problem(status, type(error).__name__, str(error), **more)
    if isinstance(error, TooManyRequests):
        answer.headers["Retry-After"] = ASKED_AGAIN
    return answer


def _no_space(request: Request, error: Any) -> Response:
    """Where a disk of the grid's is full; any other error of the system is a bug."""
    if error.errno not in FULL:
        raise error
    reserve = services_of(request).reserve
    reserve.tell(f"{error.strerror}: {error.filename or 'a file of the grid'}")
    return _ours(request, StorageFull(f"the grid's disk has no room left: {NOTHING_TAKEN}"))


def _invalid(_request: Request, error: Any) -> Response:
    problems = [
        {"place": ".".join(map(str, wrong["loc"])), "message": wrong["msg"], "hint": ""} for wrong in error.errors()
    ]
    detail = "\n".join(f"{wrong['place']}: {wrong['message']}" for wrong in problems)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "UsageError", detail, problems=problems)


def _http(_request: Request, error: Any) -> Response:
    answer = problem(HTTPStatus(error.status_code), "UsageError", f"{error.detail}; /openapi.json tells what there is")
    answer.headers.update(error.headers or {})
    return answer


def _bug(request: Request, error: Any) -> Response:
    logger.error("%s %s raised", request.method, request.url.path, exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, BUG, "this is a bug in CiGri: its log tells more")


def problem(status: HTTPStatus, kind: str, detail: str, **more: Any) -> Response:
    """`kind`: the class of ours that a command raises again. What callers wrote may be quoted, half a character too."""
    body = problem_body(status, kind, detail) | more
    headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else None
    return Response(safe_json(json.dumps(body, ensure_ascii=False)).encode(), status, headers, MEDIA_TYPE)
