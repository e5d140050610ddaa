"""A directory of the daemon's, outside the spool, in which jobs have theirs."""

import logging
import os
import stat
import tempfile
from contextlib import suppress

from cigri.localbatch.job_owner import JobOwner

logger = logging.getLogger(__name__)


class LinkedDirectory:
    """`link` in the spool points to it, so that the next daemon finds it again."""

    def __init__(self, link: str, parent: str | None = None) -> None:
        self._link = link
        self.path = _known(link) or _new(link, parent)

    def make(self, owner: JobOwner, name: str = "") -> str:
        """An empty directory of that account, of this name if one is given; "" when the host has none to give."""
        path = os.path.join(self.path, name)
        try:
            if name:
                os.mkdir(path, 0o700)
            else:
                path = tempfile.mkdtemp(prefix=f"{owner.uid}-", dir=self.path)
            give_to(owner, path)
        except OSError as error:
            logger.warning("no directory for a job of uid %d: %s", owner.uid, error)
            return ""
        return path

    def clear(self) -> None:
        """Remove what an earlier daemon has left, none of whose jobs runs any more."""
        remove([entry.path for entry in os.scandir(self.path)])

    def close(self) -> None:
        """Leave nothing behind; no job may be under way."""
        with suppress(FileNotFoundError):
            os.unlink(self._link)
        remove([self.path])


def give_to(owner: JobOwner, path: str) -> None:
    """Make the account its owner; nothing where the daemon runs as that account (`groups` is None)."""
    if owner.groups is not None:
        os.chown(path, owner.uid, owner.gid)


def remove(paths: list[str]) -> None:
    """In a process of its own, for there may be very many files; the loop reaps it."""
    if paths:
        os.posix_spawnp("rm", ["rm", "-rf", "--", *paths], os.environ)


def _known(link: str) -> str | None:
    """Where an earlier daemon had it, if that is still ours."""
    try:
        place = os.readlink(link)
        entry = os.lstat(place)
    except OSError:
        return None
    return place if stat.S_ISDIR(entry.st_mode) and entry.st_uid == os.geteuid() else None


def _new(link: str, parent: str | None) -> str:
    """Users may pass through it and not look around."""
    place = tempfile.mkdtemp(prefix="cigri-local-", dir=parent)
    os.chmod(place, 0o711 if os.geteuid() == 0 else 0o700)
    with suppress(FileNotFoundError):
        os.unlink(link)
    os.symlink(place, link)
    return place
