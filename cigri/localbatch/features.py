"""The directories of each job for Machine/Job Features: a dozen tiny files, so in memory where the host can.

Those that come back as they were given are emptied, and serve the user's next job.
"""

import logging
import os
import tempfile
from contextlib import suppress

from cigri.localbatch.job_owner import JobOwner
from cigri.localbatch.linked_directory import LinkedDirectory, give_to, remove
from cigri.localbatch.scratch import is_as_given

MEMORY_DIRECTORY = "/dev/shm"  # noqa: S108  (what is made in it has a random name)
PEAKS = "peaks"
"""Beside them what the daemon has seen of the memory of tasks, for the wrapper."""
DIRECTORIES = ("machinefeatures", "jobfeatures", "jobstatus")

logger = logging.getLogger(__name__)


class FeatureDirectories:
    """A directory that the user cannot change, with three in it that are the user's."""

    def __init__(self) -> None:
        self.place = LinkedDirectory("features", MEMORY_DIRECTORY if os.access(MEMORY_DIRECTORY, os.W_OK) else None)
        self._free: dict[int, list[str]] = {}

    def take(self, owner: JobOwner) -> str:
        """Three empty directories of that account, in one; "" when the host has none to give."""
        if free := self._free.get(owner.uid):
            return free.pop()
        try:
            path = tempfile.mkdtemp(prefix=f"{owner.uid}-", dir=self.place.path)
            os.chmod(path, 0o711)  # noqa: S103  (its user passes through it)
            for part in DIRECTORIES:
                os.mkdir(f"{path}/{part}", 0o700)
                give_to(owner, f"{path}/{part}")
        except OSError as error:
            logger.warning("no directories of features for a job of uid %d: %s", owner.uid, error)
            return ""
        return path

    def give_back(self, uid: int, path: str) -> None:
        """The job is over, and so is every process of it."""
        if path and _empty(uid, path):
            self._free.setdefault(uid, []).append(path)
        elif path:
            remove([path])


def _empty(uid: int, path: str) -> bool:
    """Remove the files; False when there is anything else."""
    try:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}/{PEAKS}")
        for part in DIRECTORIES:
            if not is_as_given(uid, f"{path}/{part}"):
                return False
            for name in os.listdir(f"{path}/{part}"):
                os.unlink(f"{path}/{part}/{name}")
    except OSError:
        return False
    return True
