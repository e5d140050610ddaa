"""What `gridsub --check` finds where jobs run on this very host: the program, and the directory where it starts."""

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cigri.api_models.submissions import HostPath, LocalProgramStart


class MissingOnHost(NamedTuple):
    """What tasks would miss, and whether nothing of the campaign can make it before."""

    sentence: str
    is_certain: bool


def missing_here(starts: Iterable[LocalProgramStart]) -> Iterator[MissingOnHost]:
    """Each thing that tasks would miss, once, as the caller sees this host."""
    found = (
        MissingOnHost(f"{start.cluster}: {sentence}", not start.may_be_made)
        for start in starts
        for sentence in _missing(start)
    )
    yield from dict.fromkeys(found)


def _missing(start: LocalProgramStart) -> Iterator[str]:
    directory, program = Path(_path(start.directory)), _path(start.program)
    search = start.search if start.search is not None else os.environ.get("PATH", os.defpath)
    for sentence in chain(_faults_of_directory(directory), _faults_of_program(program, directory, search)):
        yield f"{sentence}, unless the prologue makes it" if start.may_be_made else sentence


def _faults_of_directory(directory: Path) -> Iterator[str]:
    if os.path.isdir(directory):
        if not os.access(directory, os.X_OK):
            yield f"exec_directory {directory} cannot be entered by you: tasks would end with exit code 72"
        return
    above = next(parent for parent in (directory, *directory.parents) if os.path.lexists(parent))
    if not os.path.isdir(above) or not os.access(above, os.W_OK | os.X_OK):
        yield f"exec_directory {directory} is not there and you cannot make it: tasks would end with exit code 72"


def _faults_of_program(program: str, directory: Path, search: str) -> Iterator[str]:
    path = str(directory / program) if "/" in program else shutil.which(program, path=search)
    if path is None or not os.path.exists(path):
        yield f"there is no program {path or program} here: tasks would end with exit code 127"
    elif os.path.isdir(path) or not os.access(path, os.X_OK):
        yield f"{path} cannot be executed by you: tasks would end with exit code 126; perhaps `chmod +x {path}`"


def _path(path: HostPath) -> str:
    return os.path.expanduser("~") + path.text if path.is_below_home else path.text
