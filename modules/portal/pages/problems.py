"""What each kind of problem means: the page that the `type` of an error leads to."""

from collections.abc import Iterator
from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

from cigri.errors import CigriError, NotFound
from modules.portal.problem_details import BUG, advice_on, status_of
from modules.portal.rendering.page_renderer import PageRenderer
from modules.portal.rendering.page_router import PageRouter, Site

problem_pages = PageRouter()


@problem_pages.page("/problems/{kind}")
def problem_page(site: Site, request: Request, kind: str) -> Response:
    """Show what a kind of problem means, to anybody."""
    if kind == BUG:
        code, meaning = HTTPStatus.INTERNAL_SERVER_ERROR, "CiGri is wrong, and its log tells more."
        return _show(site, request, kind, code, meaning, "tell those who run the grid when it was")
    error = next((error for error in _kinds_below(CigriError) if error.__name__ == kind), None)
    if error is None:
        raise NotFound("there is no kind of problem of this name")
    return _show(site, request, kind, status_of(error), (error.__doc__ or "").partition("\n")[0], advice_on(error))


def _show(site: PageRenderer, request: Request, kind: str, code: HTTPStatus, meaning: str, advice: str) -> Response:
    return site.show(request, "problem.html", None, kind=kind, code=code, meaning=meaning, advice=advice)


def _kinds_below(kind: type[CigriError]) -> Iterator[type[CigriError]]:
    """This one first, as far as they have been needed."""
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds_below(narrower)
