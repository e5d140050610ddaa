"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from modules.portal import change_stream
from modules.portal.pages import (
    audit,
    campaign,
    cluster_changes,
    clusters,
    events,
    home,
    operator,
    problems,
    quotas,
    sign_in,
    submit,
    task,
    task_files,
    usage,
)
from modules.portal.rendering import error_pages
from modules.portal.rendering.page_renderer import PageRenderer, add_static
from modules.portal.rendering.security_headers import SecurityHeaders
from modules.portal.services import PortalServices

OF_USERS = (sign_in, home, campaign, task, task_files, submit, events, clusters, usage, problems)
OF_OPERATORS = (cluster_changes, operator, audit, quotas)


def add_to(app: FastAPI, services: PortalServices) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    site = PageRenderer(services)
    app.add_middleware(SecurityHeaders)
    add_static(app)
    for page in (*OF_USERS, *OF_OPERATORS, change_stream):
        page.add_to(app, site)
    error_pages.add_to(app, site)
