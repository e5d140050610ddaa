"""A browser is let in by a link of `gridweb`, and leaves.

The link shows a page with a button: a mail filter or a browser that fetches links beforehand uses it up by no GET.
"""

import secrets
from http import HTTPStatus

from fastapi import Request
from starlette.responses import PlainTextResponse, Response

from cigri.endpoints.identity import SIGN_IN, end_sessions
from cigri.errors import Forbidden
from cigri.flow.audit import put_audit
from cigri.flow.browser_sessions import SESSION_LIFE, find_link, open_session
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of
from modules.portal.authentication import BY_SESSION, NotAuthenticated
from modules.portal.browser_sessions import OLD_PAGE, give_cookie, is_secret, require_own_page
from modules.portal.origins import SAME_ORIGIN
from modules.portal.rendering.page_renderer import see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site

BY_LINK = "link"
"""How somebody is known while a session begins."""

sign_in_pages = PageRouter()


@sign_in_pages.page(SIGN_IN)
def sign_in_page(site: Site, request: Request, link: str = "") -> Response:
    """Show the button to which a link of `gridweb` leads."""
    known = None
    if is_secret(link):
        with site.database.read() as conn:
            known = find_link(conn, hash_of(link))
    status = HTTPStatus.OK if known or not link else HTTPStatus.FORBIDDEN
    return site.show(
        request, "sign_in.html", None, status, user=known.user if known else "", link=link if known else ""
    )


@sign_in_pages.form(SIGN_IN)
def sign_in(site: Site, request: Request, form: PageForm) -> Response:
    """Open a session for whom the link was made."""
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


@sign_in_pages.page("/proof")
def proof(site: Site, request: Request) -> Response:
    """Tell, as text, what forms of an open page have to hold: a restart of the portal makes that of the page void.

    Nobody is told nothing, and no error, of which browsers complain.
    """
    if request.headers.get("sec-fetch-site", SAME_ORIGIN) != SAME_ORIGIN:
        raise Forbidden(OLD_PAGE)
    try:
        return PlainTextResponse(site.identities.sessions.proof(site.visitor(request)))
    except NotAuthenticated:
        return Response(status_code=HTTPStatus.NO_CONTENT)


@sign_in_pages.form("/sign-out")
def sign_out(site: Site, request: Request, form: PageForm) -> Response:
    """End the session."""
    caller = site.changing(request, form)
    if caller.how.startswith(BY_SESSION):
        own = caller._replace(scope=AccessScope.SUBMIT)  # whatever it may else, a session ends itself
        site.grid(own).call(end_sessions, session_id=int(caller.how.removeprefix(BY_SESSION)))
    answer = see(SIGN_IN)
    give_cookie(answer, request.headers, "", 0)
    return answer
