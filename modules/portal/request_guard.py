"""What is refused before anybody is asked who they are: foreign names and pages, crooked paths, bodies without end.

A page of elsewhere whose name suddenly means 127.0.0.1 reaches our port from its reader's browser, under its own name.
Any page may have a browser send a request with what its reader is known by; but the browser says whose page it is.
"""

import re
from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cigri.endpoints import API, UploadEndpoint, list_endpoints
from modules.portal.origins import HARMLESS, OF_A_PERSON, OWN_NAMES, SAME_ORIGIN, without_port
from modules.portal.problem_details import problem

LARGEST_JSON = 16 * 1024**2  # bytes
SAID_TOO_LARGE = f"a request has {LARGEST_JSON} bytes at most"
ENDLESS = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # the end of the request is unknown, or far
CROOKED = (b"", b".", b"..")
ENCODED = (b"%2f", b"%5c", b"%00")


class RequestGuard:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._public = frozenset(name.lower() for name in names)
        streams = [API + endpoint.path for endpoint in list_endpoints() if isinstance(endpoint, UploadEndpoint)]
        self._streams = re.compile(re.sub(r"\{\w+\}", "[^/]+", "|".join(streams)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wrong = self._wrong(scope["method"], Headers(scope=scope), scope["raw_path"])
        if wrong is None:
            await self._app(scope, receive if self._is_stream(scope["path"]) else self._counted(receive), send)
            return
        answer = problem(wrong[0], "UsageError", wrong[1])
        if wrong[0] in ENDLESS:
            answer.headers["Connection"] = "close"  # what follows is not read
        await answer(scope, receive, send)

    def _wrong(self, method: str, headers: Headers, path: bytes) -> tuple[HTTPStatus, str] | None:
        host = headers.get("host", "").lower()
        if without_port(host) not in OWN_NAMES | self._public:
            return HTTPStatus.MISDIRECTED_REQUEST, f"the portal is not called {host!r}; portal.names says how it is"
        if method not in HARMLESS and not self._is_own_page(headers, host):
            return (
                HTTPStatus.FORBIDDEN,
                "a page of elsewhere changes nothing here; portal.names says whose pages are ours",
            )
        if is_crooked(path):
            return HTTPStatus.NOT_FOUND, "this path is not written straight; /openapi.json tells what there is"
        length = headers.get("content-length")
        if length is not None and "transfer-encoding" in headers:
            return HTTPStatus.BAD_REQUEST, "this request says twice how long it is"
        if length is not None and int(length) > LARGEST_JSON and not self._is_stream(path.decode("ascii", "replace")):
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, SAID_TOO_LARGE
        return None

    def _is_stream(self, path: str) -> bool:
        """What is streamed is counted where it is received."""
        return self._streams.fullmatch(path) is not None

    def _is_own_page(self, headers: Headers, host: str) -> bool:
        """Where no browser says that it is a page's request it is none."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", OF_A_PERSON) in (SAME_ORIGIN, OF_A_PERSON)
        page = origin.lower().partition("://")[2]
        return page == host or without_port(page) in self._public

    def _counted(self, receive: Receive) -> Receive:
        """A body that does not say its length ends here, too."""
        left = LARGEST_JSON

        async def receive_less() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, SAID_TOO_LARGE, {"Connection": "close"})
            return message

        return receive_less


def is_crooked(path: bytes) -> bool:
    """May two readers take it for two different ones? `..`, `//`, and separators that are encoded."""
    parts = path.split(b"/")[1:] if path != b"/" else []
    return any(unquote_to_bytes(part) in CROOKED for part in parts) or any(code in path.lower() for code in ENCODED)
