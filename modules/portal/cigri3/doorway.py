"""What comes to CiGri 3's paths before anything else looks at it: slashes at their ends, and bodies without measure."""

import asyncio
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from modules.portal.cigri3.dispatch import BASE
from modules.portal.cigri3.errors import refused
from modules.portal.request_guard import LARGEST_JSON, SAID_TOO_LARGE

MAX_DISCARDED_BYTES = 2**30
LONGEST_PIECE_SECONDS = 5.0
"""So long the next piece is waited for of what is thrown away: some clients send nothing before they are answered."""


class Cigri3Doorway:
    """An ASGI application in front of all others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(BASE):
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith(f"{BASE}/") and scope["raw_path"].endswith(b"/"):
            scope = {**scope, "path": scope["path"][:-1], "raw_path": scope["raw_path"][:-1]}
        length = Headers(scope=scope).get("content-length")
        if length is None or int(length) <= LARGEST_JSON:
            await self._app(scope, receive, send)
            return
        await _discard(receive)
        answer = refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, SAID_TOO_LARGE)
        answer.headers["Connection"] = "close"
        await answer(scope, receive, send)


async def _discard(receive: Receive) -> None:
    """Read what is sent: a web server in between takes a connection that ends meanwhile for a failure (502)."""
    left = MAX_DISCARDED_BYTES
    while left > 0:
        try:
            message = await asyncio.wait_for(receive(), LONGEST_PIECE_SECONDS)
        except TimeoutError:
            return
        left -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return
