"""/healthz and /readyz, for whoever restarts what hangs and sends people to what works. They say nothing but that."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse

from cigri.database import Database, schema
from cigri.errors import CigriError
from cigri.flow.views.heartbeats import read_heartbeats
from modules.portal.services import services_of

LATE = 60.0  # seconds without a pass of any module


health_router = APIRouter()
# nobody has to say who they are, nor waits for a turn


@health_router.get("/healthz", include_in_schema=False)
def health() -> PlainTextResponse:
    """Say that the process answers."""
    return PlainTextResponse("alive\n")


@health_router.get("/readyz", include_in_schema=False)
def readiness(request: Request) -> PlainTextResponse:
    """Say whether campaigns are served."""
    wrong = what_lacks(services_of(request).database)
    return PlainTextResponse(f"{wrong or 'ready'}\n", HTTPStatus.SERVICE_UNAVAILABLE if wrong else HTTPStatus.OK)


def what_lacks(database: Database) -> str:
    """As /readyz says it; empty: campaigns are served."""
    try:
        with database.answering() as conn:
            if schema.current(conn) != schema.newest():
                return "the database has another schema"
            pulse = read_heartbeats(conn)
    except CigriError:
        return "no database"
    if not pulse.has_almighty:
        return "the almighty has stalled" if any(one.has_lock for one in pulse.stalled) else "no almighty"
    ages = [(pulse.now - module.at).total_seconds() for module in pulse.modules]
    return "" if min(ages, default=LATE) < LATE else "no module has made a pass for a minute"
