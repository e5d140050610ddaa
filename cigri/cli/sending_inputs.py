"""What campaigns take along is sent to the grid before them: only what it has not, from where it was cut."""

import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol

from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.inputs import lacked_inputs, send_input, sent_input
from cigri.endpoints.inputs import send_inputs as send_many
from cigri.errors import CigriError
from cigri.formats.units import MEGABYTE
from cigri.inputs.packing import SMALL_INPUT, packed_inputs
from cigri.presentation.formatting import format_size

PIECE_OF_INPUT = 32 * MEGABYTE
"""Bytes of one request: a proxy may bear no more, and what is cut is lost."""
SENT_BLOCK = 2**18
WORTH_TELLING = 8 * MEGABYTE
FEW = 3
"""Files that are worth a question each."""


class Sendable(Protocol):
    """What is sent: by its sum, so many bytes, called so for a person."""

    @property
    def path(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def size(self) -> int: ...
    def open(self) -> BinaryIO: ...


def send_inputs(grid: GridClient, inputs: Sequence[Sendable]) -> None:
    """Raise CigriError where one cannot be sent."""
    if len(inputs) > FEW:
        lacked = {*grid.send(lacked_inputs, [read.sha256 for read in inputs]).sums}
        inputs = [read for read in inputs if read.sha256 in lacked]
        _send_small(grid, [read for read in inputs if read.size <= SMALL_INPUT])
        inputs = [read for read in inputs if read.size > SMALL_INPUT]
    for read in inputs:
        known = grid.call(sent_input, sha256=read.sha256)
        if not known.is_stored:
            with read.open() as content:
                _send(grid, read, content, known.held)


def _send_small(grid: GridClient, inputs: Sequence[Sendable]) -> None:
    """Many in one request; raise CigriError for those that have changed since they were read."""
    total, done = sum(read.size for read in inputs), 0
    for together in _portions(inputs):
        _tell(f"{len(inputs)} files", total, done)
        contents = ((read.sha256, _content(read)) for read in together)
        taken = grid.send_bytes(send_many, packed_inputs(contents))
        if wrong := [read.path for read in together if read.sha256 in {*taken.wrong}]:
            changed = f"{wrong[0]}{f' and {len(wrong) - 1} more' if wrong[1:] else ''}"
            raise CigriError(f"{changed} changed while it was read; submit the campaign again")
        done += sum(read.size for read in together)
    if inputs:
        _tell(f"{len(inputs)} files", total, total)


def _portions(inputs: Sequence[Sendable]) -> Iterator[list[Sendable]]:
    together, bytes = list[Sendable](), 0
    for read in inputs:
        if together and bytes + read.size > PIECE_OF_INPUT:
            yield together
            together, bytes = [], 0
        together.append(read)
        bytes += read.size
    yield from [together] if together else []


def _content(read: Sendable) -> bytes:
    """Of what has grown no more than tells that it has."""
    with read.open() as content:
        return content.read(SMALL_INPUT)


def _send(grid: GridClient, read: Sendable, content: BinaryIO, held: int) -> None:
    """From where it was cut."""
    is_stored = False
    while not is_stored:
        _tell(read.path, read.size, held)
        content.seek(held)
        blocks = _blocks(content, min(PIECE_OF_INPUT, read.size - held))
        now = grid.send_bytes(send_input, blocks, sha256=read.sha256, size=read.size, offset=held)
        if not now.is_stored and now.held <= held:
            raise CigriError(f"{read.path} is not taken: {now.held} bytes are there, after {held} and more were sent")
        held, is_stored = now.held, now.is_stored
    _tell(read.path, read.size, read.size)


def _blocks(content: BinaryIO, most: int) -> Iterator[bytes]:
    while most > 0 and (block := content.read(min(SENT_BLOCK, most))):
        most -= len(block)
        yield block


def _tell(name: str, of: int, held: int) -> None:
    if of >= WORTH_TELLING and sys.stderr.isatty():
        print(f"\r{name}: {format_size(held)} of {format_size(of)}", end="\n" if held >= of else "", file=sys.stderr)
