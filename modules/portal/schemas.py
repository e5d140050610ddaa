"""Types of answers as OpenAPI describes them; a field means what the docstring below it says."""

import ast
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model

from cigri.formats.json_values import inlined


def schema_of(kind: Any) -> Any:
    """The same type, with a model in place of each named tuple, which is an object in our answers and no array."""
    if hasattr(kind, "_fields"):
        return _model(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return Union[tuple(schema_of(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return origin[tuple(schema_of(one) for one in inner)] if origin in (list, dict) else kind


def meanings_of(kind: Any) -> dict[str, str]:
    """What each field of a named tuple means, as far as its source tells."""
    body = _classes(sys.modules[kind.__module__].__file__)[kind.__name__].body
    meanings = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                meanings[name] = meaning
    return meanings


@cache
def _classes(source: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.parse(Path(source).read_text()).body if isinstance(node, ast.ClassDef)}


@cache
def _model(kind: Any) -> Any:
    return create_model(kind.__name__, __doc__=kind.__doc__, **_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    hints, meanings, fields = get_type_hints(kind), meanings_of(kind), dict[str, Any]()
    for name in kind._fields:
        if name in inlined(kind):
            fields |= _fields(hints[name])
        else:
            fields[name] = (schema_of(hints[name]), Field(description=meanings.get(name)))
    return fields
