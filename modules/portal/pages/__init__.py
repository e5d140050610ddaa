"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from cigri.database import Database
from modules.portal import change_stream
from modules.portal.authentication import Identities
from modules.portal.deferred_responses import Errands
from modules.portal.pages import campaign, clusters, events, home, operator, sign_in, submit, task, usage
from modules.portal.rendering import error_pages
from modules.portal.rendering.page_renderer import Website, add_static
from modules.portal.rendering.security_headers import PageHeaders
from modules.portal.uploads import Uploads


def add_to(app: FastAPI, database: Database, identities: Identities, errands: Errands, uploads: Uploads) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    site = Website(database, identities, errands, uploads)
    app.add_middleware(PageHeaders)
    add_static(app)
    for page in (sign_in, home, campaign, task, submit, events, clusters, usage, operator, change_stream):
        page.add_to(app, site)
    error_pages.add_to(app, site)
