"""Pages for people: HTML of the same answers as the API's, a file for each noun that has a page."""

from fastapi import FastAPI

from modules.portal.change_stream import ChangePoller, change_pages
from modules.portal.output_archive import OutputArchives, archive_pages
from modules.portal.pages.audit import audit_pages
from modules.portal.pages.campaign import campaign_pages
from modules.portal.pages.cluster_changes import cluster_change_pages
from modules.portal.pages.clusters import cluster_pages
from modules.portal.pages.events import event_pages
from modules.portal.pages.home import home_pages
from modules.portal.pages.operator import operator_pages
from modules.portal.pages.problems import problem_pages
from modules.portal.pages.quotas import quota_pages
from modules.portal.pages.sign_in import sign_in_pages
from modules.portal.pages.submit import submit_pages
from modules.portal.pages.task import task_pages
from modules.portal.pages.task_files import task_file_pages
from modules.portal.pages.usage import usage_pages
from modules.portal.rendering import error_pages
from modules.portal.rendering.page_renderer import PageRenderer, add_static
from modules.portal.rendering.security_headers import SecurityHeaders
from modules.portal.services import PortalServices

PAGES_OF_USERS = (
    sign_in_pages,
    home_pages,
    campaign_pages,
    task_pages,
    task_file_pages,
    submit_pages,
    event_pages,
    cluster_pages,
    usage_pages,
    problem_pages,
)
PAGES_OF_OPERATORS = (cluster_change_pages, operator_pages, audit_pages, quota_pages)


def add_to(app: FastAPI, services: PortalServices) -> None:
    """Serve them beside the API; call it when the API tells its problems already."""
    app.state.site = site = PageRenderer(services)
    app.state.change_poller = ChangePoller(services.database)
    app.state.output_archives = OutputArchives(services.database, services.settings)
    app.add_middleware(SecurityHeaders)
    add_static(app)
    for router in (*PAGES_OF_USERS, *PAGES_OF_OPERATORS, change_pages, archive_pages):
        app.router.routes += router.routes
    error_pages.add_to(app, site)
