"""Relative paths of programs and directories, where the cluster is this host: they begin where the description lies."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cigri.cli.description_source import PreparedSubmission
from cigri.endpoints.clusters import clusters
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.paging import walk
from cigri.endpoints.remote_portal import find_elsewhere

DOTS = (".", "..")
"""First steps of an exec_directory that is meant from the description on."""


def place_here(grid: GridClient, handed: Iterable[PreparedSubmission], *, is_local: bool) -> None:
    """Write whole paths into the descriptions where they run on this host; `is_local`: all that is submitted does."""
    wanted = [each for each in handed if _may_be_meant(each)]
    if not wanted or find_elsewhere(os.environ) is not None:
        return
    known = {each.cluster.name: each.cluster.config for each in walk(grid, clusters)}
    here = {name for name, config in known.items() if config.get("driver") == "local" and not config.get("ssh")}
    for each in wanted:
        each.described = _placed(each.described, each.base, here, is_everywhere=is_local or here == known.keys())


def _may_be_meant(each: PreparedSubmission) -> bool:
    blocks = [each.described, *_blocks(each.described).values()] if isinstance(each.described, dict) else []
    return any(_changed(block, {}, each.base) for block in blocks if isinstance(block, dict))


def _placed(described: Any, base: Path, here: set[str], *, is_everywhere: bool) -> dict[str, Any]:
    """The description, in which each cluster that is this host has its own paths."""
    top = {key.lower(): value for key, value in described.items()}
    blocks = _blocks(described)
    if is_everywhere:
        top |= _changed(top, {}, base)
    placed = {
        name: {**(block or {}), **_changed(block or {}, top, base)} if name in here or is_everywhere else block
        for name, block in blocks.items()
    }
    return {**top, "clusters": placed} if placed != blocks else top


def _blocks(described: Mapping[str, Any]) -> dict[str, dict[str, Any] | None]:
    """What each cluster has of its own; nothing, where that is no such thing or the grid chooses the clusters."""
    [written, *_] = [*(value for key, value in described.items() if key.lower() == "clusters"), None]
    if isinstance(written, list) and all(isinstance(name, str) for name in written):
        return dict.fromkeys(written)
    is_right = isinstance(written, dict) and all(block is None or isinstance(block, dict) for block in written.values())
    return written if is_right else {}


def _changed(block: Mapping[str, Any], top: Mapping[str, Any], base: Path) -> dict[str, str]:
    """The fields of a block, or of the top where the block has none, that mean something else here."""
    fields = {**top, **{key.lower(): value for key, value in block.items() if value is not None}}
    directory, command = fields.get("exec_directory"), fields.get("exec_file")
    if isinstance(directory, str):
        is_meant = directory.strip().split("/")[0] in DOTS
        return {"exec_directory": os.path.normpath(base.absolute() / directory.strip())} if is_meant else {}
    if not isinstance(command, str) or directory is not None:
        return {}
    program = _program(command)
    if not program or program in _taken_along(fields) or not (base / program).is_file():
        return {}
    path = os.path.normpath(base.absolute() / program)
    return {"exec_file": shlex.quote(path) + command.strip().removeprefix(program)}


def _program(command: str) -> str:
    """The first word, where it is the relative path of a program and nothing more has to be known of it; or ""."""
    word, *_ = [*command.split(), ""]
    is_plain = shlex.quote(word) == word and not word.startswith(("~", "/"))
    return word if is_plain and "/" in word else ""


def _taken_along(fields: Mapping[str, Any]) -> set[str]:
    """What tasks find in their own directories, as programs there are called."""
    names = {name for field in ("inputs", "task_inputs") for name in _names(fields.get(field))}
    return names | {f"./{name}" for name in names}


def _names(value: Any) -> Iterator[str]:
    files = value.get("files", []) if isinstance(value, dict) else value if isinstance(value, list) else []
    return (file["to"] for file in files if isinstance(file, dict) and isinstance(file.get("to"), str))
