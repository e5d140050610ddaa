"""Endpoints to which much is streamed: it is spooled to a file without a name, and only then looked at.

So a client that is slow, or ends in the middle, costs the disk for a while, and no transaction.
"""

import json
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cigri.endpoints import UploadEndpoint
from cigri.endpoints.dispatch import run_upload_endpoint
from cigri.endpoints.request_bodies import SpooledBody
from cigri.formats.units import MEGABYTE
from cigri.identity.callers import Caller
from modules.portal import routes
from modules.portal.deferred_responses import ResponsePending
from modules.portal.services import PortalServices, services_of
from modules.portal.storage_reserve import StorageReserve
from modules.portal.upload_bodies import body_of
from modules.portal.upload_limiter import arriving

LOOKED_AT_EVERY = 16 * MEGABYTE  # bytes between two looks at the room that is left


def add(router: APIRouter, endpoint: UploadEndpoint[..., Any]) -> None:
    """Serve it."""

    async def serve(request: Request, asked: BaseModel, **named: Any) -> Response:
        services = services_of(request)
        caller = await run_in_threadpool(services.identities.caller, request)
        endpoint.require(caller)
        await run_in_threadpool(services.reserve.require)
        largest = services.settings.current().portal.largest_submission * MEGABYTE
        with services.uploads.one_more(caller.user), SpooledBody(largest) as body:
            try:
                await _spool(request, body, services.reserve)
            except ClientDisconnect:
                return Response(status_code=400)  # which nobody reads
            what = {**named, **dict(asked)}
            try:
                return await services.held.answer_as_preferred(
                    request, caller.user, lambda: _answer(services, endpoint, caller, body, what)
                )
            except ResponsePending:
                return routes.not_yet()

    routes.add_route(router, endpoint, serve, requestBody=body_of(endpoint))


def _answer(
    services: PortalServices,
    endpoint: UploadEndpoint[..., Any],
    caller: Caller,
    body: SpooledBody,
    asked: dict[str, Any],
) -> Response:
    """What is sent again while it is being calculated is not looked at anew."""
    question = (endpoint.name, caller, body.digest(json.dumps(asked, sort_keys=True)))
    answer = services.errands.fetch_or_start(
        caller.user,
        question,
        lambda: run_upload_endpoint(endpoint, services.database, services.settings.current, caller, body, asked),
    )
    return routes.as_answer(endpoint, answer, asked)


async def _spool(request: Request, body: SpooledBody, reserve: StorageReserve) -> None:
    looked_at = 0
    async with arriving():
        async for block in request.stream():
            body.write(block)
            if body.size - looked_at >= LOOKED_AT_EVERY:
                looked_at = body.size
                await run_in_threadpool(reserve.require)
