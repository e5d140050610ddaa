"""A command that a shell reads: where a description says so, its line becomes words that ask sh to run it."""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from cigri.errors import DescriptionProblem
from cigri.jdl.quoting import expanded_by_sh, is_balanced, split
from cigri.jdl.value_types import truth

SHELL_FIELD = "shell"
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_VARIABLE_IN_BRACES = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def read_by_shell(
    given: Mapping[str, Any], place: Callable[..., str], problems: list[DescriptionProblem]
) -> dict[str, Any]:
    """The settings without `shell`; where it is true, sh reads `exec_file`, and the task's parameter stands behind it.

    What is no line for a shell is left as it is, for whoever checks it.
    """
    rest = {key: value for key, value in given.items() if key != SHELL_FIELD}
    try:
        is_wanted = truth(given.get(SHELL_FIELD) or False)
    except ValueError as error:
        problems.append(DescriptionProblem(place(SHELL_FIELD), str(error)))
        return rest
    line = rest.get("exec_file")
    if is_wanted and isinstance(line, str) and line.strip() and is_balanced(line.strip()):
        rest["exec_file"] = f"sh -c {shlex.quote(_for_sh(line.strip()))} sh"
    return rest


def needs_shell(line: str) -> bool:
    """Is it a line that does its work only where a shell reads it?"""
    words = split(line.strip()) if is_balanced(line.strip()) else []
    return bool(words) and (bool(expanded_by_sh(line)) or _ASSIGNED.match(words[0]) is not None)


def _for_sh(line: str) -> str:
    """With the parameter's words behind it; `{HOME}` and `${NAME}` as sh has them, which are no names of parameters."""
    text = line.replace("${HOME}", "$HOME").replace("{HOME}", "$HOME")
    return _VARIABLE_IN_BRACES.sub(r"${\1-}", text) + ' "$@"'
