"""Outputs that come by themselves are put together aside, and get to their place at once: a directory for each task.

Whoever is killed, wherever, the same step is done again: what has its name is whole, and of one attempt. A directory
that we have not made stays; that of an earlier attempt is put beside the new one.
"""

import errno
import json
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cigri.errors import CigriError
from cigri.formats.units import MEGABYTE, as_size
from cigri.identity.file_sharing import FileSharing
from cigri.outputs.brought import OutputFile
from cigri.outputs.confined_directory import ConfinedDirectory
from cigri.outputs.destination import OutputDestination
from cigri.outputs.downloading import TaskWithOutputs
from cigri.outputs.safe_paths import UnsafePath, open_directory

LIST_OF_MADE = "made"
SPARE = 16 * MEGABYTE
OF_A_NAME = (
    errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EINVAL, errno.EILSEQ, errno.ELOOP
)  # fmt: skip
WRITTEN_AGAIN = 8 * MEGABYTE  # bytes at the end of a part, of which a crash of the host may have left holes


class OutputNotWritable(CigriError):
    """Why nothing can be put there."""


class ExistingDirectory(NamedTuple):
    """What stands in the place of a task: of which attempt, or, None, not ours."""

    attempt: int | None


class OutputAssembler:
    """Of one campaign, in one place."""

    def __init__(self, destination: OutputDestination, campaign_id: int, shared: FileSharing | None = None) -> None:
        """Raise OutputNotWritable where it cannot be made, NoSuchGroup where it cannot be shared."""
        self._sharing = shared.require_group() if shared else None
        self._destination = destination
        self._stage = f".cigri-{campaign_id}"
        with _as_not_written(destination.root):
            self._target = ConfinedDirectory(destination.root, open_directory(destination.root, self._sharing))

    def close(self) -> None:
        """Of no use any more."""
        self._target.close()

    def standing(self, numbers: Collection[int]) -> dict[int, ExistingDirectory]:
        """What stands in the places of these tasks, if anything; an empty directory is nothing."""
        with _as_not_written(self._destination.root):
            found = {number: place for number in numbers if (place := self._find(number)) is not None}
            ours = dict.fromkeys(found, ExistingDirectory(None))
            for number, attempt, device, inode in self._made() if found else ():
                if number in found and (found[number].st_dev, found[number].st_ino) == (device, inode):
                    ours[number] = ExistingDirectory(attempt)
        return ours

    def is_foreign(self, _file: OutputFile) -> bool:
        """Nobody else writes there."""
        return False

    def require_room(self, size: int, leave_free: int | None = None) -> None:
        """Raise OutputNotWritable where so many bytes have none, and something besides: None is little."""
        with _as_not_written(self._destination.root):
            free = self._target.free()
        spare = SPARE if leave_free is None else leave_free
        if free < size + spare:
            has = f"{as_size(free)} are free there, and {as_size(spare)} stay free"
            raise OutputNotWritable(f"{self._destination.root} has no room for {as_size(size)}: {has}")

    def begin(self, task: TaskWithOutputs) -> None:
        """What was begun of it before stays where it is one large file or several, to go on from there."""
        with _as_not_written(self._destination.root):
            if task.bytes <= WRITTEN_AGAIN:
                self._target.remove_all(self._aside(task))

    def begun(self, file: OutputFile) -> int:
        """Behind that it goes on."""
        size = self._target.size(self._name(file)) or 0
        return size - WRITTEN_AGAIN if size > WRITTEN_AGAIN else 0

    def add(self, file: OutputFile, offset: int, content: bytes) -> None:
        """OSError: this file cannot be, others can."""
        with _as_not_written(self._destination.root, but=OF_A_NAME):
            descriptor = self._target.open_below(self._name(file), os.O_WRONLY | os.O_CREAT)
            with open(descriptor, "wb") as written:
                written.truncate(offset)
                written.seek(offset)
                written.write(content)
                if offset:
                    written.flush()
                    os.fsync(written.fileno())

    def finish(self, file: OutputFile, size: int) -> None:
        """It is looked at with all the others."""

    def shown(self, file: OutputFile) -> str:
        return f"{self._destination.place(file.number)}/{os.fsdecode(file.path)}"

    def is_whole(self, task: TaskWithOutputs) -> bool:
        """Are there as many files and bytes as were counted? What has others is begun anew."""
        with _as_not_written(self._destination.root):
            if self._target.count(self._aside(task)) == (task.files, task.bytes):
                return True
            self._target.remove_all(self._aside(task))
        return False

    def settle(self, tasks: Sequence[TaskWithOutputs]) -> None:
        """Give them their names, whole and on the disk; raise OutputNotWritable where something is in the way."""
        with _as_not_written(self._destination.root):
            self._note(tasks)
            if self._sharing is not None:
                for task in tasks:
                    self._target.share_all(self._aside(task), self._sharing)
            self._target.sync()
            for task in tasks:
                name = self._destination.name(task.number)
                if (old := self.standing([task.number]).get(task.number)) is not None and old.attempt is not None:
                    self._target.move_directory(name, f"{name}.attempt-{old.attempt}")
                self._target.move_directory(self._aside(task), name, self._sharing)
            self._target.sync()

    def tidy(self) -> None:
        """All has come: nothing stays aside but the list of what we have made."""
        with _as_not_written(self._destination.root):
            for name in self._target.names(self._stage):
                if name != LIST_OF_MADE:
                    self._target.remove_all(f"{self._stage}/{name}")

    def _find(self, number: int) -> os.stat_result | None:
        name = self._destination.name(number)
        place = self._target.find(name)
        if place is not None and stat.S_ISDIR(place.st_mode) and not self._target.names(name):
            return None
        return place

    def _made(self) -> Iterator[tuple[int, int, int, int]]:
        """As it was noted, but for a line that was cut."""
        with (
            suppress(FileNotFoundError),
            open(self._target.open_below(f"{self._stage}/{LIST_OF_MADE}", os.O_RDONLY)) as lines,
        ):
            for line in lines:
                with suppress(ValueError):
                    number, attempt, device, inode = json.loads(line)
                    yield number, attempt, device, inode

    def _note(self, tasks: Sequence[TaskWithOutputs]) -> None:
        """First: what is not in the list is not ours. A file system keeps the number of what gets another name."""
        places = [(task, self._target.find(self._aside(task))) for task in tasks]
        lines = [json.dumps([t.number, t.attempt, p.st_dev, p.st_ino]) + "\n" for t, p in places if p is not None]
        descriptor = self._target.open_below(f"{self._stage}/{LIST_OF_MADE}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, ("\n" + "".join(lines)).encode())  # at once, as others may add theirs
        finally:
            os.close(descriptor)

    def _aside(self, task: TaskWithOutputs) -> str:
        return f"{self._stage}/{task.number}.{task.attempt}"

    def _name(self, file: OutputFile) -> str:
        return f"{self._stage}/{file.number}.{file.attempt}/{os.fsdecode(file.path)}"


@contextmanager
def _as_not_written(root: Path, but: Collection[int] = ()) -> Iterator[None]:
    try:
        yield
    except UnsafePath as error:
        raise OutputNotWritable(str(error)) from None
    except OSError as error:
        if error.errno in but:
            raise
        raise OutputNotWritable(f"{root} cannot be written: {error.strerror or error}") from None
