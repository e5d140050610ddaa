"""Does a condition hold for a node? What is not known of it is neither true nor false, and stays so under `not`.

A condition is made into a predicate once, and then asked of very many nodes.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cigri.requirements.conditions import And, Comparison, ComparisonOperator, Condition, FlagCondition, Not
from cigri.requirements.value_kinds import PropertyValue, Scalar, ValueKind
from cigri.requirements.values import version

FEATURES = "features"
KnownProperties = Mapping[str, PropertyValue]
"""Of one class of nodes, which are all alike."""

Predicate = Callable[[KnownProperties], bool | None]
"""None: it cannot be told, for the property is absent or cannot be compared."""

COMPARISONS: Mapping[ComparisonOperator, Callable[[Any, Any], bool]] = {
    ComparisonOperator.LT: operator.lt,
    ComparisonOperator.LE: operator.le,
    ComparisonOperator.GT: operator.gt,
    ComparisonOperator.GE: operator.ge,
}


def holds(condition: Condition, properties: KnownProperties) -> bool | None:
    """As `predicate`, asked once, of one class of nodes."""
    return predicate(condition)(properties)


def predicate(condition: Condition) -> Predicate:
    """The condition as a function of a node's properties; None, also under `not`, where a property is unknown."""
    match condition:
        case Comparison():
            order = COMPARISONS.get(condition.operator)
            return _equality(condition) if order is None else _ordering(condition, order)
        case FlagCondition():
            return _flag(condition.name)
        case Not():
            return _negation(predicate(condition.part))
        case And():
            parts = [predicate(part) for part in condition.parts]
            return lambda properties: _weakest((part(properties) for part in parts), False)
        case _:
            parts = [predicate(part) for part in condition.parts]
            return lambda properties: _weakest((part(properties) for part in parts), True)


def _weakest(answers: Iterable[bool | None], decisive: bool) -> bool | None:
    """One decisive answer settles it, else one that cannot be told leaves it open."""
    is_open = False
    for answer in answers:
        if answer is decisive:
            return decisive
        is_open = is_open or answer is None
    return None if is_open else not decisive


def _negation(inner: Predicate) -> Predicate:
    def negation(properties: KnownProperties) -> bool | None:
        answer = inner(properties)
        return None if answer is None else not answer

    return negation


def _flag(name: str) -> Predicate:
    def flag(properties: KnownProperties) -> bool:
        features = properties.get(FEATURES, [])
        own = features if isinstance(features, list) else [features]
        return properties.get(name) is True or name in [feature.lower() for feature in own if isinstance(feature, str)]

    return flag


def _ordering(condition: Comparison, order: Callable[[Any, Any], bool]) -> Predicate:
    """Numbers are compared with numbers, versions with versions; of several values one is enough."""
    name, wanted = condition.name, condition.value
    by_version = version(wanted) if condition.kind is ValueKind.VERSION and isinstance(wanted, str) else None
    is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)

    def compare(value: Scalar) -> bool | None:
        if isinstance(value, str):
            return None if by_version is None else order(version(value), by_version)
        return order(value, wanted) if is_number and not isinstance(value, bool) else None

    def ordering(properties: KnownProperties) -> bool | None:
        value = properties.get(name)
        if isinstance(value, list):
            return _weakest(map(compare, value), True) if value else False
        return None if value is None else compare(value)

    return ordering


def _equality(condition: Comparison) -> Predicate:
    """Of several values one is enough; for `!=` and `not in` none may be it. Python takes true for 1; we do not."""
    name, is_wanted = condition.name, condition.operator in (ComparisonOperator.EQ, ComparisonOperator.IN)
    wanted = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    truths = [value for value in wanted if isinstance(value, bool)]
    numbers = [value for value in wanted if isinstance(value, int | float) and not isinstance(value, bool)]
    written = [value for value in wanted if isinstance(value, str)]
    is_version = condition.kind is ValueKind.VERSION
    texts: list[Any] = [version(value) for value in written] if is_version else [*written]

    def is_among(value: Scalar) -> bool:
        if isinstance(value, str):
            return (version(value) if is_version else value) in texts
        return value in (truths if isinstance(value, bool) else numbers)

    def equality(properties: KnownProperties) -> bool | None:
        value = properties.get(name)
        if isinstance(value, list):
            return any(map(is_among, value)) is is_wanted
        return None if value is None else is_among(value) is is_wanted

    return equality
