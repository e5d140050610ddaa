"""The directory that outputs are brought to: whatever names come from clusters, nothing is written outside of it.

What is made in it is its owner's alone, unless it is shared.
Each step of a path is opened in the directory before it, and no link is followed.
"""

import ctypes
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cigri.identity.file_sharing import GroupSharing
from cigri.private_files import PRIVATE_FILE, make_private_directory, make_step

_LIBC = ctypes.CDLL(None, use_errno=True)
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class ConfinedDirectory:
    """Names are relative to it; a step that is a link or no directory raises OSError."""

    def __init__(self, place: Path, descriptor: int | None = None) -> None:
        """Made where it does not exist, unless it is opened already."""
        if descriptor is None:
            make_private_directory(place)
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        self._root = descriptor

    def close(self) -> None:
        """Of no use any more."""
        os.close(self._root)

    def open(self, name: str, flags: int) -> int:
        """A file that stands at the top."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE, dir_fd=self._root)

    def open_below(self, name: str, flags: int) -> int:
        """A file anywhere, with the directories on the way to one that is made."""
        with self._above(name, makes=bool(flags & os.O_CREAT)) as (above, last):
            return os.open(last, flags | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE, dir_fd=above)

    def find(self, name: str) -> os.stat_result | None:
        """What stands there, if anything; a link as such."""
        with suppress(OSError), self._above(name) as (above, last):
            return os.stat(last, dir_fd=above, follow_symlinks=False)
        return None

    def size(self, name: str) -> int | None:
        """Of a plain file."""
        found = self.find(name)
        return found.st_size if found and stat.S_ISREG(found.st_mode) else None

    def is_same(self, name: str, other: str) -> bool:
        """Are these two names of one file?"""
        first, second = self.find(name), self.find(other)
        return bool(first and second and os.path.samestat(first, second))

    def link(self, name: str, other: str, sharing: GroupSharing | None = None) -> None:
        """A second name for a file at the top; FileExistsError where something stands there."""
        with self._above(other, makes=True, sharing=sharing) as (above, last):
            os.link(name, last, src_dir_fd=self._root, dst_dir_fd=above, follow_symlinks=False)

    def move(self, name: str, other: str, sharing: GroupSharing | None = None) -> None:
        """A file at the top to another name, over what stands there."""
        with self._above(other, makes=True, sharing=sharing) as (above, last):
            os.replace(name, last, src_dir_fd=self._root, dst_dir_fd=above)

    def remove(self, name: str) -> None:
        """A file, and the directories that are empty then."""
        with suppress(FileNotFoundError, NotADirectoryError), self._above(name) as (above, last):
            os.unlink(last, dir_fd=above)
        while "/" in name:
            name = name.rpartition("/")[0]
            with suppress(OSError), self._above(name) as (above, last):
                os.rmdir(last, dir_fd=above)

    def move_directory(self, name: str, other: str, sharing: GroupSharing | None = None) -> None:
        """It gets another name, unless something but an empty directory has it."""
        with self._above(name) as (above, last), self._above(other, makes=True, sharing=sharing) as (beside, new):
            os.rename(last, new, src_dir_fd=above, dst_dir_fd=beside)

    def share_root(self, sharing: GroupSharing) -> None:
        """The directory itself, not what is in it."""
        sharing.share(self._root, is_directory=True)

    def share_file(self, name: str, sharing: GroupSharing) -> None:
        """A plain file of ours."""
        descriptor = self.open_below(name, os.O_RDONLY | os.O_NONBLOCK)
        try:
            sharing.share(descriptor)
        finally:
            os.close(descriptor)

    def share_all(self, name: str, sharing: GroupSharing) -> None:
        """A directory, and what is in it, which nobody else has had access to."""
        with self._above(name) as (above, last):
            for _, _, files, folder in os.fwalk(last, topdown=False, dir_fd=above, onerror=_raise):
                for file in files:
                    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC  # a FIFO would be waited for
                    descriptor = os.open(file, flags, dir_fd=folder)
                    try:
                        sharing.share(descriptor)
                    finally:
                        os.close(descriptor)
                sharing.share(folder, is_directory=True)

    def names(self, name: str) -> list[str]:
        """What lies in a directory; nothing where there is none."""
        with suppress(FileNotFoundError), self._above(name) as (above, last):
            descriptor = os.open(last, FOLDER | os.O_CLOEXEC, dir_fd=above)
            try:
                return os.listdir(descriptor)
            finally:
                os.close(descriptor)
        return []

    def count(self, name: str) -> tuple[int, int]:
        """How many plain files lie in a directory and below it, and how many bytes they are."""
        sizes = []
        with suppress(FileNotFoundError), self._above(name) as (above, last):
            for _, _, files, folder in os.fwalk(last, dir_fd=above, onerror=_raise):
                sizes += [os.stat(file, dir_fd=folder, follow_symlinks=False).st_size for file in files]
        return len(sizes), sum(sizes)

    def files(self, name: str) -> list[str]:
        """The plain files in a directory and below it, by their names from there on; nothing where there is none."""
        names = []
        with suppress(FileNotFoundError), self._above(name) as (above, last):
            for way, _, files, _ in os.fwalk(last, dir_fd=above, onerror=_raise):
                names += [os.path.join(os.path.relpath(way, last), file).removeprefix("./") for file in files]
        return names

    def remove_all(self, name: str) -> None:
        """A directory with what is in it, or a file; nothing where there is none."""
        with suppress(FileNotFoundError), self._above(name) as (above, last):
            found = os.stat(last, dir_fd=above, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                shutil.rmtree(last, dir_fd=above)
            else:
                os.unlink(last, dir_fd=above)

    def free(self) -> int:
        """Bytes that we may still write there."""
        disk = os.fstatvfs(self._root)
        return disk.f_bavail * disk.f_frsize

    def sync(self) -> None:
        """All that was written is on the disk: one call for many small files."""
        if _LIBC.syncfs(self._root) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    @contextmanager
    def _above(
        self, name: str, *, makes: bool = False, sharing: GroupSharing | None = None
    ) -> Iterator[tuple[int, str]]:
        """The directory that a file stands in, and its name there; `sharing`: of those that are made on the way."""
        *steps, last = name.split("/")
        opened = [self._root]
        try:
            for step in steps:
                is_new = makes and make_step(opened[-1], step)
                opened.append(os.open(step, FOLDER | os.O_CLOEXEC, dir_fd=opened[-1]))
                if is_new and sharing is not None:
                    sharing.share(opened[-1], is_directory=True)
            yield opened[-1], last
        finally:
            for descriptor in opened[1:]:
                os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error
