"""What of a directory other accounts could read, write or enter."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UMASKS = (0o000, 0o022)


def open_to_others(*places: Path) -> list[str]:
    """The paths of all that stands there, links but not what they point to, with modes as `ls` shows them."""
    paths = [path for place in places for path in (place, *place.rglob("*"))]
    modes = [(path, path.lstat().st_mode) for path in paths]
    return [f"{stat.filemode(mode)} {path}" for path, mode in modes if not stat.S_ISLNK(mode) and mode & 0o077]


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """The process has this umask meanwhile, and what it starts inherits it."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
