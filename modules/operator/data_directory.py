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


def open_directories(settings: Settings) -> list[str]:
    """A sentence for each directory that others than the grid's account and its group may look into or write to."""
    within = [settings.data_directory / name for name in ("database", "jobs", "local", "inputs", "outputs")]
    places = [settings.data_directory, settings.inputs.directory, settings.outputs.directory]
    if _lets_in(settings.data_directory, stat.S_IXOTH):
        places += within
    too_open = [place for place in places if place and _lets_in(place, stat.S_IRWXO & ~stat.S_IXOTH | stat.S_IWGRP)]
    return [f"{_shown_mode(place)} {place} is open to others: `chmod go-w,o= {place}`" for place in too_open]


def open_settings(origin: str) -> list[str]:
    """A sentence if the file that gives database.url may be read by everybody, who would meet no portal then.

    Whoever may write it says which database is ours.
    """
    path = Path(origin)
    if not path.is_absolute():
        return []
    wrong = []
    if _lets_in(path, stat.S_IROTH):
        account = "with the group of the grid's account"
        wrong.append(f"everybody can read {path}: `chgrp cigri {path}; chmod 640 {path}`, {account}")
    if _lets_in(path, stat.S_IWGRP | stat.S_IWOTH):
        wrong.append(f"others can write {path}: `chmod go-w {path}`")
    return wrong


def _lets_in(place: Path, rights: int) -> bool:
    """Has anybody one of these rights there? What is not there is open to nobody."""
    try:
        return bool(place.stat().st_mode & rights)
    except (FileNotFoundError, PermissionError):
        return False


def _shown_mode(place: Path) -> str:
    return stat.filemode(place.stat().st_mode)
