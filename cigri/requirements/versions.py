"""Versions in their order: 1.9 < 1.10rc1 < 1.10 = 1.10.0 < 1.10.1."""

import re

_PART = re.compile(r"([0-9]+)|([^\W\d_]+)")

Part = tuple[int, int, str]
ZERO: Part = (2, 0, "")
END_OF_VERSION: Part = (1, 0, "")


def version(text: str) -> tuple[Part, ...]:
    """A key to compare versions by; in it words come before the end of a version, which comes before numbers."""
    parts: list[Part] = []
    for part in _PART.finditer(text):
        if part[1]:
            digits = part[1].lstrip("0")
            parts.append((2, len(digits), digits))
        else:
            _drop_zeros(parts)
            parts.append((0, 0, part[2].lower()))
    _drop_zeros(parts)
    return (*parts, END_OF_VERSION)


def _drop_zeros(parts: list[Part]) -> None:
    while parts and parts[-1] == ZERO:
        parts.pop()
