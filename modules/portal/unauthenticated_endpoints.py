"""Endpoints for strangers: nobody is asked who they are; what they send may make them known."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from cigri.endpoints import Admitting
from modules.portal import routes
from modules.portal.services import services_of


def add(router: APIRouter, endpoint: Admitting[..., Any]) -> None:
    """Serve it; the work is done in a thread."""

    def serve(request: Request, asked: BaseModel, told: BaseModel, **named: Any) -> Response:
        services = services_of(request)
        answer = endpoint.function(services.database, services.door, **named, **dict(asked), **dict(told))
        return routes.as_json(answer)

    routes.add_route(router, endpoint, serve)
