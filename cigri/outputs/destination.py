"""Where outputs come to by themselves: a path from / on in which {number} stands for the number of the task."""

from pathlib import Path
from typing import NamedTuple

NUMBER = "{number}"
NOTHING_WORDS = ("none", "false", "")
"""What CiGri 3's fields say where they say nothing."""


class OutputDestination(NamedTuple):
    """A directory, and the names in it of those of tasks."""

    root: Path
    below: str

    def name(self, number: int) -> str:
        """Of the directory of a task, relative to the root."""
        return self.below.replace(NUMBER, str(number))

    def place(self, number: int) -> Path:
        """The same from / on."""
        return self.root / self.name(number)


def read_destination(to: str) -> OutputDestination:
    """The first step with the number in it, and what follows, are made for each task."""
    steps = to.split("/")
    first = next(index for index, step in enumerate(steps) if NUMBER in step)
    return OutputDestination(Path("/".join(steps[:first]) or "/"), "/".join(steps[first:]))


def resolve_destinations(described: object, base: Path) -> object:
    """A description in which `collect.to` is a path from / on, here and in the blocks of clusters; else as it is.

    So is CiGri 3's `output_destination`, where it says something.
    """
    if not isinstance(described, dict):
        return described
    resolved = {key: _resolved(key, value, base) for key, value in described.items()}
    for key, blocks in resolved.items():
        if key.lower() == "clusters" and isinstance(blocks, dict):
            resolved[key] = {
                name: {key: _resolved(key, value, base) for key, value in block.items()}
                if isinstance(block, dict)
                else block
                for name, block in blocks.items()
            }
    return resolved


def _resolved(key: object, value: object, base: Path) -> object:
    match str(key).lower(), value:
        case "collect", {"to": str(to), **others} if to.strip():
            return {**others, "to": _from_root(to, base)}
        case "output_destination", str(to) if to.strip().lower() not in NOTHING_WORDS:
            return _from_root(to, base)
        case _:
            return value


def _from_root(to: str, base: Path) -> str:
    home = to if to[:2] not in ("~", "~/") else f"{Path.home()}{to[1:]}"
    return str((base / home).absolute())
