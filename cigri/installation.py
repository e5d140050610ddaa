"""This installation as its programs meet it: which database, and where the log goes."""

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cigri import embedded, sources

if TYPE_CHECKING:
    from cigri.settings import Settings

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def database_url(settings: "Settings") -> str:
    """The configured database, or the embedded one, which must be running."""
    return settings.database.url or embedded.url(settings.data_directory / "database")


def find_database() -> str:
    """As database_url, from the two settings that matter for it: a user's command need not check all the others."""
    values = sources.gather(os.environ).values
    section = values.get("database", {})
    url = section.get("url", "") if isinstance(section, dict) else ""
    directory = Path(str(values.get("data_directory") or sources.default_data_directory()))
    return str(url) or embedded.url(directory.expanduser().absolute() / "database")


def set_up_log(level: int = logging.INFO) -> None:
    """To standard error, one line a record."""
    logging.basicConfig(level=level, format=FORMAT, stream=sys.stderr, force=True)
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # its threads log what the transport raises anyway
    logging.getLogger("alembic").setLevel(logging.WARNING)
