"""What each kind of problem means: the page that the `type` of an error leads to."""

from collections.abc import Iterator
from http import HTTPStatus

from fastapi import FastAPI, Request
from starlette.responses import Response

from cigri.errors import CigriError, NotFound
from modules.portal.problem_details import BUG, advice_on, status_of
from modules.portal.rendering.page_renderer import PageRenderer, add_page


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/problems/KIND, for anybody."""

    def problem_page(request: Request, kind: str) -> Response:
        if kind == BUG:
            code, meaning = HTTPStatus.INTERNAL_SERVER_ERROR, "CiGri is wrong, and its log tells more."
            return show(request, kind, code, meaning, "tell those who run the grid when it was")
        error = next((error for error in _kinds_below(CigriError) if error.__name__ == kind), None)
        if error is None:
            raise NotFound("there is no kind of problem of this name")
        return show(request, kind, status_of(error), (error.__doc__ or "").partition("\n")[0], advice_on(error))

    def show(request: Request, kind: str, code: HTTPStatus, meaning: str, advice: str) -> Response:
        return site.show(request, "problem.html", None, kind=kind, code=code, meaning=meaning, advice=advice)

    add_page(app, "/problems/{kind}", "GET", problem_page)


def _kinds_below(kind: type[CigriError]) -> Iterator[type[CigriError]]:
    """This one first, as far as they have been needed."""
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds_below(narrower)
