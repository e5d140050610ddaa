"""HEAD is answered as GET is, without the body: the server leaves it away, which knows what was asked."""

from starlette.types import ASGIApp, Receive, Scope, Send

IS_HEAD = "cigri.is_head"
"""In the scope of such a request, for what would make much for nothing."""


class HeadRequests:
    """An ASGI application in front of all others: routes are declared for GET alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self._app({**scope, "method": "GET", IS_HEAD: True} if is_head else scope, receive, send)
