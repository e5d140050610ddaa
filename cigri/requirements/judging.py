"""Is a queue for this requirement? If not, the first reason, with figures."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from cigri.requirements.conditions import ORDERS, Comparison, ComparisonOperator, Condition, FlagCondition, names
from cigri.requirements.requirement import Requirement
from cigri.requirements.three_valued_logic import KnownProperties
from cigri.requirements.value_kinds import Kinds, Scalar, ValueKind
from cigri.requirements.values import shown, written
from cigri.states import QueueRejectCode

LONGEST_VALUE_SHOWN = 200
PLACE_CHECKS = 2
"""What is looked at besides the conditions: the site and the longest walltime."""
AT_LEAST = (ComparisonOperator.GT, ComparisonOperator.GE)


class QueueRejection(NamedTuple):
    """`passed`: how much of what is wanted was there; all else is for a person."""

    code: QueueRejectCode
    name: str
    wanted: str
    found: str
    passed: int = 0


class NodeClassLack(NamedTuple):
    """What a class of nodes lacks: a condition, or a code of its place; and how much it does not lack."""

    what: Condition | QueueRejectCode
    passed: int
    properties: KnownProperties


def sentence(reject: QueueRejection) -> str:
    """The reason in one sentence for a person."""
    match reject.code:
        case QueueRejectCode.ABSENT:
            return f"{reject.wanted} is wanted, and nothing is known here of {reject.name}"
        case QueueRejectCode.BANNED_SITE:
            return f"{reject.found} is banned by the requirements"
        case QueueRejectCode.JOB_REFUSED:
            return f"takes jobs with {reject.wanted}, these have {reject.found}"
        case QueueRejectCode.NOT_SELECTABLE:
            why = f": {reject.found}" if reject.found else ""
            return f"its nodes differ, and the batch system cannot be asked for {reject.wanted}{why}"
        case QueueRejectCode.UNKNOWN:
            return f"nothing is known of {reject.name}"
        case _:
            return f"{reject.wanted} is wanted, here is {reject.found}"


def judge(requirement: Requirement, properties: KnownProperties, kinds: Kinds) -> QueueRejection | None:
    """The first reason why one class of nodes will not do; None: it is eligible."""
    lack = lacking(requirement, properties)
    return reject_of(lack, requirement, kinds) if lack else None


def judge_all(requirement: Requirement, classes: Sequence[KnownProperties], kinds: Kinds) -> QueueRejection | None:
    """The reason of the class of a queue's nodes that came furthest; None: one class has it all."""
    furthest = least(lacking(requirement, properties) for properties in classes or [{}])
    return reject_of(furthest, requirement, kinds) if furthest else None


def least(lacks: Iterable[NodeClassLack | None]) -> NodeClassLack | None:
    """None if one of the classes lacks nothing; else the first of those of which most was there."""
    best: NodeClassLack | None = None
    for lack in lacks:
        if lack is None:
            return None
        if best is None or lack.passed > best.passed:
            best = lack
    return best


def lacking(requirement: Requirement, properties: KnownProperties) -> NodeClassLack | None:
    """The first thing that a class of nodes lacks, None: nothing; no text is made for it yet."""
    places = (properties.get("site"), properties.get("cluster"))
    if requirement.sites and not any(place in requirement.sites for place in places):
        return NodeClassLack(QueueRejectCode.SITE, 0, properties)
    if any(place in requirement.banned_sites for place in places):
        return NodeClassLack(QueueRejectCode.BANNED_SITE, 0, properties)
    tests = zip(requirement.conditions, requirement.predicates, strict=True)
    failing = [condition for condition, test in tests if test(properties) is not True]
    passed = 1 + len(requirement.conditions) - len(failing)
    longest = properties.get("max_walltime")
    if requirement.cpu_time is not None and is_less(longest, requirement.cpu_time):
        return NodeClassLack(QueueRejectCode.TOO_SMALL, passed, properties)
    return NodeClassLack(failing[0], passed + 1, properties) if failing else None


def is_less(found: object, wanted: float) -> bool:
    """Is it an amount, and less? What is absent is no obstacle here."""
    return isinstance(found, int | float) and not isinstance(found, bool) and found < wanted


def reject_of(lack: NodeClassLack, requirement: Requirement, kinds: Kinds) -> QueueRejection:
    """The lack in words for a person, with what is there."""
    properties, passed = lack.properties, lack.passed
    match lack.what:
        case QueueRejectCode.SITE:
            wanted = " or ".join(requirement.sites)
            return QueueRejection(QueueRejectCode.SITE, "site", cut(wanted), place(properties), passed)
        case QueueRejectCode.BANNED_SITE:
            return QueueRejection(QueueRejectCode.BANNED_SITE, "site", "another site", place(properties), passed)
        case QueueRejectCode():
            wanted = f"CPUTime of {written(requirement.cpu_time or 0, ValueKind.DURATION)}"
            found = describe_property("max_walltime", properties, kinds)
            return QueueRejection(QueueRejectCode.TOO_SMALL, "max_walltime", wanted, found, passed)
        case condition:
            return QueueRejection(_code(condition, properties), *_described(condition, properties, kinds), passed)


def describe_property(name: str, properties: KnownProperties, kinds: Kinds, kind: ValueKind | None = None) -> str:
    """What is known of a property, as `memory 192 GB`."""
    value = properties.get(name)
    return f"no {name}" if value is None else cut(f"{name} {shown(value, kinds.get(name, kind))}")


def place(properties: KnownProperties) -> str:
    """The site as text, else the cluster."""
    site, cluster = properties.get("site"), properties.get("cluster")
    return str(site or cluster or "a place without a name")


def cut(text: str) -> str:
    """At most LONGEST_VALUE_SHOWN characters, the last three of which are dots where it was longer."""
    return text if len(text) <= LONGEST_VALUE_SHOWN else f"{text[: LONGEST_VALUE_SHOWN - 3]}..."


def _code(condition: Condition, properties: KnownProperties) -> QueueRejectCode:
    match condition:
        case FlagCondition():
            return QueueRejectCode.DIFFERENT if condition.name in properties else QueueRejectCode.ABSENT
        case Comparison() if condition.name not in properties:
            return QueueRejectCode.ABSENT
        case Comparison() if condition.operator in ORDERS and not _has_text(properties[condition.name]):
            return QueueRejectCode.TOO_SMALL if condition.operator in AT_LEAST else QueueRejectCode.TOO_LARGE
        case Comparison():
            return QueueRejectCode.DIFFERENT
        case _:
            return QueueRejectCode.EXPRESSION


def _has_text(value: Scalar | list[Scalar]) -> bool:
    return any(isinstance(item, str) for item in (value if isinstance(value, list) else [value]))


def _described(condition: Condition, properties: KnownProperties, kinds: Kinds) -> tuple[str, str, str]:
    """Name, wanted and found."""
    looked_at, text = _wanted(condition)
    kind = condition.kind if isinstance(condition, Comparison) else None
    found = ", ".join(describe_property(name, properties, kinds, kind) for name in looked_at)
    return looked_at[0], text, cut(found)


@lru_cache(maxsize=10_000)
def _wanted(condition: Condition) -> tuple[tuple[str, ...], str]:
    """Names and text, which very many queues are told of."""
    return tuple(dict.fromkeys(names(condition))), cut(str(condition))
