"""The directory that outputs are brought to, and the list of what of it we have made: nothing else is touched."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from cigri.errors import UsageError

LIST = ".gridget"
PRIVATE = 0o600


class Output(NamedTuple):
    """One output of one attempt at a task."""

    number: int
    attempt: int
    stream: str

    @property
    def name(self) -> str:
        """By the number of the task."""
        return f"{self.number}.{self.stream}"


class Brought:
    """A file lies there under its name only when it is whole; until then under another, to go on from there."""

    def __init__(self, place: Path, campaign_id: int, submitted_at: datetime) -> None:
        """Made where it does not exist; raise UsageError where it holds the outputs of another campaign."""
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        self._list = place / LIST
        owner = {"campaign": campaign_id, "submitted": submitted_at.isoformat()}
        lines = self._read()
        if not lines:
            self._write(owner)
        elif lines[0] != owner:
            raise UsageError(f"{place} holds the outputs of another campaign; name another directory")
        self._known = {line["name"]: (line["attempt"], line["size"]) for line in lines[1:]}

    def holds(self, output: Output) -> bool:
        """Is it here, whole? What was empty has no file."""
        attempt, size = self._known.get(output.name, (None, 0))
        path = self.place / output.name
        return attempt == output.attempt and (size == 0 or (path.is_file() and path.stat().st_size == size))

    def is_foreign(self, output: Output) -> bool:
        """Does something lie in its place that we have not made?"""
        return output.name not in self._known and os.path.lexists(self.place / output.name)

    def begun(self, output: Output) -> int:
        """How many bytes of it are here already."""
        part = self._part(output)
        return part.lstat().st_size if part.is_file() and not part.is_symlink() else 0

    def add(self, output: Output, offset: int, content: bytes) -> None:
        """Write a piece in its place; what was behind it is gone."""
        descriptor = os.open(self._part(output), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        with open(descriptor, "wb") as file:
            file.truncate(offset)
            file.seek(offset)
            file.write(content)

    def finish(self, output: Output, size: int) -> None:
        """All of it is written. It stands in the list first: what is not in it is not ours."""
        self._write({"name": output.name, "attempt": output.attempt, "size": size})
        self._known[output.name] = (output.attempt, size)
        if size:
            self._part(output).replace(self.place / output.name)
        else:
            self._part(output).unlink(missing_ok=True)
            (self.place / output.name).unlink(missing_ok=True)

    def _part(self, output: Output) -> Path:
        return self.place / f".{output.name}.{output.attempt}.part"

    def _read(self) -> list[dict[str, object]]:
        """But for a last line that was cut."""
        try:
            lines = self._list.read_text().splitlines()
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
        descriptor = os.open(self._list, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, PRIVATE)
        with open(descriptor, "rb+") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 1, 0))
            ending = b"" if file.read(1) in (b"", b"\n") else b"\n"
            file.write(ending + json.dumps(line).encode() + b"\n")
