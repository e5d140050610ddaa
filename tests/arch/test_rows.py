"""Rows of the database are read by the names of their columns: no number and no slice says which one is meant."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arch.ends import ROOT

FILES = [path for room in ("cigri/flow", "modules") for path in sorted((ROOT / room).rglob("*.py"))]
ONE = {"one", "one_or_none", "first", "fetchone"}
OF_VALUES = {"scalar", "scalars", "scalar_one", "scalar_one_or_none", "mappings"}


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def by_position(tree: ast.AST) -> Iterator[str]:
    """Where a row is made a tuple as it comes, or looked into by a number, a slice or a star."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "_make":
            yield f"line {node.lineno}: _make"
        if isinstance(node, ast.FunctionDef):
            yield from _in_function(node)


def _in_function(function: ast.FunctionDef) -> Iterator[str]:
    results, rows = set[str](), _annotated(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _executes(node.value) and isinstance(node.targets[0], ast.Name):
            (rows if _called(node.value) in ONE else results).add(node.targets[0].id)
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and _is_result(node.iter, results):
            rows |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
            yield from (f"line {one.lineno}: a star" for one in ast.walk(node.target) if isinstance(one, ast.Starred))
    for node in ast.walk(function):
        if isinstance(node, ast.Starred | ast.Subscript) and _is_row(node.value, rows):
            if isinstance(node, ast.Starred):
                yield f"line {node.lineno}: *{ast.unparse(node.value)}"
            elif _is_number(node.slice):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _annotated(function: ast.FunctionDef) -> set[str]:
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {one.arg for one in every if one.annotation and ast.unparse(one.annotation).startswith("Row")}


def _executes(node: ast.AST) -> bool:
    """Is it what a statement finds, as rows?"""
    calls = {
        one.func.attr for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }
    return "execute" in calls and not calls & OF_VALUES and _called(node) in {"execute", "all", *ONE}


def _called(node: ast.AST) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _is_result(node: ast.AST, results: set[str]) -> bool:
    if isinstance(node, ast.Call) and _called(node) == "all":
        return _is_result(node.func.value, results) if isinstance(node.func, ast.Attribute) else False
    return _executes(node) or (isinstance(node, ast.Name) and node.id in results)


def _is_row(node: ast.AST, rows: set[str]) -> bool:
    return (isinstance(node, ast.Name) and node.id in rows) or (_executes(node) and _called(node) in ONE)


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and isinstance(node.value, int))


@pytest.mark.parametrize("path", FILES, ids=label)
def test_rows_are_read_by_name(path: Path) -> None:
    assert not list(by_position(ast.parse(path.read_text()))), "cigri/database/typed_rows.py reads them"


@pytest.mark.parametrize(
    "line",
    [
        "return [Job._make(row) for row in conn.execute(statement)]",
        "return {row[0]: row.name for row in conn.execute(statement).all()}",
        "found = conn.execute(statement)\n    return [Job(*row) for row in found]",
        "found = conn.execute(statement).all()\n    return [row[-1] for row in found]",
        "found = conn.execute(statement)\n    return [row[2:] for row in found.all()]",
        "row = conn.execute(statement).one_or_none()\n    return row[0]",
        "return Job(*conn.execute(statement).one())",
        "for id, *others in conn.execute(statement):\n        pass",
    ],
)
def test_a_row_that_is_read_by_position_is_found(line: str) -> None:
    assert list(by_position(ast.parse(f"def jobs(conn, statement):\n    {line}\n")))


def test_a_row_that_is_given_to_a_function_is_found() -> None:
    assert list(by_position(ast.parse("def cores(row: Row[*tuple[Any, ...]]):\n    return row[1]\n")))


@pytest.mark.parametrize(
    "line",
    [
        "return {id: n for id, n in conn.execute(statement)}",
        "return [row.tasks[0] for row in conn.execute(statement)]",
        "return conn.execute(statement).scalars().all()[0]",
        "return read_all(conn, Job, statement)[0]",
    ],
)
def test_what_is_read_by_name_is_not_found(line: str) -> None:
    assert not list(by_position(ast.parse(f"def jobs(conn, statement):\n    {line}\n")))
