"""Typed rows: what a statement selects, as named tuples, whose fields its columns must be by name, order and type.

A field that is a named tuple itself has the columns of its own fields.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import zip_longest
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import ARRAY, JSON, Compiled, Connection, Label, Row, null, type_coerce
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import ExecutableReturnsRows
from sqlalchemy.types import NullType, TypeEngine

K = TypeVar("K", bound=tuple[Any, ...])

Parameters = Mapping[str, object] | None
Compute = Callable[[Row[*tuple[Any, ...]]], object]
"""A field that is no column is made from the row; what it is made of may stand behind all other columns."""

Piece = tuple[int, int, Compute]

LIST_TYPES = (list, Collection, Sequence)
DOCUMENTS = (*LIST_TYPES, dict, Mapping)
SHAPES = 1000  # of statements whose columns are known to fit; there are some hundreds


def read_all(
    conn: Connection,
    kind: type[K],
    statement: ExecutableReturnsRows,
    parameters: Parameters = None,
    **computed: Compute,
) -> list[K]:
    """Raise TypeError if the columns are not the fields of the named tuple `kind`."""
    result = conn.execute(statement, parameters)
    _require_fit(kind, result.context.compiled, "", *computed)
    return list(_made(kind, result, computed))


def read_one(conn: Connection, kind: type[K], statement: ExecutableReturnsRows) -> K | None:
    """As read_all, of a statement that finds one row or none."""
    return next(iter(read_all(conn, kind, statement)), None)


def read_by(
    conn: Connection,
    key: str,
    kind: type[K],
    statement: ExecutableReturnsRows,
    parameters: Parameters = None,
) -> dict[Any, K]:
    """As read_all, by the first column, which is called `key` and no field."""
    result = conn.execute(statement, parameters)
    _require_fit(kind, result.context.compiled, key)
    return {row[0]: kind._make(row[1:]) for row in result}  # type: ignore[attr-defined]  # it is a named tuple


def null_column(name: str, like: ColumnElement[Any]) -> Label[Any]:
    """A column that is null, of the type of another one."""
    return type_coerce(null(), like.type).label(name)


def _made(kind: Any, rows: Iterable[Row[*tuple[Any, ...]]], computed: Mapping[str, Compute]) -> Iterator[Any]:
    if not computed and not _nested(kind):
        return map(kind._make, rows)
    return _pieced(kind, rows, *_pieces(kind, computed))


def _pieced(kind: Any, rows: Iterable[Row[*tuple[Any, ...]]], columns: int, pieces: Sequence[Piece]) -> Iterator[Any]:
    for row in rows:
        values = [*row[:columns]]
        for first, last, make in pieces:
            values[first:last] = (make(row),)
        yield kind._make(values)


def _pieces(kind: Any, computed: Mapping[str, Compute]) -> tuple[int, list[Piece]]:
    """How many columns the fields have, and what is made instead of which of them, the last first."""
    pieces: list[Piece] = []
    column = 0
    for name in kind._fields:
        if name in computed:
            pieces.append((column, column, computed[name]))
        elif inner := _nested(kind).get(name):
            last = column + len(inner._fields)
            pieces.append((column, last, partial(_inner, inner._make, slice(column, last))))
            column = last
        else:
            column += 1
    return column, pieces[::-1]


def _inner(make: Callable[[Any], object], place: slice, row: Row[*tuple[Any, ...]]) -> object:
    return make(row[place])


@cache
def _nested(kind: Any) -> dict[str, Any]:
    """Fields that are named tuples, of columns of their own."""
    return {name: hint for name, hint in get_type_hints(kind).items() if hasattr(hint, "_fields")}


@lru_cache(SHAPES)
def _require_fit(kind: Any, compiled: Compiled, key: str, *computed: str) -> None:
    """Statements of one shape are compiled once."""
    statement: Any = compiled.statement
    if wrong := "; ".join(misfits(kind, list(statement.exported_columns), key, computed)):
        raise TypeError(f"the columns are not the fields of {kind.__module__}.{kind.__name__}: {wrong}")


def misfits(
    kind: Any, columns: Sequence[ColumnElement[Any]], key: str = "", computed: Collection[str] = ()
) -> Iterator[str]:
    """One sentence for each column that is no field of `kind` in its place, or has another type."""
    yield from (f"it has no field {name}" for name in computed if name not in kind._fields)
    fields = [(key, object)] if key else []
    for name, hint in _hints(kind):
        if name not in computed:
            fields += _hints(hint) if name in _nested(kind) else [(name, hint)]
    shown = columns[: len(fields)] if computed else columns
    for number, (field, column) in enumerate(zip_longest(fields, shown), start=1):
        if field is None:
            yield f"column {number}, {_said(column)}, is too many"
        elif column is None:
            yield f"there is no column for {_wanted(*field)}"
        elif column.key != field[0] or not _fits(field[1], column.type):
            yield f"column {number} is {_said(column)}, not {_wanted(*field)}"


def _hints(kind: Any) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind)
    return [(name, hints[name]) for name in kind._fields]


def _fits(wanted: Any, kind: TypeEngine[Any]) -> bool:
    if isinstance(wanted, UnionType):
        return any(_fits(type_, kind) for type_ in get_args(wanted) if type_ is not NoneType)
    if wanted in (Any, object):
        return True
    plain = get_origin(wanted) or wanted
    if isinstance(kind, ARRAY):
        return plain in LIST_TYPES and _fits(get_args(wanted)[0], kind.item_type)
    if isinstance(kind, JSON):
        return plain in DOCUMENTS
    return not isinstance(kind, NullType) and plain is kind.python_type


def _said(column: ColumnElement[Any]) -> str:
    return f"{column.key or 'without a label'} ({column.type})"


def _wanted(name: str, hint: Any) -> str:
    return f"{name}: {hint.__name__ if isinstance(hint, type) else hint}"
