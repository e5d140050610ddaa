"""What `up` starts in the data directory, as the sub-commands share it."""

from pathlib import Path

from cigri.database import embedded
from cigri.errors import DatabaseUnavailable
from cigri.settings.sections import Settings
from modules.operator.service import PidFile


def almighty(settings: Settings) -> PidFile:
    return PidFile(settings.data_directory / "almighty.pid")


def log(settings: Settings) -> Path:
    return settings.data_directory / "almighty.log"


def database_directory(settings: Settings) -> Path:
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
