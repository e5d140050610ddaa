"""What campaigns take along is sent to the grid before them: only what it has not, from where it was cut."""

import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from cigri.cli.wording import size
from cigri.endpoints.calling import Grid
from cigri.endpoints.inputs import send_input, sent_input
from cigri.errors import CigriError
from cigri.inputs.reading import ReadInput
from cigri.text.units import MEGABYTE

PIECE_OF_INPUT = 32 * MEGABYTE
"""Bytes of one request: a proxy may bear no more, and what is cut is lost."""
SENT_BLOCK = 2**18
WORTH_TELLING = 8 * MEGABYTE


def send_inputs(grid: Grid, inputs: Sequence[ReadInput]) -> None:
    """Raise CigriError where one cannot be sent."""
    for read in inputs:
        known = grid.ask(sent_input, sha256=read.sha256)
        if not known.is_stored:
            with read.open() as content:
                _send(grid, read, content, known.held)


def _send(grid: Grid, read: ReadInput, content: BinaryIO, held: int) -> None:
    """From where it was cut."""
    is_stored = False
    while not is_stored:
        _tell(read, held)
        content.seek(held)
        blocks = _blocks(content, min(PIECE_OF_INPUT, read.size - held))
        now = grid.send_bytes(send_input, blocks, sha256=read.sha256, size=read.size, offset=held)
        if not now.is_stored and now.held <= held:
            raise CigriError(f"{read.path} is not taken: {now.held} bytes are there, after {held} and more were sent")
        held, is_stored = now.held, now.is_stored
    _tell(read, read.size)


def _blocks(content: BinaryIO, most: int) -> Iterator[bytes]:
    while most > 0 and (block := content.read(min(SENT_BLOCK, most))):
        most -= len(block)
        yield block


def _tell(read: ReadInput, held: int) -> None:
    if read.size >= WORTH_TELLING and sys.stderr.isatty():
        print(
            f"\r{read.path}: {size(held)} of {size(read.size)}", end="\n" if held >= read.size else "", file=sys.stderr
        )
