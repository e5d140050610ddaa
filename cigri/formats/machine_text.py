"""TOML and JSON that others wrote, and one kind of error for all that is wrong with such a text."""

import json
import tomllib
from typing import Any

TOO_DEEP = "is nested too deeply"


def read_toml(text: str) -> dict[str, Any]:
    """Raise ValueError where this is no TOML, is nested too deeply, or holds a number that is too long to be meant."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def read_json(text: str | bytes) -> Any:
    """Raise ValueError where this is no JSON or no UTF-8, is nested too deeply, or holds a number that is too long."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
