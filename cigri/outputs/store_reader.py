"""Outputs in the store of the grid are read as they would be on a cluster: in their order, behind one of them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

from cigri.formats.untrusted_text import leads_below
from cigri.outputs.brought import OutputFile
from cigri.outputs.confined_directory import ConfinedDirectory
from cigri.outputs.destination import OutputDestination
from cigri.outputs.downloading import ReportedFile

BYTES_OF_HEAD = 512  # bytes that tell one file from the next


def read_stored(
    place: OutputDestination, tasks: Sequence[tuple[int, int]], behind: OutputFile | None, most: int
) -> list[ReportedFile]:
    """Of tasks, by number and attempt, as many files as have room in `most` bytes; perhaps a part of the last."""
    told: list[ReportedFile] = []
    if not place.root.is_dir():
        return told
    after = (behind.number, _key(behind.path)) if behind else (-1, b"")
    with closing(ConfinedDirectory(place.root)) as store:
        for number, attempt in sorted(tasks):
            for path in _paths(store, place.name(number)):
                if (number, _key(path)) <= after:
                    continue
                if most <= BYTES_OF_HEAD:
                    return told
                file = OutputFile(number, attempt, path)
                piece = _read(store, place, file, 0, most - BYTES_OF_HEAD)
                most -= BYTES_OF_HEAD + len(piece.content)
                told.append(piece)
    return told


def read_stored_rest(place: OutputDestination, file: OutputFile, offset: int, most: int) -> list[ReportedFile]:
    """At most so many bytes of one file from an offset on; nothing where there is no such file."""
    with suppress(FileNotFoundError, NotADirectoryError), closing(ConfinedDirectory(place.root)) as store:
        return [_read(store, place, file, offset, most)]
    return []


def _read(store: ConfinedDirectory, place: OutputDestination, file: OutputFile, offset: int, most: int) -> ReportedFile:
    assert leads_below(file.path)
    name = f"{place.name(file.number)}/{os.fsdecode(file.path)}"
    with open(store.open_below(name, os.O_RDONLY | os.O_NONBLOCK), "rb") as content:
        content.seek(offset)
        return ReportedFile(
            file.number, file.attempt, file.path, os.fstat(content.fileno()).st_size, content.read(most)
        )


def _paths(store: ConfinedDirectory, name: str) -> Iterator[bytes]:
    yield from sorted((os.fsencode(path) for path in store.files(name)), key=_key)


def _key(path: bytes) -> bytes:
    return path.replace(b"\n", b"\1")
