"""No function is longer than a screen, and what answers for a page stands where it is found."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

from modules.portal.change_stream import change_pages
from modules.portal.pages import PAGES_OF_OPERATORS, PAGES_OF_USERS
from modules.portal.rendering.page_router import PageRouter

ROOT = Path(__file__).parents[2]
MAX_LINES = 60


def long_functions(root: Path) -> Iterator[str]:
    """Those of `root` with their lines; migrations tell what once was, and stay as they are."""
    for room in ("cigri", "modules", "tests"):
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    lines = (node.end_lineno or node.lineno) - node.lineno + 1
                    if lines > MAX_LINES:
                        yield f"{path.relative_to(root)}: {node.name} has {lines} lines"


def page_handlers(*routers: PageRouter) -> list[Callable[..., Any]]:
    return [route.endpoint for router in routers for route in router.routes if isinstance(route, APIRoute)]


def test_no_function_has_more_than_sixty_lines() -> None:
    assert list(long_functions(ROOT)) == []


def test_a_long_function_is_noticed(tmp_path: Path) -> None:
    for room in ("cigri", "modules", "tests"):
        (tmp_path / room).mkdir()
    (tmp_path / "cigri" / "long.py").write_text(
        "def short():\n    pass\n\n\nasync def endless():\n" + "    pass\n" * 60
    )
    assert list(long_functions(tmp_path)) == ["cigri/long.py: endless has 61 lines"]


def test_what_answers_for_a_page_is_a_function_of_its_module() -> None:
    handlers = page_handlers(*PAGES_OF_USERS, *PAGES_OF_OPERATORS, change_pages)
    assert len(handlers) > 30
    assert [handler.__qualname__ for handler in handlers if "<locals>" in handler.__qualname__] == []


def test_each_file_of_pages_is_served() -> None:
    served = {handler.__module__ for handler in page_handlers(*PAGES_OF_USERS, *PAGES_OF_OPERATORS)}
    files = (ROOT / "modules" / "portal" / "pages").glob("[a-z]*.py")
    assert served == {f"modules.portal.pages.{path.stem}" for path in files}
