"""Endpoints to which much is streamed: it is spooled to a file without a name, and only then looked at.

So a client that is slow, or ends in the middle, costs the disk for a while, and no transaction.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cigri.database import Database
from cigri.endpoints import Receiving
from cigri.endpoints.bodies import Body
from cigri.endpoints.calling import receive
from cigri.endpoints.remote import STREAM
from cigri.errors import CigriError
from cigri.text.units import MEGABYTE
from modules.portal import routes
from modules.portal.identity import Identities

LONGEST_SENDING = 900.0  # seconds until all is there
MOST_UPLOADS = 4  # of one user
REQUEST_BODY = {"required": True, "content": {STREAM: {"schema": {"type": "string"}}}}


class Receiver:
    """Adds such endpoints to an application; `largest`: megabytes of what is sent."""

    def __init__(self, database: Database, identities: Identities, largest: int) -> None:
        self._database, self._identities, self._largest = database, identities, largest * MEGABYTE
        self._sending: Counter[str] = Counter()

    def add(self, app: FastAPI, endpoint: Receiving[..., Any]) -> None:
        """Serve it."""

        async def serve(request: Request, asked: BaseModel, **named: Any) -> Response:
            caller = await run_in_threadpool(self._identities.caller, request)
            endpoint.require(caller)
            with self._one_more(caller.user), Body(self._largest) as body:
                try:
                    await _spool(request, body)
                except ClientDisconnect:
                    return Response(status_code=400)  # which nobody reads
                what = {**named, **dict(asked)}
                return routes.as_json(await run_in_threadpool(receive, endpoint, self._database, caller, body, what))

        routes.add_route(app, endpoint, serve, openapi_extra={"requestBody": REQUEST_BODY})

    @contextmanager
    def _one_more(self, user: str) -> Iterator[None]:
        if self._sending[user] >= MOST_UPLOADS:
            raise CigriError(f"{MOST_UPLOADS} submissions of yours are under way: wait for one of them to end")
        self._sending[user] += 1
        try:
            yield
        finally:
            self._sending[user] -= 1


async def _spool(request: Request, body: Body) -> None:
    try:
        async with asyncio.timeout(LONGEST_SENDING):
            async for block in request.stream():
                body.write(block)
    except TimeoutError:
        raise CigriError(f"it took more than {LONGEST_SENDING:.0f} s to arrive: nothing was done") from None
