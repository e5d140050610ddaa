"""Where outputs come to: where their user wants them, if the grid runs as that user; else to the store of the grid."""

import os
import pwd
from collections.abc import Iterable
from pathlib import Path

from cigri.outputs.destination import NUMBER, OutputDestination, read_destination
from cigri.private_files import make_private_directory
from cigri.settings.sections import Settings

STORAGE_FULL = "STORAGE_FULL"


def may_deliver(user: str) -> bool:
    """Are the files of this process that user's own? Nobody writes as somebody else."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name == user
    except KeyError:
        return False


def users_of_store(users: Iterable[str]) -> list[str]:
    """Those of whom nothing can be written where they want it."""
    return [user for user in users if not may_deliver(user)]


def destination_of(settings: Settings, campaign_id: int, user: str, to: str) -> tuple[OutputDestination, bool]:
    """Where those of a campaign come to; True: it is where its user wants them."""
    if may_deliver(user):
        return read_destination(to), True
    make_private_directory(output_store(settings))
    return stored_outputs(settings, campaign_id), False


def stored_outputs(settings: Settings, campaign_id: int) -> OutputDestination:
    """Those of a campaign in the store."""
    return OutputDestination(output_store(settings) / str(campaign_id), NUMBER)


def output_store(settings: Settings) -> Path:
    """Where the settings say."""
    return settings.outputs.directory or settings.data_directory / "outputs"
