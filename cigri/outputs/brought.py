"""The directory that outputs are brought to, and the list of what of it we have made: nothing else is touched."""

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cigri.errors import UsageError
from cigri.formats.untrusted_text import escape_line
from cigri.identity.file_sharing import GroupSharing
from cigri.outputs.confined_directory import ConfinedDirectory

LIST, MADE_BY_US, IS_SHARED = ".gridget", "made", "shared"
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)  # of file systems that have none
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class Output(NamedTuple):
    """One output of one attempt at a task. What is empty makes no file."""

    number: int
    attempt: int
    stream: str

    @property
    def name(self) -> str:
        """By the number of the task."""
        return f"{self.number}.{self.stream}"

    @property
    def part(self) -> str:
        """The name that it has until it is whole."""
        return f".{self.name}.{self.attempt}.part"

    @property
    def is_file_though_empty(self) -> bool:
        return False


class OutputFile(NamedTuple):
    """A file that an attempt at a task has brought; its path leads nowhere but below the task's directory."""

    number: int
    attempt: int
    path: bytes

    @property
    def name(self) -> str:
        """In a directory by the number of the task."""
        return f"{self.number}/{os.fsdecode(self.path)}"

    @property
    def part(self) -> str:
        """The name that it has until it is whole, short however long its own is."""
        return f".{self.number}.{self.attempt}.{sha256(self.path).hexdigest()[:16]}.part"

    @property
    def is_file_though_empty(self) -> bool:
        return True


DownloadedItem = Output | OutputFile


@contextmanager
def reserve(place: Path) -> Iterator[bool]:
    """Keep a directory for this program, which is made where it does not exist (then True).

    Raise UsageError while another has it.
    """
    is_new = not place.is_dir()
    target = ConfinedDirectory(place)
    try:
        with open(target.open(LIST, os.O_RDWR | os.O_CREAT), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another gridget brings outputs to {place} now: wait until it ends, or name another directory"
                ) from None
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
            yield is_new
    finally:
        target.close()


class Brought:
    """A file lies there under its name only when it is whole; until then under another, to go on from there."""

    def __init__(self, place: Path, campaign_id: int, submitted_at: datetime, *, is_new: bool = False) -> None:
        """Made where it does not exist; raise UsageError where it holds the outputs of another campaign.

        `is_new`: we have made the directory itself, just now.
        """
        self.place = place
        self._target = ConfinedDirectory(place)
        owner = {"campaign": campaign_id, "submitted": submitted_at.isoformat()}
        lines = self._read()
        if not lines:
            self._write({**owner, MADE_BY_US: is_new})
        elif lines[0] | {MADE_BY_US: None} != owner | {MADE_BY_US: None}:
            raise UsageError(f"{place} holds the outputs of another campaign; name another directory")
        is_made = bool(lines[0].get(MADE_BY_US)) if lines else is_new
        self._is_ours = is_made and not any(IS_SHARED in line for line in lines)
        self._shared: Mapping[int, GroupSharing] = {}
        self._known: dict[str, tuple[int, int]] = {}
        self._files: dict[int, set[str]] = {}
        for line in (line for line in lines[1:] if IS_SHARED not in line):
            self._keep(str(line["name"]), (int(str(line["attempt"])), int(str(line["size"]))))

    def share(self, shared: Mapping[int, GroupSharing]) -> None:
        """With whom files of tasks are shared that are finished from now on; the directory as the first of them."""
        self._shared = shared
        if shared and self._is_ours:
            self._target.share_root(next(iter(shared.values())))
            self._write({IS_SHARED: True})  # once: what its user makes of it then stays
            self._is_ours = False

    def holds(self, thing: DownloadedItem) -> bool:
        """Is it here, whole? What was empty may have no file."""
        attempt, size = self._known.get(thing.name, (None, 0))
        has_none = size == 0 and not thing.is_file_though_empty
        return attempt == thing.attempt and (has_none or self._target.size(thing.name) == size)

    def held_of(self, number: int, attempt: int) -> dict[OutputFile, int]:
        """The files of an attempt that are here, whole, and how large they are."""
        paths = [os.fsencode(name.partition("/")[2]) for name in self._files.get(number, ())]
        files = [OutputFile(number, attempt, path) for path in paths]
        return {file: self._known[file.name][1] for file in files if self.holds(file)}

    def is_foreign(self, thing: DownloadedItem) -> bool:
        """Does something lie in its place that we have not made?"""
        if thing.name in self._known or self._target.find(thing.name) is None:
            return False
        return not self._target.is_same(thing.name, thing.part)

    def stays(self, thing: DownloadedItem) -> str:
        """What is said of such a one."""
        place = escape_line(str(self.place / thing.name))
        return f"{place} was not made by gridget, so it stays: move it, or name another directory"

    def shown(self, thing: DownloadedItem) -> str:
        """Its place, for a person."""
        return f"{self.place}/{thing.name}"

    def begun(self, thing: DownloadedItem) -> int:
        """How many bytes of it are here already."""
        return self._target.size(thing.part) or 0

    def add(self, thing: DownloadedItem, offset: int, content: bytes) -> None:
        """Write a piece in its place; what was behind it is gone."""
        with open(self._target.open(thing.part, os.O_WRONLY | os.O_CREAT), "wb") as file:
            file.truncate(offset)
            file.seek(offset)
            file.write(content)

    def finish(self, thing: DownloadedItem, size: int) -> None:
        """All of it is written; FileExistsError where somebody else has put something in its place."""
        sharing = self._shared.get(thing.number)
        if sharing is not None and (size or thing.is_file_though_empty):
            self._target.share_file(thing.part, sharing)
        if not size and not thing.is_file_though_empty:
            self._note(thing, size)
            self._target.remove(thing.part)
            self._target.remove(thing.name)
        elif thing.name in self._known or not self._link(thing, sharing):
            self._note(thing, size)  # first: what is not in the list is not ours
            self._target.move(thing.part, thing.name, sharing)
        else:
            self._note(thing, size)
            self._target.remove(thing.part)

    def make_room(self, number: int, attempt: int) -> None:
        """Files of other attempts at the task go before one of this attempt comes: they are never mixed."""
        for name in [name for name in self._files.get(number, ()) if self._known[name][0] != attempt]:
            if self._target.size(name) is not None:
                self._target.remove(name)
            self._write({"name": name, "attempt": 0, "size": -1})
            self._keep(name, (0, -1))

    def _link(self, thing: DownloadedItem, sharing: GroupSharing | None) -> bool:
        """In its place beside its other name, by which it is known as ours; False where files have one name only."""
        if self._target.is_same(thing.name, thing.part):
            return True
        try:
            self._target.link(thing.part, thing.name, sharing)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in NO_LINKS or self._target.find(thing.name) is not None:
                raise
            return False
        return True

    def _note(self, thing: DownloadedItem, size: int) -> None:
        self._write({"name": thing.name, "attempt": thing.attempt, "size": size})
        self._keep(thing.name, (thing.attempt, size))

    def _keep(self, name: str, known: tuple[int, int]) -> None:
        """A size below 0: it is not ours any more."""
        number, _, path = name.partition("/")
        if known[1] < 0:
            self._known.pop(name, None)
            self._files.get(int(number), set()).discard(name)
            return
        self._known[name] = known
        if path:
            self._files.setdefault(int(number), set()).add(name)

    def _read(self) -> list[dict[str, object]]:
        """But for a last line that was cut."""
        try:
            with open(self._target.open(LIST, os.O_RDONLY), encoding="utf-8") as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        told = []
        for line in lines:
            try:
                told.append(json.loads(line))
            except ValueError:
                continue
        return told

    def _write(self, line: dict[str, object]) -> None:
        """After a line that was cut, on one of its own."""
        descriptor = self._target.open(LIST, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with open(descriptor, "rb+") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 1, 0))
            ending = b"" if file.read(1) in (b"", b"\n") else b"\n"
            file.write(ending + json.dumps(line).encode() + b"\n")
