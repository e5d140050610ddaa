"""Inputs are read as their user, where `gridsub` runs: their sums are taken, and directories are packed."""

import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, cast

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.jdl.problems import did_you_mean, place_of, shown
from cigri.jdl.value_types import HOME

INPUT_KEYS = ("from", "to")
USUAL_MODE = 0o700


class LocalInput(NamedTuple):
    """A file, or a directory that travels packed; `where` is its path from anywhere."""

    path: str
    sha256: str
    size: int
    is_packed: bool
    where: Path

    def open(self) -> BinaryIO:
        """What is sent, read anew."""
        return packed(self.where) if self.is_packed else _opened(self.where)


class _HashingWriter:
    """Takes the sum of what is written to it."""

    def __init__(self) -> None:
        self.sha256, self.size = sha256(), 0

    def write(self, block: bytes) -> int:
        self.sha256.update(block)
        self.size += len(block)
        return len(block)

    def tell(self) -> int:
        """As tarfile asks."""
        return self.size


def read_inputs(described: object, base: Path) -> tuple[object, list[LocalInput]]:
    """The description with what it takes along as it was read, and what is to be sent.

    Relative paths are from `base` on. Raise DescriptionError for what cannot be read.
    """
    if not isinstance(described, dict):
        return described, []
    reader = InputReader(base)
    described = reader.filled(described, place_of)
    for key, blocks in described.items():
        if key.lower() == "clusters" and isinstance(blocks, dict):
            described[key] = {
                name: reader.filled(block, lambda *steps, name=name: place_of("clusters", name, *steps))
                if isinstance(block, dict)
                else block
                for name, block in blocks.items()
            }
    if reader.problems:
        raise DescriptionError(reader.problems)
    return described, list(reader.found.values())


class InputReader:
    """Each path is read once."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._known: dict[Path, LocalInput] = {}
        self.found: dict[str, LocalInput] = {}
        self.problems: list[DescriptionProblem] = []

    def filled(self, block: dict[str, Any], place: Callable[..., str]) -> dict[str, Any]:
        """The block with its inputs as they were read."""
        return {
            key: self._read_all(value, lambda *steps, key=key: place(key, *steps))
            if key.lower() == "inputs" and isinstance(value, list)
            else value
            for key, value in block.items()
        }

    def _read_all(self, values: list[object], place: Callable[..., str]) -> list[object]:
        return [self._read(value, place(index)) for index, value in enumerate(values)]

    def _read(self, value: object, place: str) -> object:
        if isinstance(value, dict) and "sha256" in value:
            return value  # somebody has read it before
        try:
            path, to = named(value)
            read = self._known_or_read(path)
        except (OSError, ValueError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            self.problems.append(DescriptionProblem(place, reason))
            return value
        self.found[read.sha256] = read
        return {"path": path, "to": to, "sha256": read.sha256, "size": read.size, "packed": read.is_packed}

    def read_input(self, path: str) -> LocalInput:
        """A file or a directory; raise OSError for what cannot be read, ValueError for a link that leads out of it."""
        return self._known_or_read(path)

    def read_file(self, path: str) -> LocalInput:
        """A file of a task; raise OSError for what is none, or cannot be read."""
        read = self._known_or_read(path)
        if read.is_packed:
            raise OSError(None, f"{path} is a directory: pack it, or name it in inputs")
        return self.found.setdefault(read.sha256, read)

    def _known_or_read(self, path: str) -> LocalInput:
        where = self._base / HOME.sub(lambda _: str(Path.home()), path, count=1)
        if where not in self._known:
            try:
                self._known[where] = _summed(path, where.absolute())
            except OSError as error:
                raise OSError(None, f"{path} cannot be read: {error.strerror or error}") from None
        return self._known[where]


def _summed(path: str, where: Path) -> LocalInput:
    if stat.S_ISDIR(where.stat().st_mode):
        taken = _HashingWriter()
        _pack(where, taken)
        return LocalInput(path, taken.sha256.hexdigest(), taken.size, True, where)
    with _opened(where) as content:
        sum = file_digest(content, "sha256").hexdigest()
        return LocalInput(path, sum, content.tell(), False, where)


def packed(directory: Path) -> BinaryIO:
    """An archive of what is in the directory, the same for the same content, in a file without a name.

    Raise OSError for what cannot be taken along, ValueError for a link that leads out of it.
    """
    archive = TemporaryFile()  # noqa: SIM115  # its user closes it
    try:
        _pack(directory, archive)
    except BaseException:
        archive.close()
        raise
    archive.seek(0)
    return cast(BinaryIO, archive)


def _pack(directory: Path, archive: Any) -> None:
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for path in _walk(directory):
            member = _member(directory, path)
            if member.isreg():
                with _opened(path) as content:
                    member.size = os.fstat(content.fileno()).st_size
                    tar.addfile(member, content)
            else:
                tar.addfile(member)


def _walk(directory: Path) -> Iterator[Path]:
    """What is in it, in the order of names, no link followed."""
    for path in sorted(directory.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _member(directory: Path, path: Path) -> tarfile.TarInfo:
    """Neither owners nor times: they would make another file of the same."""
    name = path.relative_to(directory)
    member, mode = tarfile.TarInfo(name.as_posix()), path.lstat().st_mode
    member.mode = stat.S_IMODE(mode) & 0o777 | 0o400
    if stat.S_ISDIR(mode):
        member.type, member.mode = tarfile.DIRTYPE, member.mode | USUAL_MODE
    elif stat.S_ISLNK(mode):
        target = os.readlink(path)
        if target.startswith("/") or os.path.normpath(name.parent / target).split("/")[0] == "..":
            raise ValueError(f"{path} is a link that leads out of {directory}, to {target}; put a file in its place")
        member.type, member.linkname = tarfile.SYMTYPE, target
    elif not stat.S_ISREG(mode):
        raise OSError(None, f"{path} is neither a file nor a directory")
    return member


def _opened(path: Path) -> BufferedReader:
    """A file; what would hold its reader, as a FIFO, is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, f"{path} is neither a file nor a directory")
    return open(descriptor, "rb")


def named(value: object) -> tuple[str, str]:
    """The path, and the name for tasks: the last part of the path where its user names none."""
    given = {"from": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(path := given.get("from"), str) or not path.strip("/ "):
        raise ValueError(f"expected a path, or {{from: path, to: name}}, not {shown(value)}")
    if unknown := [key for key in given if key not in INPUT_KEYS]:
        hint = did_you_mean(str(unknown[0]), INPUT_KEYS)
        raise ValueError(f"unknown field {unknown[0]!r}{'; ' + hint if hint else ''}")
    to = given.get("to", PurePosixPath(path).name)
    if not isinstance(to, str) or to in ("", ".", ".."):
        raise ValueError(f"{shown(value)} has no name of its own; write {{from: {path}, to: a name}}")
    return path, to.rstrip("/")
