"""Does a condition hold for a node? What is not known of it is neither true nor false, and stays so under `not`."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cigri.requirements.conditions import And, Compare, Condition, Flag, Not, Operator
from cigri.requirements.kinds import Kind, Scalar, Value
from cigri.requirements.versions import version

FEATURES = "features"
Properties = Mapping[str, Value]
"""Of one class of nodes, which are all alike."""

ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


def holds(condition: Condition, properties: Properties) -> bool | None:
    """None: it cannot be told, for the property is absent or cannot be compared."""
    match condition:
        case Compare():
            found = properties.get(condition.name)
            return None if found is None else _compare(found if isinstance(found, list) else [found], condition)
        case Flag():
            return _is_set(condition.name, properties)
        case Not():
            inner = holds(condition.part, properties)
            return None if inner is None else not inner
        case And():
            return _weakest((holds(part, properties) for part in condition.parts), False)
        case _:
            return _weakest((holds(part, properties) for part in condition.parts), True)


def _weakest(answers: Iterable[bool | None], decisive: bool) -> bool | None:
    """One decisive answer settles it, else one that cannot be told leaves it open."""
    is_open = False
    for answer in answers:
        if answer is decisive:
            return decisive
        is_open = is_open or answer is None
    return None if is_open else not decisive


def _is_set(name: str, properties: Properties) -> bool:
    features = properties.get(FEATURES, [])
    own = features if isinstance(features, list) else [features]
    return properties.get(name) is True or name in [one.lower() for one in own if isinstance(one, str)]


def _compare(found: Sequence[Scalar], condition: Compare) -> bool | None:
    """One of the values is enough."""
    if len(found) == 1 and not isinstance(condition.value, tuple):
        return _compare_one(found[0], condition, condition.value)
    wanted = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if order := ORDERS.get(condition.operator):
        answers = [_ordered(value, order, wanted[0], condition.kind) for value in found]
        return _weakest(answers, True) if answers else False
    is_among = any(_equal(value, one, condition.kind) for value in found for one in wanted)
    return is_among is (condition.operator in (Operator.EQ, Operator.IN))


def _compare_one(found: Scalar, condition: Compare, wanted: Scalar) -> bool | None:
    if order := ORDERS.get(condition.operator):
        return _ordered(found, order, wanted, condition.kind)
    return _equal(found, wanted, condition.kind) is (condition.operator is Operator.EQ)


def _equal(found: Scalar, wanted: Scalar, kind: Kind) -> bool:
    if kind is Kind.VERSION and isinstance(found, str) and isinstance(wanted, str):
        return version(found) == version(wanted)
    return _sort(found) == _sort(wanted) and found == wanted


def _ordered(found: Scalar, order: Callable[[Any, Any], bool], wanted: Scalar, kind: Kind) -> bool | None:
    if kind is Kind.VERSION and isinstance(found, str) and isinstance(wanted, str):
        return order(version(found), version(wanted))
    return order(found, wanted) if _sort(found) == _sort(wanted) == "number" else None


def _sort(value: Scalar) -> str:
    """Python takes true for 1; we do not."""
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
