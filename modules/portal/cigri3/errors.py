"""What is refused, as CiGri 3's clients read it: status, title and message, with the statuses that they know."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from cigri.errors import CigriError
from modules.portal.cigri3.dispatch import BASE, as_cigri3
from modules.portal.deferred_responses import ResponsePending
from modules.portal.problem_details import is_by_rule

STATUS_BEFORE = {
    HTTPStatus.UNAUTHORIZED: HTTPStatus.FORBIDDEN,
    HTTPStatus.CONFLICT: HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY: HTTPStatus.BAD_REQUEST,
}
TITLE_OF_ADMISSION = "Admission rule error"
"""By this clients know that a rule of the site refuses, and print its words."""
KEPT_HEADERS = ("Allow", "Connection", "Retry-After")
NOT_YET = "the cluster is being asked: ask the same again in a second"


def add_to(app: FastAPI) -> None:
    """Over the answers that the API gives to the same errors."""
    for kind in (CigriError, HTTPException, Exception):
        app.add_exception_handler(kind, _as_before(app.exception_handlers[kind]))
    app.add_exception_handler(ResponsePending, _not_yet)


def _as_before(tell: Callable[..., Any]) -> Callable[[Request, Any], Response]:
    def answer(request: Request, error: Any) -> Response:
        told: Response = tell(request, error)
        path = request.url.path
        if path != BASE and not path.startswith(f"{BASE}/"):
            return told
        status = STATUS_BEFORE.get(HTTPStatus(told.status_code), HTTPStatus(told.status_code))
        title = status.phrase
        if is_by_rule(error):
            status, title = HTTPStatus.BAD_REQUEST, TITLE_OF_ADMISSION
        if isinstance(error, HTTPException) and status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            answer = refused(status, f"{request.method} {path} is not served; docs/reference/cigri3.md tells what is")
            if status is HTTPStatus.METHOD_NOT_ALLOWED:
                answer.headers["Allow"] = ", ".join(methods_of(request))
            return answer
        answer = refused(status, json.loads(bytes(told.body))["detail"], title)
        answer.headers.update({name: told.headers[name] for name in KEPT_HEADERS if name in told.headers})
        return answer

    return answer


def methods_of(request: Request) -> list[str]:
    """What the path takes: it is declared once for each method."""
    matching = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in getattr(route, "methods", None) or ()})


def _not_yet(_request: Request, _error: Any) -> Response:
    answer = refused(HTTPStatus.ACCEPTED, NOT_YET)
    answer.headers["Retry-After"] = "1"
    return answer


def refused(status: HTTPStatus, message: str, title: str = "") -> Response:
    """In CiGri 3's shape."""
    body = {"status": status, "title": title or status.phrase, "message": message}
    return Response(as_cigri3(body), status, media_type="application/json")
