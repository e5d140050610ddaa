"""What is refused, as a browser's reader sees it; who is not known is told how to sign in."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from cigri.endpoints import API
from cigri.errors import CigriError
from modules.portal.authentication import NotAuthenticated
from modules.portal.cigri3.dispatch import BASE
from modules.portal.rendering.page_renderer import PageRenderer


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """Over the answers that the API gives to the same errors."""
    for kind in (CigriError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _shown(app.exception_handlers[kind], site))


def show_refusal(scope: Scope, status: HTTPStatus, said: str) -> Response | None:
    """Return a page that says it, or None where no page is asked for; nobody is asked who they are."""
    request = Request(scope)
    if not _is_for_a_page(request):
        return None
    site: PageRenderer = scope["app"].state.site
    return site.show(request, "refused.html", None, status, title=status.phrase, said=said)


def _shown(tell: Callable[..., Any], site: PageRenderer) -> Callable[[Request, Any], Response]:
    def answer(request: Request, error: Any) -> Response:
        problem: Response = tell(request, error)
        if not _is_for_a_page(request):
            return problem
        if isinstance(error, NotAuthenticated):
            return site.show(request, "sign_in.html", None, problem.status_code, user="", link="")
        said, status = json.loads(bytes(problem.body))["detail"], HTTPStatus(problem.status_code)
        return site.show(request, "refused.html", None, status, title=status.phrase, said=said)

    return answer


def _is_for_a_page(request: Request) -> bool:
    return not request.url.path.startswith((API, BASE)) and "text/html" in request.headers.get("accept", "")
