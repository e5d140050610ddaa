"""A campaign's description as pages show it, and as a form holds it; pure."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

LONGEST_DESCRIPTION = 20_000  # characters of a description on a campaign's page
LONGEST_FILLED = 200_000  # characters of what a form begins with
FACTS = {"exec_file": "command", "resources": "resources", "walltime": "walltime"}


class FormText(NamedTuple):
    """What a form begins with; `is_whole`: not without parameters, which would be too much for it."""

    described: str
    lines: str
    is_whole: bool


def as_text(described: dict[str, Any]) -> str:
    """JSON, a field a line."""
    return json.dumps(described, indent=2, ensure_ascii=False)


def what_runs(described: dict[str, Any]) -> list[tuple[str, str]]:
    """What it asks for, by what that is called; where clusters differ, each way once."""
    blocks = described.get("clusters")
    settings = [block for block in blocks.values() if isinstance(block, dict)] if isinstance(blocks, dict) else []
    told = []
    for key, word in FACTS.items():
        values = [block[key] for block in (described, *settings) if key in block]
        if values:
            told.append((word, "; ".join(dict.fromkeys(map(_value_text, values)))))
    return told


def fill_form(described: dict[str, Any], parameters: Sequence[object] | None) -> FormText:
    """A description, and its parameters below it where each is a line; None: they are too many."""
    if parameters is None or len(as_text({"": [*parameters]})) > LONGEST_FILLED:
        return FormText(as_text(described), "", False)
    if all(isinstance(one, str) and one.strip() and one.splitlines() == [one] for one in parameters):
        return FormText(as_text(described), "\n".join(map(str, parameters)), True)
    return FormText(as_text({**described, "params": [*parameters]}), "", True)


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value_text(inner)}" for key, inner in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
