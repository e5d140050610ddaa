"""What was asked, shortened so that it can be kept: the beginning of what is long, and no secrets."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from cigri.formats.untrusted_text import escape_text

# Names whose values nobody is to read, as far as their names tell.

SECRET = re.compile(r"passw|secret|token|credential|private", re.IGNORECASE)

HIDDEN = "***"


def is_secret(name: str) -> bool:
    return SECRET.search(name) is not None


def without_secrets(config: Any) -> Any:
    """A configuration with the values of telling names hidden."""
    if isinstance(config, dict):
        return {key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in config.items()}
    return [without_secrets(value) for value in config] if isinstance(config, list) else config


MOST_KEPT = 2000  # characters of values and names, in all
CUT = "..."


def redact(asked: Mapping[str, object], most: int = MOST_KEPT) -> dict[str, object]:
    """For jsonb; of anything else than text, numbers, lists and mappings its type alone is kept."""
    return _Abridger(most).mapping(asked)


class _Abridger:
    """Looks at no more than it keeps, however much there is."""

    def __init__(self, most: int) -> None:
        self._left = most

    def mapping(self, values: Mapping[str, object]) -> dict[str, object]:
        kept: dict[str, object] = {}
        for name, value in values.items():
            if self._left <= 0:
                return kept | {CUT: CUT}
            name = self._text(str(name))
            kept[name] = HIDDEN if is_secret(name) and isinstance(value, str) else self._value(value)
        return kept

    def _list(self, values: Iterable[object]) -> list[object]:
        kept: list[object] = []
        for value in values:
            if self._left <= 0:
                return [*kept, CUT]
            self._left -= 1
            kept.append(self._value(value))
        return kept

    def _value(self, value: object) -> object:
        match value:
            case str():
                return self._text(value)
            case None | bool():
                return value
            case float():
                return value if math.isfinite(value) else str(value)
            case int():
                return value if abs(value) < 2**63 else CUT
            case Mapping():
                return self.mapping(value)
            case list() | tuple() | set() | frozenset():
                return self._list(value)
            case _:
                return f"({type(value).__name__})"

    def _text(self, text: str) -> str:
        """PostgreSQL's JSON takes neither NUL nor half a character."""
        kept = escape_text(text[: max(self._left, 0)])
        is_cut = len(text) > self._left
        self._left -= len(text)
        return kept + CUT if is_cut else kept
