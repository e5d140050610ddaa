"""What `gridsub --check` finds where jobs run on this very host: the program, and the directory where it starts."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cigri.cli.command import complain
from cigri.script.words import Word

if TYPE_CHECKING:
    from cigri.cli.submitting import Candidate
    from cigri.jdl import ClusterSettings, Description
    from cigri.settings.cluster import ClusterConfig

LOOKED_AT = 100  # tasks


def tell_missing(candidates: "Iterable[Candidate]", clusters: "Mapping[str, ClusterConfig]") -> None:
    """A warning each: by the time that its tasks run it may be there."""
    for candidate in candidates:
        for sentence in missing_here(candidate.description, clusters):
            complain(f"{candidate.name}: {sentence}")


def missing_here(description: "Description", clusters: "Mapping[str, ClusterConfig]") -> Iterator[str]:
    """One sentence for each thing that tasks would miss, as the caller sees this host."""
    for name, settings in description.clusters.items():
        if name in clusters and clusters[name].in_use.driver == "local" and clusters[name].in_use.ssh is None:
            doubt = ", unless the prologue makes it" if settings.prologue else ""
            sentences = (f"{name}: {sentence}{doubt}" for sentence in _missing(description, settings))
            yield from dict.fromkeys(sentences)


def _missing(description: "Description", settings: "ClusterSettings") -> Iterator[str]:
    from cigri.jdl import Command

    command = Command(settings, description.names)
    for number, parameter in enumerate(islice(description.parameters(), LOOKED_AT)):
        about = {"campaign_id": 0, "number": number}
        directory = Path(_path(command.directory(parameter, **about)))
        program = _path(command.words(parameter, **about)[0])
        search = command.environment(parameter, **about).get("PATH", os.environ.get("PATH", os.defpath))
        yield from _about_directory(directory)
        yield from _about_program(program, directory, search)


def _about_directory(directory: Path) -> Iterator[str]:
    if directory.is_dir():
        if not os.access(directory, os.X_OK):
            yield f"exec_directory {directory} cannot be entered by you: tasks would end with exit code 72"
        return
    above = next(parent for parent in (directory, *directory.parents) if os.path.lexists(parent))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        yield f"exec_directory {directory} is not there and you cannot make it: tasks would end with exit code 72"


def _about_program(program: str, directory: Path, search: str) -> Iterator[str]:
    found = str(directory / program) if "/" in program else shutil.which(program, path=search)
    if found is None or not os.path.exists(found):
        yield f"there is no program {program} here: tasks would end with exit code 127"
    elif os.path.isdir(found) or not os.access(found, os.X_OK):
        yield f"{found} cannot be executed by you: tasks would end with exit code 126; perhaps `chmod +x {found}`"


def _path(word: Word) -> str:
    return os.path.expanduser("~") + word.text if word.at_home else word.text
