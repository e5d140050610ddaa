"""The way to a directory that somebody names from / on, step by step: who else may write on it cannot turn it aside."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from cigri.errors import CigriError
from cigri.identity.file_sharing import GroupSharing
from cigri.private_files import make_step

STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LINKS = 40
NO_STEP = (errno.ELOOP, errno.ENOTDIR)


class UnsafePath(CigriError):
    """Somebody else's link stands on it."""


def open_directory(place: Path, sharing: GroupSharing | None = None) -> int:
    """A descriptor of it, made where it does not exist. Links are followed that are our own, or root's.

    `sharing`: with whom the directories are shared that are made.

    Raise UnsafePath, or OSError.
    """
    steps, links = [*reversed(place.parts[1:])], 0
    at = os.open("/", STEP)
    try:
        while steps:
            step = steps.pop()
            try:
                below = _enter(at, step, sharing)
            except OSError as error:
                if error.errno not in NO_STEP or (links := links + 1) > MOST_LINKS:
                    raise
                target = Path(_read_link(at, step, place))
                steps += [*reversed(target.parts[1:] if target.is_absolute() else target.parts)]
                below = os.open("/", STEP) if target.is_absolute() else os.dup(at)
            os.close(at)
            at = below
    except BaseException:
        os.close(at)
        raise
    return at


def _enter(at: int, step: str, sharing: GroupSharing | None) -> int:
    with suppress(FileNotFoundError):
        return os.open(step, STEP, dir_fd=at)
    is_new = make_step(at, step)
    made = os.open(step, STEP, dir_fd=at)
    if is_new and sharing is not None:
        try:
            sharing.share(made, is_directory=True)
        except OSError:
            os.close(made)
            raise
    return made


def _read_link(at: int, step: str, place: Path) -> str:
    """What stands there is no directory."""
    try:
        target = os.readlink(step, dir_fd=at)
    except OSError:
        raise NotADirectoryError(errno.ENOTDIR, f"{step} on the way to it is no directory") from None
    owner = os.stat(step, dir_fd=at, follow_symlinks=False).st_uid
    if owner not in (0, os.geteuid()):
        raise UnsafePath(f"on the way to {place} stands a link of another account: {step}")
    return target
