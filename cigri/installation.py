"""This installation as its programs meet it: which database is theirs."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cigri.database import embedded
from cigri.settings import sources

if TYPE_CHECKING:
    from cigri.settings.sections import Settings


def database_url(settings: "Settings") -> str:
    """The configured database, or the embedded one, which must be running."""
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
    values = sources.gather(os.environ).values
    url = _one(values, "database", "url")
    directory = Path(str(values.get("data_directory") or sources.default_data_directory()))
    return url or embedded.url(directory.expanduser().absolute() / "database")


def default_scheduler() -> str:
    """That of campaigns that name none, by the setting policy.scheduler; in the same way."""
    return _one(sources.gather(os.environ).values, "policy", "scheduler") or "workqueue"


def _one(values: Mapping[str, Any], section: str, name: str) -> str:
    found = values.get(section)
    return str(found.get(name) or "") if isinstance(found, dict) else ""
