"""Patterns mean the same to every Python that CiGri runs on."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for room in ("cigri", "modules") for path in sorted((ROOT / room).rglob("*.py"))]
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
"""Python below 3.11.5 loses matches of such groups, Debian 12's among them; possessive sets of characters are right."""


def test_no_group_is_possessive() -> None:
    lines = [f"{path}: {line}" for path in SOURCES for line in path.read_text().splitlines()]
    assert not [line for line in lines if POSSESSIVE_GROUP.search(line)]


@pytest.mark.parametrize("text", ["(?:a|b)*+", "(a)++", "(a)?+", "(a){2,3}+", "(?>a)"])
def test_a_possessive_group_is_found(text: str) -> None:
    assert POSSESSIVE_GROUP.search(text)
