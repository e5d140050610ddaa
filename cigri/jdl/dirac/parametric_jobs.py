"""Parametric jobs: `Parameters`, named sequences beside it, and %s, %(NAME)s, %n and %j, which stand for their values.

A number of values is counted from ParameterStart: each is the one before, times ParameterFactor, plus ParameterStep.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from cigri.errors import DescriptionProblem
from cigri.jdl.dirac.grammar import JdlAttribute, JdlScalar, JdlSection, JdlValue
from cigri.jdl.parameters import RESERVED, Parameter
from cigri.jdl.problems import MOST_SHOWN, shown
from cigri.jdl.sweep import MOST_TASKS, SizedIterable

SLOT_LETTERS = UNNAMED, NUMBER, _ = "s", "n", "j"
JOB_NAME = "{CAMPAIGN_ID}.{index}"
SETTINGS = {"ParameterStart": 1, "ParameterStep": 0, "ParameterFactor": 1}
"""With what they are when nothing is said."""
LARGEST_STEP = Decimal(10) ** 15
MOST_ZEROS = 300

_MARK = re.compile(r"%(?:\((?P<name>[A-Za-z_]\w*)\)s|(?P<letter>[snj]))")
_PARTING = " _.:-"
_IN_NAME = re.compile(rf"[{_PARTING}]*{_MARK.pattern}")
_JOB_IN_NAME = re.compile(rf"[{_PARTING}]*%j")


@dataclass(frozen=True)
class ParameterSteps:
    """Each value is the one before, times `factor`, plus `step`."""

    count: int
    start: Decimal
    step: Decimal
    factor: Decimal

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return map(_written, islice(self.numbers(), self.count))

    def numbers(self) -> Iterator[Decimal]:
        """The values one after the other, without end: whoever asks takes `count` of them."""
        value = self.start
        while True:
            yield value
            value = value * self.factor + self.step


@dataclass(frozen=True)
class TaskNumbers:
    """From 0, each as wide as the last one."""

    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        digits = len(str(self.count - 1))
        return (f"{number:0{digits}}" for number in range(self.count))


@dataclass(frozen=True)
class ParameterRows:
    """A parameter for each task, made of a value of each column; without columns one that says nothing."""

    count: int
    columns: Mapping[str, SizedIterable[str]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Parameter]:
        if not self.columns:
            return iter([] for _ in range(self.count))
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True))


class ParameterSequences(NamedTuple):
    """The values of each name, all equally many; `UNNAMED` is the name of the sequence without one."""

    length: int
    values: dict[str, SizedIterable[str]]

    def parameters(self, names: Collection[str]) -> ParameterRows:
        """A parameter for each task, with values for these names; a name without a sequence is left out."""
        columns = {name: self.values[name] for name in sorted(names & self.values.keys())}
        if NUMBER in names:
            columns[NUMBER] = TaskNumbers(self.length)
        return ParameterRows(self.length, columns)


def is_of_sequences(attribute: str) -> bool:
    """Is it one that `read_sequences` reads?"""
    head = attribute.lower().partition(".")[0]
    return head == "parameters" or head in map(str.lower, SETTINGS)


def read_sequences(section: JdlSection, problems: list[DescriptionProblem]) -> ParameterSequences | None:
    """None: the section names none, or something is wrong, which is added to `problems`."""
    before = len(problems)
    given = [attribute for name, attribute in section.items() if name.partition(".")[0] == "parameters"]
    suffixes = {_suffix(attribute) for attribute in given}
    for name, attribute in section.items():
        if name.partition(".")[0] in map(str.lower, SETTINGS) and _suffix(attribute) not in suffixes:
            problems.append(_problem(attribute, f"has no meaning without Parameters{_suffix(attribute)}"))
    values = {_name(attribute, problems): _sequence(section, attribute, problems) for attribute in given}
    lengths = {len(sequence) for sequence in values.values()}
    if len(lengths) > 1 and len(problems) == before:
        listed = ", ".join(f"{attribute.name} {len(values[_name(attribute, [])])}" for attribute in given[:MOST_SHOWN])
        problems.append(_problem(given[0], f"all sequences must be equally long: {listed}"))
    return ParameterSequences(lengths.pop(), values) if given and len(problems) == before else None


def used_names(texts: Iterable[str]) -> set[str]:
    """Names of sequences whose values the texts hold: in %(NAME)s, or the letters of %s and %n."""
    marks = (mark for text in texts for mark in _MARK.finditer(text))
    return {mark["name"] or mark["letter"] for mark in marks} - {"j"}


def substituted(text: str, names: Collection[str]) -> str:
    """The text in the language of cigri.jdl.command, {NAME} for %(NAME)s; without names only %j has a meaning."""
    pieces, at = [], 0
    for mark in _MARK.finditer(text):
        name = mark["name"] or mark["letter"]
        if name == "j" or name in names:
            pieces += [_kept(text[at : mark.start()], names), JOB_NAME if name == "j" else f"{{{name}}}"]
            at = mark.end()
    return "".join([*pieces, _kept(text[at:], names)])


def without_marks(text: str, *, has_sequences: bool) -> str:
    """A name for all tasks: what differs from one to the next is left out, and what parts it from the rest."""
    marks = _IN_NAME if has_sequences else _JOB_IN_NAME
    return marks.sub("", text).strip(_PARTING) if marks.search(text) else text


def _kept(text: str, names: Collection[str]) -> str:
    return text.replace("{", "{{").replace("}", "}}") if names else text


def _sequence(section: JdlSection, attribute: JdlAttribute, problems: list[DescriptionProblem]) -> SizedIterable[str]:
    """Empty when it is wrong."""
    suffix = _suffix(attribute).lower()
    settings = {name: section[key] for name in SETTINGS if (key := name.lower() + suffix) in section}
    match attribute.value:
        case list(values):
            if settings:
                problems.append(_problem(attribute, f"is a list, so {' and '.join(settings)} have no meaning"))
            return _listed(attribute, values, problems)
        case bool() | str() | dict():
            problems.append(_problem(attribute, "expected a list of values, or how many there are"))
            return []
        case count:
            return _counted(attribute, count, settings, problems)


def _listed(attribute: JdlAttribute, values: Sequence[JdlValue], problems: list[DescriptionProblem]) -> Sequence[str]:
    if wrong := next((value for value in values if isinstance(value, list | dict)), None):
        problems.append(_problem(attribute, f"a value is text or a number, not {shown(wrong)}"))
        return []
    if not values:
        problems.append(_problem(attribute, "is empty", "a parametric job has one value at least"))
        return []
    return [_written(value) for value in values if not isinstance(value, list | dict)]


def _counted(
    attribute: JdlAttribute,
    count: int | Decimal,
    settings: Mapping[str, JdlAttribute],
    problems: list[DescriptionProblem],
) -> SizedIterable[str]:
    if not isinstance(count, int) or not 0 < count <= MOST_TASKS:
        problems.append(_problem(attribute, f"expected a whole number from 1 to {MOST_TASKS}, not {count}"))
        return []
    if count > 1 and not settings.keys() & {"ParameterStep", "ParameterFactor"}:
        message = "all values would be equal: neither ParameterStep nor ParameterFactor says how they differ"
        problems.append(_problem(attribute, message, "write ParameterStep = 1, or 0 if that is meant"))
        return []
    steps = ParameterSteps(
        count, *(_number(settings.get(name), default, problems) for name, default in SETTINGS.items())
    )
    if fault := _fault_of(steps):
        problems.append(_problem(attribute, fault))
        return []
    return steps


def _fault_of(steps: ParameterSteps) -> str:
    """Why its values are not such as people write, or ""."""
    farthest = abs(steps.start) + abs(steps.step) * steps.count
    if abs(steps.factor) in (0, 1) and farthest <= LARGEST_STEP:
        return ""
    before = None
    for value in islice(steps.numbers(), steps.count):
        if abs(value) > LARGEST_STEP:
            return f"its values grow beyond {LARGEST_STEP:.0e}"
        if value.adjusted() < -MOST_ZEROS:
            return f"its values have more than {MOST_ZEROS} zeros behind the point"
        if value == before:
            return ""
        before = value
    return ""


def _number(attribute: JdlAttribute | None, default: int, problems: list[DescriptionProblem]) -> Decimal:
    if attribute is None:
        return Decimal(default)
    if isinstance(attribute.value, bool) or not isinstance(attribute.value, int | Decimal):
        problems.append(_problem(attribute, f"expected a number, not {shown(attribute.value)}"))
        return Decimal(default)
    return Decimal(attribute.value)


def _written(value: JdlScalar) -> str:
    """0.30 is 0.30, and a Decimal has no exponent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _suffix(attribute: JdlAttribute) -> str:
    """`.A` of `ParameterStart.A`."""
    return attribute.name[attribute.name.index(".") :] if "." in attribute.name else ""


def _name(attribute: JdlAttribute, problems: list[DescriptionProblem]) -> str:
    name = _suffix(attribute).lstrip(".")
    if name in SLOT_LETTERS or name in RESERVED:
        problems.append(_problem(attribute, f"%{name} has a meaning of its own", "choose another name"))
    return name or UNNAMED


def _problem(attribute: JdlAttribute, message: str, hint: str = "") -> DescriptionProblem:
    return DescriptionProblem(str(attribute.place), f"{attribute.name}: {message}", hint)
