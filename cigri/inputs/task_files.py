"""The files of single tasks are read as their user, each once: which task has which is a list that is sent as well."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.inputs.reading import InputReader, LocalInput, named
from cigri.inputs.sums import written_sums
from cigri.jdl.command import Filling
from cigri.jdl.parameters import Parameter, names_of, parse_source
from cigri.jdl.problems import ProblemCounter
from cigri.jdl.sweep import SizedIterable

FIELD = "task_inputs"


class TaskChecksums(NamedTuple):
    """What is sent beside the files: the sums of those of each task."""

    text: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.text).hexdigest()

    @property
    def size(self) -> int:
        return len(self.text)

    @property
    def path(self) -> str:
        return FIELD

    def open(self) -> BinaryIO:
        """To be sent."""
        return BytesIO(self.text)


class ReadTaskFiles(NamedTuple):
    """`described`: as a description has them; the files, each once, and which task has which."""

    described: dict[str, Any]
    files: list[LocalInput]
    sums: TaskChecksums


def read_described(
    described: object, beside: Iterable[object], base: Path
) -> tuple[object, list[LocalInput | TaskChecksums]]:
    """The description with the files of its tasks as they were read, and what is to be sent.

    Relative paths are from `base` on. Raise DescriptionError for what cannot be read.
    """
    keys = [key for key in described if key.lower() == FIELD] if isinstance(described, dict) else []
    if not isinstance(described, dict) or len(keys) != 1 or not isinstance(wanted := described[keys[0]], list | str):
        return described, []
    if not (wanted := [wanted] if isinstance(wanted, str) else wanted):
        return described, []
    problems: list[DescriptionProblem] = []
    tasks = parse_source({key.lower(): value for key, value in described.items()}, list(beside), problems)
    if tasks is None:
        raise DescriptionError(problems)
    read = read_files(wanted, tasks, 0, base)
    return {**described, keys[0]: read.described}, [*read.files, read.sums]


def read_files(wanted: Sequence[object], tasks: SizedIterable[Parameter], first: int, base: Path) -> ReadTaskFiles:
    """Of tasks that are numbered from `first` on; raise DescriptionError for what cannot be read."""
    try:
        files = [named(value) for value in wanted]
    except ValueError as error:
        raise DescriptionError([DescriptionProblem(FIELD, str(error))]) from None
    reader = InputReader(base)
    names = names_of(next(iter(tasks), None))
    paths = [Filling(path, names) for path, _ in files]
    problems: list[DescriptionProblem] = []
    faults = ProblemCounter(problems, "files of tasks cannot be read")

    def sums() -> Iterator[list[str]]:
        for number, parameter in enumerate(tasks, start=first):
            own = []
            for path in paths:
                try:
                    own.append(reader.read_file(path.of(parameter, number)).sha256)
                except (OSError, ValueError, KeyError) as error:
                    faults.add(FIELD, f"of task {number}: {_reason(error)}")
            yield own

    text = "".join(written_sums(first, sums())).encode()
    faults.close(FIELD)
    if problems:
        raise DescriptionError(problems)
    read, listed = list(reader.found.values()), TaskChecksums(text)
    described = {
        "files": [{"path": path, "to": to} for path, to in files],
        "sums": listed.sha256,
        "number": len(read),
        "size": sum(file.size for file in read),
    }
    return ReadTaskFiles(described, read, listed)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is not known when the files are read"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
