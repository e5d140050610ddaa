"""The directory that outputs are brought to: whatever names come from clusters, nothing is written outside of it.

Each step of a path is opened in the directory before it, and no link is followed.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Target:
    """Names are relative to it; a step that is a link or no directory raises OSError."""

    def __init__(self, place: Path) -> None:
        """Made where it does not exist."""
        place.mkdir(parents=True, exist_ok=True)
        self._root = os.open(place, os.O_RDONLY | os.O_DIRECTORY)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A file that stands at the top."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self._root)

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

    def link(self, name: str, other: str) -> None:
        """A second name for a file at the top; FileExistsError where something stands there."""
        with self._above(other, makes=True) as (above, last):
            os.link(name, last, src_dir_fd=self._root, dst_dir_fd=above, follow_symlinks=False)

    def move(self, name: str, other: str) -> None:
        """A file at the top to another name, over what stands there."""
        with self._above(other, makes=True) as (above, last):
            os.replace(name, last, src_dir_fd=self._root, dst_dir_fd=above)

    def remove(self, name: str) -> None:
        """A file, and the directories that are empty then."""
        with suppress(FileNotFoundError, NotADirectoryError), self._above(name) as (above, last):
            os.unlink(last, dir_fd=above)
        while "/" in name:
            name = name.rpartition("/")[0]
            with suppress(OSError), self._above(name) as (above, last):
                os.rmdir(last, dir_fd=above)

    @contextmanager
    def _above(self, name: str, *, makes: bool = False) -> Iterator[tuple[int, str]]:
        """The directory that a file stands in, and its name there."""
        *steps, last = name.split("/")
        opened = [self._root]
        try:
            for step in steps:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(step, dir_fd=opened[-1])
                opened.append(os.open(step, FOLDER | os.O_CLOEXEC, dir_fd=opened[-1]))
            yield opened[-1], last
        finally:
            for descriptor in opened[1:]:
                os.close(descriptor)
