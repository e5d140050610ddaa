"""What is refused before anybody is asked who they are: foreign names and pages, crooked paths, bodies without end.

A page of elsewhere whose name suddenly means 127.0.0.1 reaches our port from its reader's browser, under its own name.
Any page may have a browser send a request with what its reader is known by; but the browser says whose page it is.
Such a page neither changes anything nor asks the API, whose answers may cost others something.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cigri.endpoints import API, UploadEndpoint, list_endpoints
from cigri.identity.unix_sockets import SocketPeer
from modules.portal.origins import HARMLESS, PublicNames, is_own_name, is_own_page, without_port
from modules.portal.problem_details import problem

LARGEST_JSON = 16 * 1024**2  # bytes
SAID_TOO_LARGE = f"a request has {LARGEST_JSON} bytes at most"
ENDLESS = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # the end of the request is unknown, or far
API_PATHS = re.compile(rb"/(?:api|cigri-api)(?:/|$)")
CROOKED = (b"", b".", b"..")
ENCODED = (b"%2f", b"%5c", b"%00")
ShowRefusal = Callable[[Scope, HTTPStatus, str], Response | None]


class RequestGuard:
    """An ASGI application in front of another one; `proxy` is the number of the account of a reverse proxy.

    `show` makes a page of a refusal where a browser asks for one, else None.
    """

    def __init__(self, app: ASGIApp, names: PublicNames, proxy: int | None, show: ShowRefusal) -> None:
        self._app, self._names, self._proxy, self._show = app, names, proxy, show
        streams = [API + endpoint.path for endpoint in list_endpoints() if isinstance(endpoint, UploadEndpoint)]
        self._streams = re.compile(re.sub(r"\{\w+\}", "[^/]+", "|".join(streams)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer: SocketPeer | None = scope.get("state", {}).get("peer")
        is_by_proxy = peer is not None and peer.uid == self._proxy
        wrong = self._wrong(scope["method"], Headers(scope=scope), scope["raw_path"], is_by_proxy)
        if wrong is None:
            await self._app(scope, receive if self._is_stream(scope["path"]) else self._counted(receive), send)
            return
        is_lost = wrong[0] is HTTPStatus.NOT_FOUND  # all else is said to whoever may be no reader of ours
        page = self._show(scope, *wrong) if is_lost else None
        answer = page or problem(wrong[0], "UsageError", wrong[1])
        if wrong[0] in ENDLESS:
            answer.headers["Connection"] = "close"  # what follows is not read
        await answer(scope, receive, send)

    def _wrong(self, method: str, headers: Headers, path: bytes, is_by_proxy: bool) -> tuple[HTTPStatus, str] | None:
        host = headers.get("host", "").lower()
        if not is_own_name(host) and without_port(host) not in self._names.hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, f"the portal is not called {host!r}; portal.names says how it is"
        needs_own_page = method not in HARMLESS or API_PATHS.match(path)
        if needs_own_page and not is_own_page(headers, self._origins(host, is_by_proxy)):
            return HTTPStatus.FORBIDDEN, "a page of elsewhere changes nothing here; portal.names says which are ours"
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

    def _origins(self, host: str, is_by_proxy: bool) -> frozenset[str]:
        """Return those of our pages; a proxy calls us by a name of this host, which its readers do not see."""
        if is_by_proxy or not is_own_name(host):
            return self._names.origins
        return self._names.origins | {f"http://{host}"}

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
