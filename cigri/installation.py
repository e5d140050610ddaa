"""This installation as its programs meet it: which database is theirs."""

import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cigri.identity.unix_sockets import is_served
from cigri.settings import sources

if TYPE_CHECKING:
    from cigri.settings.sections import Settings

PORTAL_SOCKET, PORTAL_PORT = "portal.sock", "portal.port"  # in the data directory
SITE_SOCKET = Path("/run/cigri") / PORTAL_SOCKET


def database_url(settings: "Settings") -> str:
    """The configured database, or the embedded one, which must be running."""
    from cigri.database import embedded

    return settings.database.url or embedded.url(settings.data_directory / "database")


def database_place(settings: "Settings") -> str:
    """Where the embedded database lies, in words; "" for another one, of which only its server knows."""
    if settings.database.url:
        return ""
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = ""
    return f"{settings.data_directory.resolve()} on machine {machine or socket.gethostname()}"


def find_database() -> str:
    """As database_url, from the two settings that matter for it: a user's command need not check all the others."""
    from cigri.database import embedded  # who asks a portal needs none

    values = sources.gather(os.environ, is_client=True).values
    return _one(values, "database", "url") or embedded.url(_data_directory(values) / "database")


def embedded_directory() -> Path | None:
    """Where the database of find_database lies; None: it is another's."""
    values = sources.gather(os.environ, is_client=True).values
    return None if _one(values, "database", "url") else _data_directory(values) / "database"


def find_portal() -> Path | None:
    """The socket of this host's portal; None: there is none, and the database is the caller's own.

    One that is named, or the site's, must be there; that of an own grid may have ended, and the database goes on.
    Whoever may not read a site's settings meets its portal, or hears that it is away.
    """
    values = sources.gather(os.environ, is_client=True).values
    if named := _one(values, "portal", "socket"):
        return Path(named).expanduser().absolute()
    if _one(values, "database", "url"):
        return None
    own = _data_directory(values)
    if is_served(own / PORTAL_SOCKET):
        return own / PORTAL_SOCKET
    is_site = SITE_SOCKET.exists() or (sources.SYSTEM_FILE.exists() and not os.access(sources.SYSTEM_FILE, os.R_OK))
    return SITE_SOCKET if is_site and not (own / "database").exists() else None


def has_services(settings: "Settings") -> bool:
    """Is this a site, whose programs are started as services of the host are? `cigri up` makes grids of one user."""
    return bool(settings.portal.socket)


def _data_directory(values: Mapping[str, Any]) -> Path:
    directory = Path(str(values.get("data_directory") or sources.default_data_directory()))
    return directory.expanduser().absolute()


def portal_socket(settings: "Settings") -> Path:
    """Where the portal of these settings listens."""
    return settings.portal.socket or settings.data_directory / PORTAL_SOCKET


def kept_port(settings: "Settings") -> Path | None:
    """The file with the port of 127.0.0.1 at which the portal of an own grid listens; None: settings say where."""
    is_own = not (settings.database.url or settings.portal.socket or settings.portal.address)
    return settings.data_directory / PORTAL_PORT if is_own else None


def pages_address(settings: "Settings", label: str = "") -> str:
    """Where browsers reach the portal, as https://grid.example.org; "": nowhere.

    What has a name is behind a proxy that speaks TLS; where no setting says anything an own grid has kept its port. By
    a label a browser reaches that at a name of its own, LABEL.localhost: cookies of a name go to all of its ports.
    """
    if settings.portal.names:
        return f"https://{settings.portal.names[0]}"
    if settings.portal.address:
        return f"http://{settings.portal.address}"
    try:
        host = f"{label}.localhost" if label else "127.0.0.1"
        return f"http://{host}:{int((settings.data_directory / PORTAL_PORT).read_text())}"
    except (OSError, ValueError):
        return ""


def _one(values: Mapping[str, Any], section: str, name: str) -> str:
    table = values.get(section)
    return str(table.get(name) or "") if isinstance(table, dict) else ""


def free_space(directory: Path) -> int | None:
    """Bytes on its disk; None: it is not there."""
    return shutil.disk_usage(directory).free if directory.exists() else None
