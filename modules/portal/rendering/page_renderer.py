"""What all pages are made of: who looks, the answers of the API, templates."""

from datetime import datetime
from functools import cache
from http import HTTPStatus
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from cigri.database import server_time
from cigri.endpoints.dispatch import InProcessClient
from cigri.errors import UsageError
from cigri.identity.callers import Caller
from modules.portal.authentication import BY_SESSION
from modules.portal.browser_sessions import PROOF_FIELD
from modules.portal.rendering.page_parts import KNOWN_PARTS, PageParts
from modules.portal.rendering.template_filters import FILTERS
from modules.portal.services import PortalServices

ROOM = "modules.portal"
STATIC = Path(__file__).parents[1] / "static"
A_DAY = "max-age=86400"
FORM_TYPE = "application/x-www-form-urlencoded"
LONGEST_FORM = 10_000  # bytes


class PageRenderer:
    """One for all requests."""

    def __init__(self, services: PortalServices) -> None:
        self.database, self.settings = services.database, services.settings.current
        self.identities, self.errands = services.identities, services.errands
        self.uploads, self.turns = services.uploads, services.turns
        self._templates = open_templates()

    def visitor(self, request: Request) -> Caller:
        """Who looks; raise NotAuthenticated for one whom nobody knows."""
        return self.identities.visitor(request)

    def grid(self, caller: Caller) -> InProcessClient:
        """The endpoints of the API, as this caller may ask them."""
        return InProcessClient(self.database, self.settings, caller)

    def changing(self, request: Request, form: dict[str, str]) -> Caller:
        """Who sends the form; raise Forbidden unless it is of a page that was made for them."""
        caller = self.visitor(request)
        self.identities.sessions.require_proof(request.headers, caller, form.get(PROOF_FIELD, ""))
        return caller

    def show(
        self, request: Request, template: str, caller: Caller | None, status: int = HTTPStatus.OK, **told: Any
    ) -> Response:
        """A page, or what has changed of it for a browser that shows the rest; `caller` None: nobody is known.

        It may be told its `clock`, of the instant of all else.
        """
        parts = PageParts()
        told = {"clock": cache(self._now), "part": parts.part, **told}
        told |= {
            "caller": caller,
            "proof": "" if caller is None else self.identities.sessions.proof(caller),
            "is_session": caller is not None and caller.how.startswith(BY_SESSION),
            "path": request.url.path,
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        }
        page = self._templates.get_template(template).render(told)
        known = request.headers.get(KNOWN_PARTS, "")
        return parts.answer(page, known) or HTMLResponse(page, status)

    def _now(self) -> datetime:
        """The time of the grid, which only a page with times on it asks for."""
        with self.database.answering() as conn:
            return server_time(conn)


@cache
def open_templates() -> Environment:
    """Return all templates; each is compiled once in a process, which takes longer than to fill it."""
    templates = Environment(
        loader=PackageLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters |= FILTERS
    templates.globals |= {"version": metadata.version("cigri"), "proof_field": PROOF_FIELD}
    return templates


def add_static(app: FastAPI) -> None:
    """Nobody has to say who they are; addresses have the version in them, so that a day is not too long."""
    app.mount("/static", _CachedStaticFiles(directory=STATIC))


class _CachedStaticFiles(StaticFiles):
    def file_response(self, *args: Any, **named: Any) -> Response:
        answer = super().file_response(*args, **named)
        answer.headers["Cache-Control"] = A_DAY
        return answer


async def read_form(request: Request) -> dict[str, str]:
    """Its fields; the last one of each name."""
    return await read_fields(request, LONGEST_FORM)


async def read_fields(request: Request, largest: int) -> dict[str, str]:
    """As read_form, of a form with so many bytes at most."""
    if request.headers.get("content-type", "").partition(";")[0] != FORM_TYPE:
        raise UsageError(f"this address takes a form, {FORM_TYPE}; the API is below /api/v1")
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > largest:
            raise UsageError(f"a form has {largest} bytes at most")
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def see(path: str) -> RedirectResponse:
    """After a change: look at it there."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)
