"""What each kind of problem means: the page that the `type` of an error leads to."""

from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

from cigri.errors import NotFound
from modules.portal.problem_details import BUG, BUG_ADVICE, advice_on, list_kinds, status_of
from modules.portal.rendering.page_renderer import PageRenderer
from modules.portal.rendering.page_router import PageRouter, Site

problem_pages = PageRouter()


@problem_pages.page("/problems/{kind}")
def problem_page(site: Site, request: Request, kind: str) -> Response:
    """Show what a kind of problem means, to anybody."""
    if kind == BUG:
        code, meaning = HTTPStatus.INTERNAL_SERVER_ERROR, "CiGri is wrong, and its log tells more."
        return _show(site, request, kind, code, meaning, BUG_ADVICE)
    error = next((error for error in list_kinds() if error.__name__ == kind), None)
    if error is None:
        raise NotFound("there is no kind of problem of this name")
    return _show(site, request, kind, status_of(error), (error.__doc__ or "").partition("\n")[0], advice_on(error))


def _show(site: PageRenderer, request: Request, kind: str, code: HTTPStatus, meaning: str, advice: str) -> Response:
    return site.show(request, "problem.html", None, kind=kind, code=code, meaning=meaning, advice=advice)
