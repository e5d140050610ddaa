"""Files that users name, read no further than any description or parameter goes: some, as /dev/zero, have no end."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.formats.units import MEGABYTE, as_size

LARGEST_TEXT = 256 * MEGABYTE
"""Bytes of a description; more parameters than that stand in a file of their own."""
LARGEST_LIST = 1024 * MEGABYTE
"""Bytes of a parameter file."""
LONGEST_FILE_LINE = 2 * MEGABYTE
TABLE_DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
LONE_RETURNS = (
    "has carriage returns (CR) between its words, as files have whose lines end by them alone; "
    r"`tr '\r' '\n' <OLD >NEW` makes lines of them"
)
NO_TABLE = "a file with another ending, as .txt, is read as lines of words"


def ending(name: str) -> str:
    """The ending of a file's name, by which it is known what stands in it."""
    return PurePath(name.strip()).suffix.lower()


def is_table(param_file: object) -> bool:
    """Has it rows of named parameters (parameter_tables), and no lines of words?"""
    return isinstance(param_file, str) and ending(param_file) in (*TABLE_DELIMITERS, *JSON_LINES)


def open_file(path: Path) -> BinaryIO:
    """A file or a pipe; raise OSError for anything else."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(None, "it is a device, not a file")
    return path.open("rb")


def read_text(stream: BinaryIO) -> str:
    """The whole text; raise OSError when it has no end, UnicodeDecodeError when it is no UTF-8."""
    content = stream.read(LARGEST_TEXT + 1)
    if len(content) > LARGEST_TEXT:
        raise OSError(None, f"it has more than {as_size(LARGEST_TEXT)}; put its parameters in a param_file")
    return content.decode()


def lines_of(path: Path) -> Iterator[str]:
    """Lines without their ends, newline or CR LF; raise OSError for a device, and for a line or file too long.

    Bytes that are not UTF-8 are surrogates then.
    """
    size = 0
    with open_file(path) as stream:
        while line := stream.readline(LONGEST_FILE_LINE + 1):
            size += len(line)
            if len(line) > LONGEST_FILE_LINE:
                raise OSError(None, f"one of its lines has more than {as_size(LONGEST_FILE_LINE)}")
            if size > LARGEST_LIST:
                raise OSError(None, f"it has more than {as_size(LARGEST_LIST)}")
            line = line.removeprefix(b"\xef\xbb\xbf") if size == len(line) else line
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode(errors="surrogateescape")


@dataclass(frozen=True)
class ParameterFileLines:
    """The lines of a param_file, read anew each time; raise DescriptionError where that cannot be done."""

    path: Path

    def __iter__(self) -> Iterator[str]:
        try:
            for number, line in enumerate(lines_of(self.path), 1):
                if "\r" in line and "\r" in line.strip() and not is_table(self.path.name):
                    raise OSError(None, f"line {number} {LONE_RETURNS}")
                yield line
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise DescriptionError(
                [DescriptionProblem("param_file", f"{self.path} cannot be read: {reason}")]
            ) from None

    def check(self) -> None:
        """Raise DescriptionError where it cannot be read."""
        next(iter(self), None)

    @property
    def can_be_read_again(self) -> bool:
        """A pipe gives its lines once; what cannot be a path, as it is too long or has a NUL, gives none."""
        return os.path.isfile(self.path)
