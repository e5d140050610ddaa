"""Requirements of nodes in the words of Grid Engine: a value for each complex, compared as the complex says."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from cigri.requirements import Comparison, ComparisonOperator, Condition, FlagCondition, Not, Or, ValueKind
from cigri.requirements.conditions import conjuncts
from cigri.requirements.node_selection import ConditionNotSelectable

RELOPS = ("==", "<=", "<", ">=", ">", "!=")
COMPLEX = re.compile(rf"(?:([A-Za-z_][A-Za-z0-9_.-]*) +)?({'|'.join(RELOPS)})")
SHIPPED = {"memory": "mem_total <=", "platform": "arch =="}
LITERAL = re.compile(r"[A-Za-z0-9_.:/+-]+")  # of others some are patterns, and parts of them


class ComplexRequest(NamedTuple):
    """A request for a complex; `value` is what is compared with that of a node, the request on the left."""

    name: str
    relop: str
    value: str | float


def requests(condition: Condition, complexes: Mapping[str, str]) -> list[str]:
    """`complexes`: of each property `RELOP` or `NAME RELOP`, as in qconf -sc; ConditionNotSelectable where none will
    do."""
    wishes: dict[str, ComplexRequest] = {}
    for part in conjuncts(condition):
        wish = _wish(part, SHIPPED | dict(complexes))
        before = wishes.get(wish.name)
        wishes[wish.name] = _both(before, wish, part) if before else wish
    return [f"{wish.name}={wish.value}" for _, wish in sorted(wishes.items())]


def _wish(part: Condition, complexes: Mapping[str, str]) -> ComplexRequest:
    if isinstance(part, Or):
        part = _either(part)
    literal = part.part if isinstance(part, Not) else part
    if not isinstance(literal, Comparison | FlagCondition):
        raise ConditionNotSelectable(part, "Grid Engine is asked for each spelling alone")
    spelling = COMPLEX.fullmatch(complexes.get(literal.name, ""))
    if not spelling:
        raise ConditionNotSelectable(
            part, f"{literal.name} is not among the cluster's complexes (its option of this name)"
        )
    return ComplexRequest(spelling[1] or literal.name, spelling[2], _value(part, spelling[2]))


def _either(part: Or) -> Condition:
    """Several values of one property are one pattern."""
    values: set[str] = set()
    names: set[str] = set()
    for choice in part.parts:
        match choice:
            case Comparison(operator=ComparisonOperator.EQ | ComparisonOperator.IN, kind=ValueKind.STRING, value=value):
                values.update(map(str, value if isinstance(value, tuple) else (value,)))
                names.add(choice.name)
            case _:
                names.add("")
    if len(names) > 1 or "" in names:
        raise ConditionNotSelectable(part, "Grid Engine is asked for each complex alone")
    return Comparison(names.pop(), ComparisonOperator.IN, tuple(sorted(values)), ValueKind.STRING)


def _value(part: Condition, relop: str) -> str | float:
    """So that `value RELOP what a node has` says the same as the condition."""
    match part:
        case FlagCondition() if relop == "==":
            return "TRUE"
        case Comparison(operator=ComparisonOperator.EQ, value=False) if relop == "==":
            return "FALSE"
        case Comparison(
            operator=ComparisonOperator.EQ | ComparisonOperator.IN | ComparisonOperator.NE | ComparisonOperator.NOT_IN,
            kind=ValueKind.STRING,
        ) if relop == "==":
            return _pattern(part)
        case Comparison(value=int() | float() as value) if not isinstance(value, bool):
            return _amount(part, value, relop)
        case _:
            raise ConditionNotSelectable(part, f"its complex is compared by {relop}")


def _pattern(part: Comparison) -> str:
    values = [str(value) for value in (part.value if isinstance(part.value, tuple) else (part.value,))]
    if not all(LITERAL.fullmatch(value) for value in values):
        raise ConditionNotSelectable(
            part, "a value has a character that is part of a pattern to Grid Engine, or none it takes"
        )
    if part.operator in (ComparisonOperator.EQ, ComparisonOperator.IN):
        return "|".join(values)
    return "&".join(f"!{value}" for value in values)


def _amount(part: Comparison, value: float, relop: str) -> float:
    match part.operator, relop:
        case (
            (ComparisonOperator.GE, "<=")
            | (ComparisonOperator.GT, "<")
            | (ComparisonOperator.LE, ">=")
            | (ComparisonOperator.LT, ">")
            | (ComparisonOperator.EQ, "==")
        ):
            return value
        case (ComparisonOperator.NE, "!="):
            return value
        case (ComparisonOperator.GT, "<=") if part.kind is not ValueKind.NUMBER:
            return math.floor(value) + 1
        case (ComparisonOperator.LT, ">=") if part.kind is not ValueKind.NUMBER:
            return math.ceil(value) - 1
        case _:
            raise ConditionNotSelectable(part, f"its complex is compared by {relop}")


def _both(first: ComplexRequest, second: ComplexRequest, part: Condition) -> ComplexRequest:
    """Of several requests for one complex Grid Engine heeds the last only."""
    match first.value, second.value, first.relop:
        case int() | float() as one, int() | float() as other, "<=" | "<":
            return first._replace(value=max(one, other))
        case int() | float() as one, int() | float() as other, ">=" | ">":
            return first._replace(value=min(one, other))
        case str(one), str(other), "==" if "|" not in one + other and one[:1] == other[:1] == "!":
            return first._replace(value=f"{one}&{other}")
        case one, other, _ if one == other:
            return first
    raise ConditionNotSelectable(part, f"{first.name} can be asked for once only")
