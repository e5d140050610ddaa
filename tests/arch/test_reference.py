"""docs/reference holds what the code has, and all of it."""

import ast
import re
from pathlib import Path

import pytest

from cigri.presentation.event_codes import CODES_OF_CAMPAIGNS, OF_THE_GRID
from tests.arch.commands import ROOT
from tests.arch.reference import PAGES, PLACE, is_number, model_of, sections, table_meanings, unit_of

KNOWN = CODES_OF_CAMPAIGNS.keys() | OF_THE_GRID.keys()
CODE = re.compile(r"(?=.{4})[A-Z]+(_[A-Z]+)*")
MAKING = re.compile(r"\b(NewEvent|put_failure)\(")
SOURCES = [path for room in ("cigri", "modules") for path in sorted((ROOT / room).rglob("*.py"))]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_code_has_it(name: str) -> None:
    assert (PLACE / name).read_text() == PAGES[name](), "run python -P -m tests.arch.reference"


def test_each_event_that_is_made_is_explained() -> None:
    made = {code for path in SOURCES if MAKING.search(path.read_text()) for code in _words(path)}
    assert made - KNOWN == set()


def test_each_event_that_is_explained_is_made() -> None:
    words = {code for path in SOURCES if path.name != "event_codes.py" for code in _words(path)}
    assert KNOWN - words == set()


def test_each_table_says_what_it_holds() -> None:
    assert [name for name, meaning in table_meanings() if not meaning] == []


def test_each_setting_says_what_it_means_and_each_number_what_it_counts() -> None:
    fields = {
        f"{title} {name}": field
        for title, section in sections()
        for name, field in section.model_fields.items()
        if not model_of(field)
    }
    assert [name for name, field in fields.items() if not field.description] == []
    assert [name for name, field in fields.items() if is_number(field) and not unit_of(field)] == []


def _words(path: Path) -> set[str]:
    """Constants that are written as codes are, docstrings left out."""
    found = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return {value for value in found if isinstance(value, str) and CODE.fullmatch(value)}
