"""Versions in their order: 1.9 < 1.10rc1 < 1.10 = 1.10.0 < 1.10.1."""

import re

_PART = re.compile(r"([0-9]+)|([^\W\d_]+)")

Part = tuple[int, int, str]
ZERO: Part = (2, 0, "")
END_OF_VERSION: Part = (1, 0, "")


def version(text: str) -> tuple[Part, ...]:
    """To be compared with others; words come before the end, which comes before numbers."""
    parts: list[Part] = []
    for found in _PART.finditer(text):
        if found[1]:
            digits = found[1].lstrip("0")
            parts.append((2, len(digits), digits))
        else:
            _drop_zeros(parts)
            parts.append((0, 0, found[2].lower()))
    _drop_zeros(parts)
    return (*parts, END_OF_VERSION)


def _drop_zeros(parts: list[Part]) -> None:
    while parts and parts[-1] == ZERO:
        parts.pop()
