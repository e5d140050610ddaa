"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from modules.portal import change_stream
from modules.portal.pages import campaign, clusters, events, home, operator, problems, sign_in, submit, task, usage
from modules.portal.rendering import error_pages
from modules.portal.rendering.page_renderer import PageRenderer, add_static
from modules.portal.rendering.security_headers import SecurityHeaders
from modules.portal.services import PortalServices


def add_to(app: FastAPI, services: PortalServices) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    site = PageRenderer(services)
    app.add_middleware(SecurityHeaders)
    add_static(app)
    for page in (sign_in, home, campaign, task, submit, events, clusters, usage, operator, problems, change_stream):
        page.add_to(app, site)
    error_pages.add_to(app, site)
