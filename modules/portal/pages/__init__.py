"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from cigri.database import Database
from modules.portal.errands import Errands
from modules.portal.identity import Identities
from modules.portal.pages import (
    campaign,
    changes,
    clusters,
    events,
    home,
    operator,
    refusals,
    sign_in,
    submit,
    task,
    usage,
)
from modules.portal.pages.headers import PageHeaders
from modules.portal.pages.website import Website, add_static
from modules.portal.uploads import Uploads


def add_to(app: FastAPI, database: Database, identities: Identities, errands: Errands, uploads: Uploads) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    site = Website(database, identities, errands, uploads)
    app.add_middleware(PageHeaders)
    add_static(app)
    for page in (sign_in, home, campaign, task, submit, events, clusters, usage, operator, changes):
        page.add_to(app, site)
    refusals.add_to(app, site)
