"""A directory for each job under way, its own alone, where temporary files are.

To make and remove one costs as much as a process, so one that comes back as it was given serves the user's next job
under a new name: no path is ever that of two jobs, whatever still knows the old one.
"""

import os
import stat
from contextlib import suppress

from cigri.localbatch.job_owner import JobOwner
from cigri.localbatch.linked_directory import LinkedDirectory, remove


class ScratchDirectories:
    """Directories that no job has are free."""

    def __init__(self) -> None:
        self.place = LinkedDirectory("scratch")
        self._free: dict[int, list[str]] = {}

    def take(self, owner: JobOwner, name: str) -> str:
        """An empty directory of that account, for the job of that name; "" when the host has none to give."""
        if free := self._free.get(owner.uid):
            with suppress(OSError):
                os.rename(free.pop(), path := os.path.join(self.place.path, name))
                return path
        return self.place.make(owner, name)

    def find(self, name: str) -> str:
        """The directory of a job that an earlier daemon started; "" when it has none."""
        path = os.path.join(self.place.path, name)
        return path if os.path.lexists(path) else ""

    def give_back(self, uid: int, path: str) -> None:
        """The job is over, and so is every process of it."""
        if path and is_as_given(uid, path) and not os.listdir(path):
            self._free.setdefault(uid, []).append(path)
        elif path:
            remove([path])


def is_as_given(uid: int, path: str) -> bool:
    """Is this still a directory of the user's, and of nobody else's?"""
    try:
        entry = os.lstat(path)
    except OSError:
        return False
    return (entry.st_mode, entry.st_uid) == (stat.S_IFDIR | 0o700, uid)
