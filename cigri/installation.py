"""This installation as its programs meet it: which database, and where the log goes."""

import logging
import sys

from cigri import embedded
from cigri.settings import Settings

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def database_url(settings: Settings) -> str:
    """The configured database, or the embedded one, which must be running."""
    return settings.database.url or embedded.url(settings.data_directory / "database")


def set_up_log(level: int = logging.INFO) -> None:
    """To standard error, one line a record."""
    logging.basicConfig(level=level, format=FORMAT, stream=sys.stderr, force=True)
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # its threads log what the transport raises anyway
    logging.getLogger("alembic").setLevel(logging.WARNING)
