"""What `up` starts in the data directory, as the sub-commands share it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from cigri.database import embedded
from cigri.errors import DatabaseUnavailable
from cigri.settings.sections import Settings
from modules.operator.detached_process import PidFile


def almighty(settings: Settings) -> PidFile:
    """Its pid file, be it there or not."""
    return PidFile(settings.data_directory / "almighty.pid")


def log(settings: Settings) -> Path:
    """What an almighty writes that `cigri up` has started."""
    return settings.data_directory / "almighty.log"


def portal(settings: Settings) -> PidFile:
    return PidFile(settings.data_directory / "portal.pid")


def portal_log(settings: Settings) -> Path:
    return settings.data_directory / "portal.log"


def environment(settings: Settings) -> Mapping[str, str]:
    """In which our own programs find these settings, wherever they are started."""
    found = {**os.environ, "CIGRI_SET_DATA_DIRECTORY": str(settings.data_directory)}
    if named := found.get("CIGRI_CONFIG"):
        found["CIGRI_CONFIG"] = os.path.abspath(named)
    return found


def database_directory(settings: Settings) -> Path:
    """Where the embedded PostgreSQL has its files."""
    return settings.data_directory / "database"


def spool(settings: Settings) -> Path:
    """Of the local cluster's batch system."""
    return settings.data_directory / "local"


def is_database_there(settings: Settings) -> bool:
    """For the embedded one; another is not ours to start."""
    if settings.database.url:
        return True
    try:
        embedded.url(database_directory(settings))
    except DatabaseUnavailable:
        return False
    return True


def readers_of_url(origin: str) -> list[str]:
    """A sentence if the file that gives database.url may be read by everybody, who would meet no portal then."""
    path = Path(origin)
    if not path.is_absolute() or not path.stat().st_mode & stat.S_IROTH:
        return []
    return [f"everybody can read {path}: `chgrp cigri {path}; chmod 640 {path}`, with the group of the grid's account"]
