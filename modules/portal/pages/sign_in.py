"""A browser is let in by a link of `gridweb`, and leaves.

The link shows a page with a button: a mail filter or a browser that fetches links beforehand uses it up by no GET.
"""

import secrets
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response

from cigri.endpoints.identity import SIGN_IN, end_sessions
from cigri.flow.audit import put_audit
from cigri.flow.browser_sessions import SESSION_LIFE, find_link, open_session
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of
from modules.portal.authentication import BY_SESSION
from modules.portal.browser_sessions import give_cookie, is_secret, require_own_page
from modules.portal.rendering.page_renderer import PageRenderer, add_page, read_form, see

BY_LINK = "link"
"""How somebody is known while a session begins."""


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/sign-in and /sign-out."""

    def sign_in_page(request: Request, link: str = "") -> Response:
        known = None
        if is_secret(link):
            with site.database.read() as conn:
                known = find_link(conn, hash_of(link))
        status = HTTPStatus.OK if known or not link else HTTPStatus.FORBIDDEN
        return site.show(
            request, "sign_in.html", None, status, user=known.user if known else "", link=link if known else ""
        )

    def sign_in(request: Request, form: Annotated[dict[str, str], Depends(read_form)]) -> Response:
        require_own_page(request.headers)
        link, secret, opened = form.get("link", ""), secrets.token_urlsafe(32), None
        if is_secret(link):
            with site.database.begin() as conn:
                opened = open_session(conn, hash_of(link), hash_of(secret))
                if opened is not None:
                    put_audit(conn, Caller(opened.user, how=BY_LINK), "sign_in", {"session_id": opened.id})
        if opened is None:
            return site.show(request, "sign_in.html", None, HTTPStatus.FORBIDDEN, user="", link="")
        answer = see("/")
        give_cookie(answer, request.headers, secret, SESSION_LIFE)
        return answer

    def sign_out(request: Request, form: Annotated[dict[str, str], Depends(read_form)]) -> Response:
        caller = site.changing(request, form)
        if caller.how.startswith(BY_SESSION):
            own = caller._replace(scope=AccessScope.SUBMIT)  # whatever it may else, a session ends itself
            site.grid(own).call(end_sessions, session_id=int(caller.how.removeprefix(BY_SESSION)))
        answer = see(SIGN_IN)
        give_cookie(answer, request.headers, "", 0)
        return answer

    add_page(app, SIGN_IN, "GET", sign_in_page)
    add_page(app, SIGN_IN, "POST", sign_in)
    add_page(app, "/sign-out", "POST", sign_out)
