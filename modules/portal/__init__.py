"""The portal: where people meet the grid, known by the kernel or a token. It alone has the database's credentials.

One process; it listens on a unix socket, and by TCP on loopback where a setting says so. Answers
come from tables only: nothing here waits for a cluster.
"""

from contextlib import closing
from importlib import metadata

from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from cigri.database import Database
from cigri.endpoints import Admitting, UploadEndpoint, list_endpoints
from cigri.endpoints.read_cache import keep_latest_answers
from cigri.settings.sections import Settings
from modules.portal import cigri3, health, metrics, openapi, pages, problem_details, routes, unauthenticated_endpoints
from modules.portal.authentication import Authenticator
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.fair_queue import FairQueue
from modules.portal.listening import PortalListener
from modules.portal.origins import read_names
from modules.portal.request_guard import RequestGuard
from modules.portal.unauthenticated_endpoints import PortalDoor
from modules.portal.unread_answers import AnswersInPieces, UnreadAnswers
from modules.portal.uploads import UploadLimiter, UploadRoutes


def make_app(database: Database, settings: Settings, errands: DeferredResponses) -> FastAPI:
    """All that is served, as an ASGI application."""
    identities, registry = Authenticator(settings.portal, database), CollectorRegistry()
    unread = UnreadAnswers()
    turns = FairQueue(identities, unread)
    app = FastAPI(
        title="CiGri",
        version=metadata.version("cigri"),
        description=openapi.DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        dependencies=[Depends(turns.wait_for_turn, scope="function")],
    )
    problem_details.add_to(app)
    openapi.describe(app)
    keep_latest_answers(database.engine)
    names = read_names(settings.portal.names)
    app.add_middleware(AnswersInPieces, unread=unread)
    app.add_middleware(RequestGuard, names=names, proxy=identities.proxy)
    app.add_middleware(metrics.RequestMetrics, registry=registry)
    metrics.add_to(app, database, identities, registry, settings.data_directory)
    health.add_to(app, database)
    uploads = UploadLimiter()
    receiver = UploadRoutes(database, identities, settings.portal.largest_submission, uploads, errands, turns)
    door = PortalDoor(identities, names.hosts)
    for endpoint in list_endpoints():
        if isinstance(endpoint, UploadEndpoint):
            receiver.add(app, endpoint)
        elif isinstance(endpoint, Admitting):
            unauthenticated_endpoints.add(app, endpoint, database, door)
        else:
            routes.add(app, endpoint, database, identities, errands)
    pages.add_to(app, database, identities, errands, uploads, turns)
    cigri3.add_to(app, database, identities, errands, turns)
    return app


def run(database: Database, settings: Settings, listener: PortalListener) -> None:
    """Serve until SIGTERM or SIGINT; what is being answered is finished first."""
    with closing(DeferredResponses()) as errands:
        listener.serve(make_app(database, settings, errands))
