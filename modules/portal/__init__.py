"""The portal: where people meet the grid, known by the kernel or a token. It alone has the database's credentials.

One process; it listens on a unix socket, and by TCP on loopback where a setting says so. Answers
come from tables only: nothing here waits for a cluster.
"""

from contextlib import closing
from functools import cache
from importlib import metadata

from fastapi import APIRouter, FastAPI
from prometheus_client import CollectorRegistry
from starlette.routing import BaseRoute

from cigri.database import Database
from cigri.endpoints import Admitting, UploadEndpoint, list_endpoints
from cigri.endpoints.read_cache import keep_latest_answers
from cigri.runtime.heartbeat import StallWatch, beat_of, repeating
from cigri.runtime.pass_context import tune_garbage_collector
from modules.portal import (
    cigri3,
    health,
    job_features,
    metrics,
    openapi,
    pages,
    problem_details,
    routes,
    unauthenticated_endpoints,
    uploads,
)
from modules.portal.authentication import Authenticator
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.fair_queue import FairQueue
from modules.portal.head_requests import HeadRequests
from modules.portal.held_requests import HeldRequests
from modules.portal.listening import PortalListener
from modules.portal.origins import read_names
from modules.portal.portal_door import PortalDoor
from modules.portal.rendering import error_pages
from modules.portal.request_guard import RequestGuard
from modules.portal.services import IN_TURN, PortalServices
from modules.portal.settings_in_force import SettingsInForce
from modules.portal.storage_reserve import StorageReserve
from modules.portal.unread_answers import AnswersInPieces, UnreadAnswers
from modules.portal.upload_limiter import UploadLimiter


def make_app(database: Database, in_force: SettingsInForce, errands: DeferredResponses) -> FastAPI:
    """All that is served, as an ASGI application; `proxy` and `names` of the settings stay as they are now."""
    settings = in_force.current()
    identities, registry = Authenticator(in_force, database), CollectorRegistry()
    unread, names = UnreadAnswers(), read_names(settings.portal.names)
    turns = FairQueue(identities, unread)
    services = PortalServices(
        database,
        in_force,
        identities,
        errands,
        UploadLimiter(),
        turns,
        HeldRequests(turns),
        PortalDoor(identities, names.hosts),
        StorageReserve(database, in_force),
    )
    app = FastAPI(
        title="CiGri",
        version=metadata.version("cigri"),
        description=openapi.DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        openapi_tags=openapi.list_tags(),
        redirect_slashes=False,
        dependencies=[IN_TURN],
    )
    services.lend_to(app)
    problem_details.add_to(app)
    openapi.describe(app)
    keep_latest_answers(database.engine)
    app.add_middleware(AnswersInPieces, unread=unread)
    app.add_middleware(RequestGuard, names=names, proxy=identities.proxy, show=error_pages.show_refusal)
    app.add_middleware(metrics.RequestMetrics, registry=registry)
    metrics.add_to(app, database, identities, registry, settings.data_directory)
    app.router.routes += health.health_router.routes
    app.router.routes += job_features.features_router.routes
    app.router.routes += list_endpoint_routes()
    pages.add_to(app, services)
    cigri3.add_to(app, services)
    app.add_middleware(HeadRequests)  # the last one stands in front: all others see GET, and the route that was found
    return app


@cache
def list_endpoint_routes() -> list[BaseRoute]:
    """Made once: FastAPI takes 3 ms of a processor for each, and there are a hundred."""
    router = APIRouter(dependencies=[IN_TURN])
    for endpoint in list_endpoints():
        if isinstance(endpoint, UploadEndpoint):
            uploads.add(router, endpoint)
        elif isinstance(endpoint, Admitting):
            unauthenticated_endpoints.add(router, endpoint)
        else:
            routes.add(router, endpoint)
    return router.routes


def run(database: Database, in_force: SettingsInForce, listener: PortalListener) -> None:
    """Serve until SIGTERM or SIGINT; what is being answered is finished first."""
    beat = beat_of(in_force.current().almighty.silence)
    watch = StallWatch(database, beat)
    with closing(DeferredResponses()) as errands, repeating(watch.look, beat):
        app = make_app(database, in_force, errands)
        tune_garbage_collector()  # else each search of all that is imported keeps every reader waiting for 0.2 s
        listener.serve(app)
