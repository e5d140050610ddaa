"""Endpoints to which much is streamed: it is spooled to a file without a name, and only then looked at.

So a client that is slow, or ends in the middle, costs the disk for a while, and no transaction.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cigri.database import Database
from cigri.endpoints import UploadEndpoint
from cigri.endpoints.dispatch import run_upload_endpoint
from cigri.endpoints.portal_client import STREAM
from cigri.endpoints.request_bodies import SpooledBody
from cigri.errors import CigriError
from cigri.formats.units import MEGABYTE
from cigri.identity.callers import Caller
from modules.portal import routes
from modules.portal.authentication import Authenticator
from modules.portal.deferred_responses import DeferredResponses, ResponsePending
from modules.portal.fair_queue import FairQueue

# How much one user may hand over at a time, and for how long; each that is under way costs the portal something.

LONGEST_SENDING = 900.0  # seconds until all is there

MOST_UPLOADS = 4  # of one user, by the API and by forms together


class UploadLimiter:
    """Counted in the thread that serves, which alone calls this."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def one_more(self, user: str) -> Iterator[None]:
        """While it is handed over; raise CigriError where as many are as may be."""
        if self._under_way[user] >= MOST_UPLOADS:
            raise CigriError(f"{MOST_UPLOADS} submissions of yours are under way: wait for one of them to end")
        self._under_way[user] += 1
        try:
            yield
        finally:
            self._under_way[user] -= 1


@asynccontextmanager
async def arriving() -> AsyncIterator[None]:
    """Where what is read within comes too slowly, raise CigriError."""
    try:
        async with asyncio.timeout(LONGEST_SENDING):
            yield
    except TimeoutError:
        raise CigriError(f"it took more than {LONGEST_SENDING:.0f} s to arrive: nothing was done") from None


REQUEST_BODY = {"required": True, "content": {STREAM: {"schema": {"type": "string"}}}}


class UploadRoutes:
    """Adds such endpoints to an application; `largest`: megabytes of what is sent."""

    def __init__(
        self,
        database: Database,
        identities: Authenticator,
        largest: int,
        uploads: UploadLimiter,
        errands: DeferredResponses,
        turns: FairQueue,
    ) -> None:
        self._database, self._identities, self._largest = database, identities, largest * MEGABYTE
        self._uploads, self._errands, self._turns = uploads, errands, turns

    def add(self, app: FastAPI, endpoint: UploadEndpoint[..., Any]) -> None:
        """Serve it."""

        async def serve(request: Request, asked: BaseModel, **named: Any) -> Response:
            caller = await run_in_threadpool(self._identities.caller, request)
            endpoint.require(caller)
            with self._uploads.one_more(caller.user), SpooledBody(self._largest) as body:
                try:
                    await _spool(request, body)
                except ClientDisconnect:
                    return Response(status_code=400)  # which nobody reads
                what = {**named, **dict(asked)}
                async with self._turns.turn(caller.user):
                    return await run_in_threadpool(self._answer, endpoint, caller, body, what)

        routes.add_route(app, endpoint, serve, openapi_extra={"requestBody": REQUEST_BODY})

    def _answer(
        self, endpoint: UploadEndpoint[..., Any], caller: Caller, body: SpooledBody, asked: dict[str, Any]
    ) -> Response:
        """What is sent again while it is being calculated is not looked at anew."""
        question = (endpoint.name, caller, body.digest(json.dumps(asked, sort_keys=True)))
        try:
            return routes.as_json(
                self._errands.fetch_or_start(
                    caller.user, question, lambda: run_upload_endpoint(endpoint, self._database, caller, body, asked)
                )
            )
        except ResponsePending:
            return routes.not_yet()


async def _spool(request: Request, body: SpooledBody) -> None:
    async with arriving():
        async for block in request.stream():
            body.write(block)
