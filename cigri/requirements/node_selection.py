"""What of a requirement tells the nodes of one queue apart, for a batch system to choose by; pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cigri.requirements import And, Comparison, ComparisonOperator, Condition, FlagCondition, Not, Or, ValueKind
from cigri.requirements.conditions import ORDERS, compared, conjuncts, negated
from cigri.requirements.three_valued_logic import FEATURES, KnownProperties, holds, predicate

NEGATED_ORDERS = {
    ComparisonOperator.LT: ComparisonOperator.GE,
    ComparisonOperator.LE: ComparisonOperator.GT,
    ComparisonOperator.GT: ComparisonOperator.LE,
    ComparisonOperator.GE: ComparisonOperator.LT,
}


class ConditionNotSelectable(ValueError):
    """The batch system has no words to choose nodes by `condition`; `why` says what it has words for."""

    def __init__(self, condition: Condition, why: str = "") -> None:
        super().__init__(f"the batch system cannot be asked for {condition}" + (f": {why}" if why else ""))
        self.condition = condition
        self.why = why


class ReducedCondition(NamedTuple):
    """What is left of a condition, and for which of the nodes it holds."""

    left: Condition | bool
    answers: Sequence[bool]


def undecided(condition: Condition, classes: Sequence[KnownProperties]) -> Condition | bool:
    """The part that some of these nodes satisfy and others do not; True, False: all do, none does.

    It holds for the same of the nodes as the whole. No `not` stands before an `and`, an `or`, or a comparison that has
    an opposite; flags are features as they are written there; of several values, and of versions, those that are there
    are left. No `and` stands in an `and`.
    """
    return _reduced(condition, classes or [{}])[0]


def _reduced(condition: Condition, classes: Sequence[KnownProperties]) -> ReducedCondition:
    match condition:
        case Not(part=And(parts=parts)):
            return _joined([_reduced(negated(part), classes) for part in parts], any)
        case Not(part=Or(parts=parts)):
            return _joined([_reduced(negated(part), classes) for part in parts], all)
        case Not(part=Comparison() as part) if part.operator in ORDERS and not _is_listed(part.name, classes):
            return _reduced(Comparison(part.name, NEGATED_ORDERS[part.operator], part.value, part.kind), classes)
        case And(parts=parts):
            return _joined([_reduced(part, classes) for part in parts], all)
        case Or(parts=parts):
            return _joined([_reduced(part, classes) for part in parts], any)
        case _:
            holds_for = predicate(condition)
            answers = [holds_for(properties) is True for properties in classes]
            return ReducedCondition(_as_there(condition, classes) if len(set(answers)) > 1 else answers[0], answers)


def _joined(parts: Sequence[ReducedCondition], how: Callable[[Iterable[bool]], bool]) -> ReducedCondition:
    """`how` is all or any. What is alike everywhere adds nothing, unless it settles the whole."""
    answers = [how(truths) for truths in zip(*(part.answers for part in parts), strict=True)]
    if len(set(answers)) == 1:
        return ReducedCondition(answers[0], answers)
    left = [part.left for part in parts if not isinstance(part.left, bool)]
    if len(left) == 1:
        return ReducedCondition(left[0], answers)
    if how is any:
        return ReducedCondition(Or(tuple(left)), answers)
    return ReducedCondition(And(tuple(conjunct for part in left for conjunct in conjuncts(part))), answers)


def _as_there(condition: Condition, classes: Sequence[KnownProperties]) -> Condition:
    """The same condition in values that these nodes have, as they are written there."""
    match condition:
        case FlagCondition():
            return _as_written(condition, classes)
        case Comparison(kind=ValueKind.VERSION) if not _is_listed(condition.name, classes):
            values = {str(properties[condition.name]) for properties in classes if holds(condition, properties) is True}
            return compared(condition.name, ComparisonOperator.IN, values, ValueKind.STRING)
        case Comparison(operator=ComparisonOperator.IN, value=tuple() as values):
            single = [compared(condition.name, ComparisonOperator.EQ, [value], condition.kind) for value in values]
            present = [value for value, equal in zip(values, single, strict=True) if _is_somewhere(equal, classes)]
            return compared(condition.name, ComparisonOperator.IN, present, condition.kind)
        case _:
            return condition


def _is_somewhere(condition: Condition, classes: Sequence[KnownProperties]) -> bool:
    return any(holds(condition, properties) is True for properties in classes)


def _as_written(flag: FlagCondition, classes: Sequence[KnownProperties]) -> Condition:
    """A flag is a property of its own, or a feature in any letters."""
    features = {feature for properties in classes for feature in _features(properties) if feature.lower() == flag.name}
    as_feature = [compared(FEATURES, ComparisonOperator.IN, features, ValueKind.STRING)] if features else []
    is_property = any(properties.get(flag.name) is True for properties in classes)
    parts = (*as_feature, *([flag] if is_property else []))
    return parts[0] if len(parts) == 1 else Or(parts)


def _features(properties: KnownProperties) -> list[str]:
    value = properties.get(FEATURES, [])
    return [feature for feature in (value if isinstance(value, list) else [value]) if isinstance(feature, str)]


def _is_listed(name: str, classes: Sequence[KnownProperties]) -> bool:
    return any(isinstance(properties.get(name), list) for properties in classes)
