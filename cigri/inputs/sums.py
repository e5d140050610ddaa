"""Which files each task takes along: a text with a line for each task, of the SHA-256 sums of its files in order."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from cigri.errors import UsageError
from cigri.jdl.inputs import SHA256

HEAD = "cigri-task-inputs 1 "
LENGTH_OF_SUM = 65  # characters, with a space


def written_sums(first: int, tasks: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of tasks that are numbered from `first` on."""
    yield f"{HEAD}{first}\n"
    yield from (" ".join(sums) + "\n" for sums in tasks)


def read_sums(content: BinaryIO, first: int, files: int) -> Iterator[list[str]]:
    """Of each task, which has so many files; raise UsageError for anything else."""
    head = content.readline(len(HEAD) + 30).decode(errors="replace")
    if not head.startswith(HEAD) or head.removeprefix(HEAD).strip() != str(first):
        raise UsageError(f"task_inputs: the sums are not those of tasks from number {first} on: submit again")
    most = files * LENGTH_OF_SUM + 2  # bytes of a line: whoever sends one without an end fills no memory with it
    for number, line in enumerate(iter(partial(content.readline, most), b""), start=first):
        sums = line.decode(errors="replace").split()
        if len(sums) != files or not all(map(SHA256.fullmatch, sums)):
            raise UsageError(f"task_inputs: the line of task {number} has not the sums of {files} files")
        yield sums
