"""/healthz and /readyz, for whoever restarts what hangs and sends people to what works. They say nothing but that."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse

from cigri.database import Database, schema
from cigri.errors import CigriError
from cigri.flow.views.heartbeats import read_heartbeats

LATE = 60.0  # seconds without a pass of any module


def add_to(app: FastAPI, database: Database) -> None:
    """Nobody has to say who they are, nor waits for a turn."""

    def health(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("alive\n")

    def readiness(_request: Request) -> PlainTextResponse:
        wrong = what_lacks(database)
        return PlainTextResponse(f"{wrong or 'ready'}\n", HTTPStatus.SERVICE_UNAVAILABLE if wrong else HTTPStatus.OK)

    app.add_route("/healthz", health, include_in_schema=False)
    app.add_route("/readyz", readiness, include_in_schema=False)


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
