"""What is wanted of a node's properties, as a tree; made by `all_of`, `any_of`, `negated`, each has one form only."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cigri.requirements.value_kinds import Scalar, ValueKind
from cigri.requirements.values import written


class ComparisonOperator(StrEnum):
    """Of a property that is a list: one of its values is enough; for NE and NOT_IN none may be it."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IN = "in"
    NOT_IN = "not in"


ORDERS = frozenset({ComparisonOperator.LT, ComparisonOperator.LE, ComparisonOperator.GT, ComparisonOperator.GE})
OPPOSITES = {
    ComparisonOperator.EQ: ComparisonOperator.NE,
    ComparisonOperator.NE: ComparisonOperator.EQ,
    ComparisonOperator.IN: ComparisonOperator.NOT_IN,
    ComparisonOperator.NOT_IN: ComparisonOperator.IN,
}


@dataclass(frozen=True)
class Comparison:
    """`value` is in the units of `kind` (bytes, seconds); of IN and NOT_IN a tuple, sorted, at least two."""

    name: str
    operator: ComparisonOperator
    value: Scalar | tuple[Scalar, ...]
    kind: ValueKind

    def canonical(self) -> dict[str, Any]:
        """As JSON, which `read_condition` of requirement.py reads again; the value is in the units of its kind."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"name": self.name, "operator": self.operator.value, "value": value, "kind": self.kind.value}

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return f"{self.name} {self.operator} [{', '.join(written(value, self.kind) for value in self.value)}]"
        return f"{self.name} {self.operator} {written(self.value, self.kind)}"


@dataclass(frozen=True)
class FlagCondition:
    """True where the property is true or the name is among the features; a flag that is nowhere is false."""

    name: str

    def canonical(self) -> dict[str, Any]:
        """As JSON, which `read_condition` reads again."""
        return {"flag": self.name}

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Not:
    part: "Condition"

    def canonical(self) -> dict[str, Any]:
        """As JSON, which `read_condition` reads again."""
        return {"not": self.part.canonical()}

    def __str__(self) -> str:
        return f"not {_in_brackets(self.part)}"


@dataclass(frozen=True)
class And:
    parts: tuple["Condition", ...]

    def canonical(self) -> dict[str, Any]:
        """As JSON, which `read_condition` reads again; the parts keep their order."""
        return {"all": [part.canonical() for part in self.parts]}

    def __str__(self) -> str:
        return " and ".join(map(_in_brackets, self.parts))


@dataclass(frozen=True)
class Or:
    parts: tuple["Condition", ...]

    def canonical(self) -> dict[str, Any]:
        """As JSON, which `read_condition` reads again; the parts keep their order."""
        return {"any": [part.canonical() for part in self.parts]}

    def __str__(self) -> str:
        return " or ".join(map(_in_brackets, self.parts))


Condition = And | Or | Not | Comparison | FlagCondition


def compared(name: str, operator: ComparisonOperator, values: Iterable[Scalar], kind: ValueKind) -> Condition:
    """IN and NOT_IN with one value become EQ and NE; all other operators take one value."""
    chosen = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    if len(chosen) > 1:
        return Comparison(name, operator, tuple(chosen), kind)
    match operator:
        case ComparisonOperator.IN:
            operator = ComparisonOperator.EQ
        case ComparisonOperator.NOT_IN:
            operator = ComparisonOperator.NE
    if isinstance(chosen[0], bool):
        wanted = chosen[0] is (operator is ComparisonOperator.EQ)
        return FlagCondition(name) if wanted else Comparison(name, ComparisonOperator.EQ, False, kind)
    return Comparison(name, operator, chosen[0], kind)


def all_of(conditions: Iterable[Condition]) -> Condition:
    """All have to hold; one alone is itself, an And among them gives its parts. There is at least one."""
    parts = ordered(part for condition in conditions for part in conjuncts(condition))
    return parts[0] if len(parts) == 1 else And(parts)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """One has to hold; one alone is itself, an Or among them gives its parts. There is at least one."""
    parts = ordered(
        part for condition in conditions for part in (condition.parts if isinstance(condition, Or) else (condition,))
    )
    return parts[0] if len(parts) == 1 else Or(parts)


def negated(condition: Condition) -> Condition:
    """Without a double `not`; == and `in` become their opposites, orders do not, for both may be unknown."""
    match condition:
        case Not():
            return condition.part
        case Comparison(value=value) if condition.operator in OPPOSITES and not isinstance(value, bool):
            return Comparison(condition.name, OPPOSITES[condition.operator], value, condition.kind)
        case _:
            return Not(condition)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts of an And; anything else is one part."""
    return condition.parts if isinstance(condition, And) else (condition,)


def ordered(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Each once, by the names of properties: the order in which they were written says nothing."""
    return tuple(sorted(set(conditions), key=_rank))


def names(condition: Condition) -> Iterator[str]:
    """The names of the properties that the condition looks at, perhaps several times."""
    match condition:
        case Comparison() | FlagCondition():
            yield condition.name
        case Not():
            yield from names(condition.part)
        case And() | Or():
            for part in condition.parts:
                yield from names(part)


def _rank(condition: Condition) -> tuple[str, str]:
    return min(names(condition)), json.dumps(condition.canonical(), sort_keys=True)


def _in_brackets(condition: Condition) -> str:
    return f"({condition})" if isinstance(condition, And | Or) else str(condition)
