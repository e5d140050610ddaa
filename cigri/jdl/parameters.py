"""The parameters of a campaign's tasks: where they come from, and what is wrong with them.

A million of them pass here, so each is looked at once, by hand, and those that can be computed are not kept.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from cigri.errors import DescriptionProblem
from cigri.jdl.parameter_files import NO_TABLE, is_table
from cigri.jdl.problems import ProblemCounter, place_of, shown
from cigri.jdl.quoting import BLANKS, is_balanced
from cigri.jdl.sweep import MOST_TASKS, ParameterSweep, SizedIterable, SweepScalar, is_number, last_of, parse_range
from cigri.jdl.value_types import IDENTIFIER, unsendable, whole

Parameter = str | list[str] | dict[str, SweepScalar]

SOURCES = ("params", "param_file", "nb_jobs", "sweep")
OF_EACH = 9
"""Bytes that each word and variable takes besides its own: its end, and a pointer to it."""
LONGEST_WRITTEN_NUMBER = 400
"""Characters; of true and false, too."""
RESERVED = frozenset({"index", "CAMPAIGN_ID", "HOME"})

_is_suspect = re.compile("['\"\\\\\0\ud800-\udfff]").search


@dataclass(frozen=True)
class NumberedParameters:
    """CiGri's nb_jobs: the lines "0" to "count - 1"."""

    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.count))

    def last(self) -> str:
        """The highest number."""
        return str(self.count - 1)


def names_of(parameter: Parameter | None) -> frozenset[str]:
    """The names that a parameter gives a value to."""
    return frozenset(parameter) if isinstance(parameter, dict) else frozenset()


Reader = Callable[[object], tuple[Parameter, str]]
"""Of one item: what it means, and what is wrong with it."""


@dataclass(frozen=True)
class RepeatableParameters:
    """Parameters that were looked at once, and are read anew each time: a million need not be kept.

    `longest`: characters, as length_of counts them. `is_same`: they are the items as they are; else some are blank, or
    numbers that are to be text.
    """

    items: SizedIterable[object]
    read: Reader
    count: int
    longest: int
    is_same: bool

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Parameter]:
        if self.is_same:
            return cast("Iterator[Parameter]", iter(self.items))
        return (self.read(item)[0] for item in self.items if not self.has_blanks or not _is_blank(item))

    def last(self) -> Parameter:
        """The last parameter; where some items are none, all are gone through."""
        return deque(self, maxlen=1)[0] if self.has_blanks else self.read(last_of(self.items))[0]

    @property
    def has_blanks(self) -> bool:
        """Are there items that are no parameters?"""
        return self.count != len(self.items)


def parse_source(
    top: Mapping[str, object], beside: SizedIterable[object], problems: list[DescriptionProblem]
) -> SizedIterable[Parameter] | None:
    """The parameters, wherever they are; None when that is not clear.

    `beside` the description are those of its params, which are empty then, or the lines or rows of its param_file.
    """
    given = [source for source in SOURCES if top.get(source) is not None] or (["params"] if len(beside) else [])
    if len(given) != 1:
        several = f"{' and '.join(given)} are given" if given else "no parameters are given"
        problems.append(
            DescriptionProblem(given[0] if given else "params", several, f"give one of {', '.join(SOURCES)}")
        )
        return None
    value, before = top.get(given[0]), len(problems)
    tasks: SizedIterable[Parameter]
    match given[0]:
        case "params" if value is None or value == []:
            tasks = parse_items(beside, problems)
        case "param_file" if is_table(value):
            tasks = _from_rows(str(value), beside, problems)
        case "param_file":
            tasks = _from_lines(value, beside, problems)
        case _ if len(beside):
            problems.append(DescriptionProblem(given[0], "is given, and parameters beside it", "leave one of them out"))
            return None
        case "params":
            tasks = parse_list(value, problems)
        case "nb_jobs":
            tasks = _from_number(value, problems)
        case _:
            tasks = _from_sweep(value, problems)
    if len(problems) == before and (count := _length(tasks)) > MOST_TASKS:
        made = f"{count} tasks" if count < MOST_TASKS**3 else "tasks without number"
        problems.append(DescriptionProblem(given[0], f"makes {made}; a campaign has {MOST_TASKS} at most"))
    return tasks if len(problems) == before else None


def parse_list(value: object, problems: list[DescriptionProblem], like: Parameter | None = None) -> list[Parameter]:
    """A list of parameters, all of one kind: the kind of `like`, or else of the first one."""
    if not isinstance(value, list):
        problems.append(DescriptionProblem("params", f"expected a list, not {shown(value)}"))
        return []
    return list(parse_items(value, problems, like))


def parse_items(
    items: SizedIterable[object], problems: list[DescriptionProblem], like: Parameter | None = None
) -> RepeatableParameters:
    """As parse_list, of what may be too much to be kept."""
    faults = ProblemCounter(problems, "parameters are wrong")
    read = _reader_of(like if like is not None else next(iter(items), ""))
    longest, is_same = 0, True
    for index, item in enumerate(items):
        parameter, fault = read(item)
        if fault:
            faults.add(place_of("params", index), fault)
        longest = max(longest, length_of(parameter))
        is_same = is_same and parameter is item
    faults.close("params")
    return RepeatableParameters(items, read, len(items), longest, is_same)


def length_of(parameter: Parameter) -> int:
    """Characters, at the most, of what a parameter gives to words and variables."""
    match parameter:
        case str():
            return len(parameter)
        case list():
            return sum(map(len, parameter)) + OF_EACH * len(parameter)
        case _:
            return sum(map(written_length, parameter.values()))


def written_length(value: SweepScalar) -> int:
    """Characters of a value as it is written, at the most."""
    return len(value) if isinstance(value, str) else LONGEST_WRITTEN_NUMBER


def _reader_of(example: object) -> Reader:
    """How to read one item of a list whose items are like the example: what it means, and what is wrong with it."""
    match example:
        case dict():
            names = tuple(example)
            return lambda item: read_named(item, names)
        case list():
            return _read_words
        case _:
            return _read_line


def _read_line(item: object) -> tuple[str, str]:
    if type(item) is not str:
        if not is_number(item):
            return "", _not_a("text", item)
        item = str(item)
    if _is_suspect(item) is None:
        return item, ""
    return item, unsendable(item) or ("" if is_balanced(item) else "a quote is not closed, or a backslash ends it")


def _read_words(item: object) -> tuple[list[str], str]:
    if not isinstance(item, list):
        return [], _not_a("a list of words", item)
    words = []
    for word in item:
        if not isinstance(word, str) and not is_number(word):
            return [], f"a word is text or a number, not {shown(word)}"
        words.append(str(word))
    return words, next(filter(None, map(unsendable, words)), "")


def read_named(item: object, names: tuple[str, ...]) -> tuple[dict[str, SweepScalar], str]:
    """A parameter that gives a value to each of these names, and what is wrong with it."""
    if not isinstance(item, dict):
        return {}, _not_a("an object of names and values", item)
    if not item:
        return {}, "names nothing"
    if item.keys() != set(names):
        return {}, f"has the names {_listed(item)}, the others have {_listed(names)}"
    for name, value in item.items():
        if fault := fault_of_name(name) or _fault_of_value(value):
            return {}, f"{name}: {fault}"
    return item, ""


def _not_a(kind: str, item: object) -> str:
    return f"expected {kind}, not {shown(item)}; all parameters are of one kind"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or "none"


def fault_of_name(name: object) -> str:
    """What is wrong with the name of a parameter, or ""."""
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        return "is no name: letters, digits and _ only, no digit first"
    return "this name has a meaning of its own" if name in RESERVED else ""


def _fault_of_value(value: object) -> str:
    if isinstance(value, str):
        return unsendable(value)
    return "" if isinstance(value, bool) or is_number(value) else f"expected text or a number, not {shown(value)}"


def _from_lines(
    value: object, lines: SizedIterable[object], problems: list[DescriptionProblem]
) -> SizedIterable[Parameter]:
    """Those of the file with the name `value`, blank ones too."""
    if not isinstance(value, str):
        problems.append(DescriptionProblem("param_file", f"expected the name of a file, not {shown(value)}"))
        return []
    count = longest = 0
    is_same = True
    faults = ProblemCounter(problems, "parameters are wrong")
    for number, text in enumerate(lines, start=1):
        if _is_blank(text):
            is_same = False
            continue
        count += 1
        line, fault = _read_line(text)
        if fault:
            faults.add(f"{value} line {number}", fault)
        longest = max(longest, len(line))
        is_same = is_same and line is text
    faults.close(value)
    return RepeatableParameters(lines, _read_line, count, longest, is_same)


def _from_rows(name: str, rows: SizedIterable[object], problems: list[DescriptionProblem]) -> SizedIterable[Parameter]:
    """Those of a table, which whoever sent them has read."""
    if not isinstance(next(iter(rows), {}), dict):
        problems.append(DescriptionProblem("param_file", f"{name} is a table: send its rows as objects", NO_TABLE))
        return []
    return parse_items(rows, problems)


def _is_blank(line: object) -> bool:
    return isinstance(line, str) and not line.strip(BLANKS)


def _from_number(value: object, problems: list[DescriptionProblem]) -> SizedIterable[Parameter]:
    try:
        return NumberedParameters(whole(0)(value))
    except ValueError as error:
        problems.append(DescriptionProblem("nb_jobs", str(error)))
        return []


def _from_sweep(value: object, problems: list[DescriptionProblem]) -> SizedIterable[Parameter]:
    if not isinstance(value, dict) or not value:
        hint = "for example {size: [1, 2], seed: {from: 1, to: 100}}"
        problems.append(
            DescriptionProblem("sweep", f"expected an object of names and their values, not {shown(value)}", hint)
        )
        return []
    axes = {}
    faults = ProblemCounter(problems, "names are wrong")
    for name, axis in value.items():
        if fault := fault_of_name(name):
            faults.add(place_of("sweep", name), fault)
        else:
            axes[name] = _axis(axis, place_of("sweep", name), problems)
    faults.close("sweep")
    return ParameterSweep(axes)


def _axis(axis: object, place: str, problems: list[DescriptionProblem]) -> SizedIterable[SweepScalar]:
    if isinstance(axis, dict):
        return parse_range(axis, place, problems) or []
    if not isinstance(axis, list) or not axis:
        problems.append(DescriptionProblem(place, f"expected a list of values or a range, not {shown(axis)}"))
        return []
    faults = ProblemCounter(problems, "parameters are wrong")
    for index, value in enumerate(axis):
        if fault := _fault_of_value(value):
            faults.add(place_of(place, index), fault)
    faults.close(place)
    return axis


def _length(tasks: SizedIterable[Parameter]) -> int:
    """Like len, for lengths beyond what len can say."""
    return math.prod(map(len, tasks.axes.values())) if isinstance(tasks, ParameterSweep) else len(tasks)
