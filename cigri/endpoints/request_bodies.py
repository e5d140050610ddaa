"""What is streamed to an endpoint: one JSON value a line, in a file that nobody else sees until all of it is there."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NoReturn, Self

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.formats.units import MEGABYTE, as_size

LARGEST_STREAM = 1024 * MEGABYTE
"""Bytes."""
LONGEST_BODY_LINE = 16 * MEGABYTE
"""Bytes: of a description, parameters that follow it apart, or of one parameter."""
BLOCK = 2**18  # bytes that are sent at a time


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


DECODE = json.JSONDecoder(parse_constant=_no_number).raw_decode
"""A value at a place, and where it ends."""


class SpooledBody:
    """The lines of a file without a name, which is gone with the process (in $TMPDIR, as tempfile chooses it)."""

    def __init__(self, largest: int = LARGEST_STREAM) -> None:
        self._file: BinaryIO = TemporaryFile()  # noqa: SIM115  # closed by close
        self._size, self._newlines, self._largest = 0, 0, largest
        self._is_ended = True
        self._hash = sha256()

    def write(self, block: bytes) -> None:
        """Raise DescriptionError when it becomes too large."""
        self._size += len(block)
        if self._size > self._largest:
            raise DescriptionError(
                [DescriptionProblem("the parameters", f"are more than {as_size(self._largest)} of JSON")]
            )
        self._newlines += block.count(b"\n")
        self._is_ended = block.endswith(b"\n") if block else self._is_ended
        self._hash.update(block)
        self._file.write(block)

    @property
    def file(self) -> BinaryIO:
        """From its beginning: of what are no lines."""
        self._file.seek(0)
        return self._file

    @property
    def size(self) -> int:
        """Bytes."""
        return self._size

    def digest(self, *asked: object) -> str:
        """The same for what was sent together with the same, and for nothing else."""
        whole = self._hash.copy()
        whole.update(repr(asked).encode())
        return whole.hexdigest()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return self._newlines + (not self._is_ended)

    def first(self, number: int = 0) -> object:
        """The value of the first line, or of this one; raise DescriptionError when there is none."""
        for value in self.values(number):
            return value
        raise DescriptionError([DescriptionProblem("the description", "is empty")])

    def values(self, first: int) -> Iterator[object]:
        """From a line on; raise DescriptionError for one that is no JSON. Each has a place of its own in the file."""
        self._file.flush()
        with Path(f"/proc/self/fd/{self._file.fileno()}").open("rb") as lines:
            for number in range(min(first, self.count)):
                _read_line(lines, number)
            number = first
            while block := lines.read(BLOCK):
                if not block.endswith(b"\n"):
                    block += _read_line(lines, number + block.count(b"\n"), len(block) - block.rfind(b"\n") - 1)
                yield from _values(block, number)
                number += block.count(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@dataclass(frozen=True)
class SpooledLines:
    """Read anew each time; without the line `end`, and what is behind it."""

    body: SpooledBody
    first: int
    end: int | None = None

    def __len__(self) -> int:
        return max(0, (self.body.count if self.end is None else self.end) - self.first)

    def __iter__(self) -> Iterator[object]:
        return islice(self.body.values(self.first), len(self))

    def last(self) -> object:
        """The value of the last line."""
        return self.body.first(self.first + len(self) - 1)


def as_body(values: Iterable[object]) -> Iterator[bytes]:
    """As a body, in blocks; raise DescriptionError for what no JSON can hold."""
    encode = json.JSONEncoder(default=str).encode
    lines: list[str] = []
    size = 0
    for value in values:
        try:
            lines.append(encode(value))
        except (RecursionError, ValueError):
            hint = "numbers of so many digits, and lists so deep, are none that are meant"
            raise DescriptionError([DescriptionProblem("the description", "cannot be handed over", hint)]) from None
        size += len(lines[-1])
        if size >= BLOCK:
            yield _block(lines)
            lines, size = [], 0
    if lines:
        yield _block(lines)


def _read_line(lines: BinaryIO, number: int, before: int = 0) -> bytes:
    """To its end, after so many bytes of it."""
    line = lines.readline(LONGEST_BODY_LINE - before + 1)
    if before + len(line) > LONGEST_BODY_LINE:
        raise _refused(number, f"has more than {as_size(LONGEST_BODY_LINE)}")
    return line


def _values(block: bytes, first: int) -> list[object]:
    """Of whole lines, the first with this number; all at once, and line by line where they are not just JSON."""
    try:
        text = block.decode()
        if not text.endswith("\n"):
            text += "\n"
        values, at = [], 0
        while at < len(text):
            value, at = DECODE(text, at)
            if text[at] != "\n":
                break
            at += 1
            values.append(value)
        if len(values) == text.count("\n"):  # else a value went over the end of its line, or something else is wrong
            return values
    except (ValueError, RecursionError):
        pass
    lines = block.removesuffix(b"\n").split(b"\n")
    return [_value(line, number) for number, line in enumerate(lines, start=first)]


def _value(line: bytes, number: int) -> object:
    try:
        text = line.decode().strip()
        value, end = DECODE(text)
    except (ValueError, RecursionError) as error:
        raise _refused(number, f"is no JSON: {error}") from None
    if end != len(text):
        raise _refused(number, "is no JSON: more follows its value")
    return value


def _refused(number: int, message: str) -> DescriptionError:
    return DescriptionError([DescriptionProblem(f"line {number + 1} of what was sent", message)])


def _block(lines: Sequence[str]) -> bytes:
    return "\n".join([*lines, ""]).encode("ascii")
