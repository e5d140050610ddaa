"""Directories and files that are their owner's alone, whatever the umask is."""

import os
from contextlib import suppress
from pathlib import Path

PRIVATE_DIRECTORY, PRIVATE_FILE = 0o700, 0o600


def make_private_directory(place: Path) -> None:
    """Make a directory, and those that are missing above it; what is there keeps its mode."""
    if not place.is_dir():
        make_private_directory(place.parent)  # with parents=True those would have modes by the umask
        place.mkdir(PRIVATE_DIRECTORY, exist_ok=True)


def make_step(above: int, name: str) -> bool:
    """Make a directory in one that is open; False: something has that name."""
    with suppress(FileExistsError):
        os.mkdir(name, PRIVATE_DIRECTORY, dir_fd=above)
        return True
    return False


def open_privately(path: str, flags: int) -> int:
    """Open or create a file, as `opener` of the function open."""
    return os.open(path, flags, PRIVATE_FILE)
