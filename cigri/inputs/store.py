"""The store on the grid's host: each file once, under the SHA-256 of its content, whole or not under its name."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from io import BufferedRandom
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cigri.errors import CigriError, UsageError
from cigri.private_files import PRIVATE_FILE, make_private_directory

if TYPE_CHECKING:
    from cigri.settings.sections import Settings

STORE_BLOCK = 2**20  # bytes
LEAST_PART = 4096  # bytes that any file takes
MODE = 0o400


class StoredInputMissing(CigriError):
    """The table says that a file is in the store, and it is not."""


def store_of(settings: "Settings") -> "InputStore":
    """Where the settings say."""
    return InputStore(directory_of(settings))


def directory_of(settings: "Settings") -> Path:
    """Where it is, or will be."""
    return settings.inputs.directory or settings.data_directory / "inputs"


class InputStore:
    """Below a directory that only the grid's account may enter."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def open(self, digest: str, size: int) -> BinaryIO:
        """To read it; raise StoredInputMissing where it is not there, or another size."""
        content = self._opened(digest)
        if os.fstat(content.fileno()).st_size != size:
            content.close()
            raise StoredInputMissing(
                f"{self._place(digest)} has not its {size} bytes any more; submit the campaign again"
            )
        return content

    def open_any(self, digest: str) -> BinaryIO:
        """To read it, whatever its size; raise StoredInputMissing where it is not there."""
        return self._opened(digest)

    def holds(self, digest: str) -> bool:
        """Is it there, whole?"""
        return self._place(digest).is_file()

    def begun(self, user: str, digest: str) -> int:
        """How many bytes of it the user has sent that is not whole."""
        with suppress(FileNotFoundError):
            return self._part(user, digest).stat().st_size
        return 0

    def add(self, user: str, digest: str, offset: int, content: BinaryIO, size: int) -> int:
        """Append what the user sends behind so many bytes, if there are so many; give how many there are then.

        Once all `size` bytes are there it gets its name; raise UsageError, and forget them, if they have another sum.
        Both happen under one lock: who sends the same at the same time begins anew, and shows that they have it, too.
        """
        with self._locked_part(user, digest) as part:
            part.seek(0, os.SEEK_END)
            if part.tell() == offset:
                while block := content.read(STORE_BLOCK):
                    part.write(block)
            held = part.tell()
            if held == size:
                self._finish(part, self._part(user, digest), digest)
            return held

    def put(self, user: str, digest: str, content: bytes) -> bool:
        """All of a small file at once; False: it has another sum."""
        if sha256(content).hexdigest() != digest:
            return False
        if not self.holds(digest):
            with self._locked_part(user, digest) as part:
                part.truncate()
                part.write(content)
                part.flush()
                self._name(part, self._part(user, digest), digest)
        return True

    def forget(self, digest: str) -> None:
        """Remove it, if it is there."""
        self._place(digest).unlink(missing_ok=True)

    def arriving(self, user: str, besides: str = "") -> int:
        """Bytes that the user has sent of what is not whole, but for one file; an empty part takes some of the disk."""
        own = self._parts(f"{_mark(user)}-*")
        return sum(max(found.st_size, LEAST_PART) for part, found in own if part.name != f"{_mark(user)}-{besides}")

    def forget_arriving(self, before: float) -> int:
        """Forget what was cut, and has not gone on since then (in seconds since 1970); give how many files."""
        cut = [part for part, found in self._parts("*") if found.st_mtime < before]
        for part in cut:
            part.unlink(missing_ok=True)
        return len(cut)

    def _parts(self, pattern: str) -> Iterator[tuple[Path, os.stat_result]]:
        """One that gets its name meanwhile is no part any more."""
        for part in self._arriving.glob(pattern):
            with suppress(FileNotFoundError):
                yield part, part.stat()

    def _opened(self, digest: str) -> BinaryIO:
        path = self._place(digest)
        try:
            return path.open("rb")
        except OSError as error:
            raise StoredInputMissing(f"{path} cannot be read: {error.strerror}; submit the campaign again") from None

    @property
    def _arriving(self) -> Path:
        return self._directory / "arriving"

    def _place(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest

    def _part(self, user: str, digest: str) -> Path:
        """Of each user another: nobody adds to what somebody else sends."""
        return self._arriving / f"{_mark(user)}-{digest}"

    def _finish(self, part: BufferedRandom, path: Path, digest: str) -> None:
        part.seek(0)
        if file_digest(part, "sha256").hexdigest() != digest:
            path.unlink()
            raise UsageError("what came is not the file: it changed while it was read; submit the campaign again")
        self._name(part, path, digest)

    def _name(self, part: BufferedRandom, path: Path, digest: str) -> None:
        place = self._place(digest)
        make_private_directory(place.parent)
        os.fsync(part.fileno())
        path.rename(place)
        os.fchmod(part.fileno(), MODE)  # not before: who sends the same could not open it

    @contextmanager
    def _locked_part(self, user: str, digest: str) -> Iterator[BufferedRandom]:
        """To be written by one at a time."""
        path = self._part(user, digest)
        make_private_directory(path.parent)
        while True:
            with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE), "r+b") as part:
                fcntl.flock(part, fcntl.LOCK_EX)
                if _is_there(path, part):
                    yield part
                    return
                # who had it before has given it its name meanwhile, or has forgotten it


def _is_there(path: Path, part: BufferedRandom) -> bool:
    """Is this file still the one of this name?"""
    try:
        return os.path.samestat(path.stat(), os.fstat(part.fileno()))
    except FileNotFoundError:
        return False


def _mark(user: str) -> str:
    """Of a user in the name of a file, whatever the user's name is."""
    return sha256(user.encode()).hexdigest()[:16]
