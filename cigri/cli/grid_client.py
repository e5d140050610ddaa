"""The way of a command to the grid: through its portal, or, for whoever owns the database, straight to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cigri import installation
from cigri.cli.command import grid_user, open_database
from cigri.cli.own_settings import own_settings
from cigri.endpoints.dispatch import GridClient, InProcessClient
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.remote_portal import find_elsewhere
from cigri.identity.callers import SUPERUSER, Caller


@contextmanager
def open_grid() -> Iterator[GridClient]:
    """The portal that CIGRI_URL names, or the one of this host; else the database, which then is the caller's own."""
    if (place := find_elsewhere(os.environ) or installation.find_portal()) is not None:
        remote = PortalClient(place)
        try:
            yield remote
        finally:
            remote.close()
        return
    with open_database() as database:
        with database.read() as conn:
            from cigri.flow.views.events import database_owner

            owner = database_owner(conn)
        user = grid_user()
        is_operator = user in (SUPERUSER, owner) or _is_ours(installation.embedded_directory())
        settings = own_settings()
        yield InProcessClient(database, lambda: settings, Caller(user, is_operator))


def holds_database() -> bool:
    """May this process open the database itself? Then no portal is there, or it is that of an own grid."""
    if find_elsewhere(os.environ) is not None:
        return False
    place, embedded = installation.find_portal(), installation.embedded_directory()
    if place is None or embedded is None:
        return place is None
    return place == embedded.parent / installation.PORTAL_SOCKET and _is_ours(embedded)


def _is_ours(embedded: Path | None) -> bool:
    return embedded is not None and embedded.stat().st_uid == os.geteuid()
