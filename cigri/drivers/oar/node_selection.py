"""Requirements of nodes in the words of OAR: a condition in SQL on the properties of its resources."""

import re
from collections.abc import Mapping

from cigri.formats.units import MEGABYTE
from cigri.requirements import BUILT_IN, And, Comparison, ComparisonOperator, Condition, Or, Scalar
from cigri.requirements.node_selection import ConditionNotSelectable

OPERATORS = {
    ComparisonOperator.EQ: "=",
    ComparisonOperator.NE: "<>",
    ComparisonOperator.IN: "IN",
    ComparisonOperator.NOT_IN: "NOT IN",
}
# Any text that all databases of OAR read as it stands between quotes.
PLAIN_TEXT = re.compile(r"[\x20-\x5b\x5d-\x7e]*")


def sql(condition: Condition, columns: Mapping[str, str], memory: str | None) -> str:
    """`columns` are what properties are called there, if not by their names; `memory` is the one with a node's MB."""
    match condition:
        case And(parts=parts):
            return " AND ".join(f"({sql(part, columns, memory)})" for part in parts)
        case Or(parts=parts):
            return " OR ".join(f"({sql(part, columns, memory)})" for part in parts)
        case Comparison(name="memory") if memory is not None and "memory" not in columns:
            return _megabytes(condition, memory)
        case Comparison(name=name) if name in columns or name not in BUILT_IN:
            values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
            literals = ", ".join(_literal(value, condition) for value in values)
            chosen = f"({literals})" if isinstance(condition.value, tuple) else literals
            return f"{columns.get(name, name)} {_operator(condition)} {chosen}"
        case _:
            raise ConditionNotSelectable(condition, "OAR compares the properties of its resources")


def _operator(condition: Comparison) -> str:
    return OPERATORS.get(condition.operator, condition.operator.value)


def _literal(value: Scalar, condition: Comparison) -> str:
    if isinstance(value, bool):
        raise ConditionNotSelectable(condition, "OAR's properties are numbers and text")
    if not isinstance(value, str):
        return str(value)
    if not PLAIN_TEXT.fullmatch(value):
        raise ConditionNotSelectable(condition, "OAR is given text in ASCII without backslashes only")
    return "'" + value.replace("'", "''") + "'"


def _megabytes(condition: Comparison, column: str) -> str:
    """A node has whole MB."""
    size = condition.value
    if not isinstance(size, int | float):
        raise ConditionNotSelectable(condition)
    below, is_whole = int(size // MEGABYTE), size % MEGABYTE == 0
    match condition.operator:
        case ComparisonOperator.GE:
            return f"{column} >= {below if is_whole else below + 1}"
        case ComparisonOperator.LT:
            return f"{column} < {below if is_whole else below + 1}"
        case ComparisonOperator.GT | ComparisonOperator.LE:
            return f"{column} {condition.operator} {below}"
        case ComparisonOperator.EQ | ComparisonOperator.NE if is_whole:
            return f"{column} {_operator(condition)} {below}"
        case _:
            raise ConditionNotSelectable(condition, "a node has whole MB")
