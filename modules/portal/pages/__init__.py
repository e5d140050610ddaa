"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from cigri.database import Database
from modules.portal import change_stream
from modules.portal.authentication import Authenticator
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.fair_queue import FairQueue
from modules.portal.pages import campaign, clusters, events, home, operator, sign_in, submit, task, usage
from modules.portal.rendering import error_pages
from modules.portal.rendering.page_renderer import PageRenderer, add_static
from modules.portal.rendering.security_headers import SecurityHeaders
from modules.portal.uploads import UploadLimiter


def add_to(
    app: FastAPI,
    database: Database,
    identities: Authenticator,
    errands: DeferredResponses,
    uploads: UploadLimiter,
    turns: FairQueue,
) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    site = PageRenderer(database, identities, errands, uploads, turns)
    app.add_middleware(SecurityHeaders)
    add_static(app)
    for page in (sign_in, home, campaign, task, submit, events, clusters, usage, operator, change_stream):
        page.add_to(app, site)
    error_pages.add_to(app, site)
