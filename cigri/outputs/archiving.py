"""The outputs of a campaign in the store as one tar file, made while it is read: nothing of it is kept in memory.

Its names begin with a directory of the campaign's; what a cluster has told is a name below it and nothing else.
"""

import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import closing

from cigri.errors import CigriError
from cigri.formats.untrusted_text import leads_below
from cigri.outputs.confined_directory import ConfinedDirectory
from cigri.outputs.destination import OutputDestination
from cigri.private_files import PRIVATE_FILE

PIECE_OF_ARCHIVE = 2**16  # bytes that are read at once
END_OF_TAR = bytes(2 * tarfile.BLOCKSIZE)
BACKSLASH = "%5C"


def archive_pieces(place: OutputDestination, campaign_id: int, numbers: Iterable[int]) -> Iterator[bytes]:
    """Of these tasks; raise CigriError where a file is not what it was when it was begun, and so cut it."""
    piece = bytearray()
    for part in _parts(place, campaign_id, numbers):
        piece += part
        if len(piece) >= PIECE_OF_ARCHIVE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece) + END_OF_TAR


def _parts(place: OutputDestination, campaign_id: int, numbers: Iterable[int]) -> Iterator[bytes]:
    if not place.root.is_dir():
        return
    with closing(ConfinedDirectory(place.root)) as store:
        for number in numbers:
            task = place.name(number)
            for path in sorted(store.files(task)):
                if leads_below(os.fsencode(path)):
                    descriptor = store.open_below(f"{task}/{path}", os.O_RDONLY | os.O_NONBLOCK)
                    yield from _member(descriptor, f"campaign-{campaign_id}/{number}/{path}")


def _member(descriptor: int, name: str) -> Iterator[bytes]:
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        member = tarfile.TarInfo(name.replace("\\", BACKSLASH))  # which Windows takes for the end of a directory's name
        member.size, member.mode, member.mtime = found.st_size, PRIVATE_FILE, int(found.st_mtime)
        yield member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
        left = found.st_size
        while left:
            content = file.read(min(left, PIECE_OF_ARCHIVE))
            if not content:
                raise CigriError(f"{name} has become shorter while it was read")
            left -= len(content)
            yield content
        yield bytes(-found.st_size % tarfile.BLOCKSIZE)
