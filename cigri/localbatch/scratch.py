"""A directory for each job under way, its own alone, where temporary files are.

To make and remove one costs as much as a process, so one that comes back as it was given serves the user's next job.
"""

import logging
import os
import stat
import tempfile
from contextlib import suppress

from cigri.localbatch.identity import Owner

LINK = "scratch"  # in the spool, to the place of the directories

logger = logging.getLogger(__name__)


class Scratch:
    """Directories that no job has are free; those of jobs that an earlier daemon started are left alone."""

    def __init__(self) -> None:
        self._place = _known_place() or _new_place()
        self._free: dict[int, list[str]] = {}

    def clear(self) -> None:
        """Remove what an earlier daemon has left, none of whose jobs runs any more."""
        _remove([entry.path for entry in os.scandir(self._place)])

    def close(self) -> None:
        """Leave nothing behind; no job may be under way."""
        with suppress(FileNotFoundError):
            os.unlink(LINK)
        _remove([self._place])

    def take(self, owner: Owner) -> str:
        """An empty directory of that account; "" when the host has none to give."""
        if free := self._free.get(owner.uid):
            return free.pop()
        try:
            path = tempfile.mkdtemp(prefix=f"{owner.uid}-", dir=self._place)
            if owner.groups is not None:
                os.chown(path, owner.uid, owner.gid)
        except OSError as error:
            logger.warning("no scratch directory for a job of uid %d: %s", owner.uid, error)
            return ""
        return path

    def give_back(self, uid: int, path: str) -> None:
        """The job is over, and so is every process of it."""
        if path and _is_as_given(uid, path):
            self._free.setdefault(uid, []).append(path)
        elif path:
            _remove([path])


def _is_as_given(uid: int, path: str) -> bool:
    try:
        found = os.lstat(path)
        return (found.st_mode, found.st_uid) == (stat.S_IFDIR | 0o700, uid) and not os.listdir(path)
    except OSError:
        return False


def _remove(paths: list[str]) -> None:
    """In a process of its own, for there may be very many files; the loop reaps it."""
    if paths:
        os.posix_spawnp("rm", ["rm", "-rf", "--", *paths], os.environ)


def _known_place() -> str | None:
    """Where an earlier daemon had them, if that is still ours."""
    try:
        place = os.readlink(LINK)
        found = os.lstat(place)
    except OSError:
        return None
    return place if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() else None


def _new_place() -> str:
    """Users may pass through it and not look around."""
    place = tempfile.mkdtemp(prefix="cigri-local-")
    os.chmod(place, 0o711 if os.geteuid() == 0 else 0o700)
    with suppress(FileNotFoundError):
        os.unlink(LINK)
    os.symlink(place, LINK)
    return place
