"""What a campaign wants of a queue and its nodes: the RFC's object, or an expression, read to one canonical form."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from cigri.errors import DescriptionProblem, RequirementError
from cigri.requirements.conditions import (
    And,
    Comparison,
    ComparisonOperator,
    Condition,
    FlagCondition,
    Not,
    Or,
    all_of,
    compared,
    conjuncts,
    ordered,
)
from cigri.requirements.expression import parse_expression
from cigri.requirements.three_valued_logic import Predicate, predicate
from cigri.requirements.value_kinds import AMOUNT_KINDS, Kinds, ValueKind, property_name
from cigri.requirements.values import read_value, written

EXPRESSION = "where"
_ANY = re.compile(r"[\W_]*any[\W_]*", re.IGNORECASE)
REQUIREMENT_KEYWORDS = {
    **{"site": "site", "sites": "site", "bannedsite": "bannedsite", "bannedsites": "bannedsite"},
    **{"platform": "platform", "platforms": "platform", "cputime": "cputime"},
}
"""The RFC's reserved words, in one spelling each."""


@dataclass(frozen=True)
class Requirement:
    """All of it together; a name among the sites is that of a site or of a cluster. `cpu_time` is in seconds.

    The conditions are in one order whatever the user's was: two requirements that say the same are equal.
    """

    sites: tuple[str, ...] = ()
    banned_sites: tuple[str, ...] = ()
    cpu_time: int | None = None
    conditions: tuple[Condition, ...] = ()

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """One for each of the conditions, in their order, made once."""
        return tuple(map(predicate, self.conditions))

    def canonical(self) -> dict[str, Any]:
        """As JSON; what says nothing is left out."""
        parts: dict[str, Any] = {
            "sites": list(self.sites),
            "banned_sites": list(self.banned_sites),
            "cpu_time": self.cpu_time,
            "conditions": [condition.canonical() for condition in self.conditions],
        }
        return {key: part for key, part in parts.items() if part not in (None, [])}

    def __str__(self) -> str:
        parts = [f"site in [{_listed(self.sites)}]"] if self.sites else []
        parts += [f"site not in [{_listed(self.banned_sites)}]"] if self.banned_sites else []
        parts += [f"CPUTime {written(self.cpu_time, ValueKind.DURATION)}"] if self.cpu_time is not None else []
        if self.conditions:
            parts.append(str(all_of(self.conditions)))
        return " and ".join(parts)


NO_REQUIREMENT = Requirement()


def parse_requirement(raw: str | Mapping[str, object], kinds: Kinds) -> Requirement:
    """What is wanted: an expression, or an object of properties (`where` holds an expression besides).

    Properties that have no kind get that of the value. Raise RequirementError with all that is wrong.
    """
    if isinstance(raw, str):
        return Requirement(conditions=_expression(raw, kinds))
    reader = _RequirementObject(raw, kinds)
    requirement = reader.read()
    if reader.problems:
        raise RequirementError(reader.problems)
    return requirement


def conditions(requirement: Requirement) -> Condition | None:
    """The tree without the sites and the CPU time, for those who say it in other words; None: nothing is wanted."""
    return all_of(requirement.conditions) if requirement.conditions else None


def read_canonical(form: Mapping[str, Any]) -> Requirement:
    """The requirement that has this canonical form."""
    parts = ordered(read_condition(part) for part in form.get("conditions", ()))
    sites, banned = tuple(form.get("sites", ())), tuple(form.get("banned_sites", ()))
    return Requirement(sites, banned, form.get("cpu_time"), parts)


def read_condition(form: Mapping[str, Any]) -> Condition:
    """A part of a requirement from its canonical form."""
    match form:
        case {"all": parts}:
            return And(tuple(map(read_condition, parts)))
        case {"any": parts}:
            return Or(tuple(map(read_condition, parts)))
        case {"not": part}:
            return Not(read_condition(part))
        case {"flag": name}:
            return FlagCondition(name)
        case _:
            value = form["value"]
            kept = tuple(value) if isinstance(value, list) else value
            return Comparison(form["name"], ComparisonOperator(form["operator"]), kept, ValueKind(form["kind"]))


def digest(canonical: Mapping[str, Any], project: str) -> str:
    """The name of a submit pool: projects see other properties of the same queues, so theirs differ."""
    text = json.dumps([project, canonical], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _expression(text: str, kinds: Kinds) -> tuple[Condition, ...]:
    return conjuncts(parse_expression(text, kinds)) if text.strip() else ()


class _RequirementObject:
    """The RFC's section of requirements, and what is wrong with it."""

    def __init__(self, raw: Mapping[str, object], kinds: Kinds) -> None:
        self._raw = raw
        self._kinds = kinds
        self.problems: list[DescriptionProblem] = []

    def read(self) -> Requirement:
        sites: tuple[str, ...] = ()
        banned: tuple[str, ...] = ()
        cpu_time: int | None = None
        wanted: list[Condition] = []
        for key, written_key, raw in self._entries():
            try:
                match key:
                    case "site":
                        sites = _names(raw)
                    case "bannedsite":
                        banned = _names(raw)
                    case "cputime":
                        cpu_time = _seconds(raw)
                    case _ if key == EXPRESSION:
                        wanted += self._where(raw)
                    case _:
                        property_name(written_key)
                        wanted.append(_wanted(key, raw, self._kinds.get(key)))
            except RequirementError as error:
                self.problems += [
                    problem._replace(place=f"{written_key}, {problem.place}") for problem in error.problems
                ]
            except ValueError as error:
                self.problems.append(DescriptionProblem(written_key, str(error)))
        left = tuple(site for site in sites if site not in banned)
        if sites and not left:
            self.problems.append(DescriptionProblem("Site", "every site that is wanted is banned too"))
        return Requirement(
            left, banned, cpu_time, ordered(part for condition in wanted for part in conjuncts(condition))
        )

    def _entries(self) -> Iterator[tuple[str, str, object]]:
        """Key, how it is written, and value of each that says something."""
        seen: dict[str, str] = {}
        for written_key, raw in self._raw.items():
            key = REQUIREMENT_KEYWORDS.get(str(written_key).lower(), str(written_key).lower())
            if key in seen:
                self.problems.append(
                    DescriptionProblem(str(written_key), f"says the same as {seen[key]}", "leave one out")
                )
            seen[key] = str(written_key)
            if _says_something(raw):
                yield key, str(written_key), raw

    def _where(self, raw: object) -> tuple[Condition, ...]:
        if not isinstance(raw, str):
            raise ValueError("expected an expression (write it as text, as 'memory >= 16 GB')")
        return _expression(raw, self._kinds)


def _wanted(name: str, raw: object, kind: ValueKind | None) -> Condition:
    """The RFC's rule: a list is any of its values, an amount is at least that much, anything else is to be equal."""
    value, value_kind = read_value(raw, kind)
    if isinstance(value, list):
        return compared(name, ComparisonOperator.IN, value, value_kind)
    return compared(
        name, ComparisonOperator.GE if value_kind in AMOUNT_KINDS else ComparisonOperator.EQ, [value], value_kind
    )


def _names(raw: object) -> tuple[str, ...]:
    value, _ = read_value(raw, ValueKind.STRING)
    names = {str(name).strip() for name in (value if isinstance(value, list) else [value])}
    if "" in names:
        raise ValueError("a site has a name")
    return tuple(sorted(names))


def _seconds(raw: object) -> int:
    value, _ = read_value(raw, ValueKind.DURATION)
    if not isinstance(value, int):
        raise ValueError("expected one duration (write a number of seconds, or as in '2 h')")
    return value


def _says_something(raw: object) -> bool:
    """Nothing, "" and ANY say nothing, ANY in any spelling and among other values too."""
    if isinstance(raw, list | tuple):
        return bool(raw) and not any(isinstance(item, str) and _ANY.fullmatch(item) for item in raw)
    return raw is not None and not (isinstance(raw, str) and (not raw.strip() or _ANY.fullmatch(raw)))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(written(name, ValueKind.STRING) for name in names)
