"""Where pages and their forms are declared: the address stands above the function that answers it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from modules.portal.rendering.page_queries import refuse_unknown
from modules.portal.rendering.page_renderer import PageRenderer, read_form
from modules.portal.services import IN_TURN

Handler = TypeVar("Handler", bound=Callable[..., Response | Awaitable[Response]])


class PageRouter(APIRouter):
    """The pages of one file; in metrics each is called as its function is."""

    def __init__(self) -> None:
        super().__init__(dependencies=[IN_TURN])

    def page(self, path: str) -> Callable[[Handler], Handler]:
        """Show what the function returns at this path; other words in its address than the parameters are refused."""

        def declare(handler: Handler) -> Handler:
            self._add(path, "GET", handler, dependencies=[Depends(refuse_unknown(path, handler))])
            return handler

        return declare

    def form(self, path: str) -> Callable[[Handler], Handler]:
        """Let the function receive the forms that are sent to this path."""

        def declare(handler: Handler) -> Handler:
            self._add(path, "POST", handler)
            return handler

        return declare

    def _add(self, path: str, method: str, handler: Callable[..., Any], **more: Any) -> None:
        self.add_api_route(path, handler, methods=[method], include_in_schema=False, response_model=None, **more)


async def site_of(request: Request) -> PageRenderer:
    """Return what the pages of this application are made of; the routes themselves are made once."""
    site: PageRenderer = request.app.state.site
    return site


Site = Annotated[PageRenderer, Depends(site_of)]
PageForm = Annotated[dict[str, str], Depends(read_form)]
