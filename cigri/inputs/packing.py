"""Small files on their way to the grid, many in one request: of each a line with its sum and size, then its bytes."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from cigri.errors import UsageError
from cigri.jdl.inputs import SHA256

SMALL_INPUT = 2**18
"""Bytes; larger ones go alone, and are resumed."""
LONGEST_HEAD = 100


def packed_inputs(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """By their sums."""
    for sum, content in files:
        yield f"{sum} {len(content)}\n".encode() + content


def unpacked_inputs(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Raise UsageError for what is not packed so."""
    while head := stream.readline(LONGEST_HEAD):
        sum, _, length = head.decode(errors="replace").strip().partition(" ")
        if not SHA256.fullmatch(sum) or not length.isdecimal() or int(length) > SMALL_INPUT:
            raise UsageError(f"{head[:80]!r} is not the sum and size of a file of at most {SMALL_INPUT} bytes")
        content = stream.read(int(length))
        if len(content) < int(length):
            raise UsageError(f"the file {sum} was cut")
        yield sum, content
