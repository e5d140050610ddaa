"""The parameters of a campaign's tasks: where they come from, and what is wrong with them.

A million of them pass here, so each is looked at once, by hand, and those that can be computed are not kept.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cigri.errors import Problem
from cigri.jdl.fields import HOME, IDENTIFIER, unsendable, whole
from cigri.jdl.files import lines_of
from cigri.jdl.problems import CountedFaults, place_of, shown
from cigri.jdl.quoting import BLANKS, is_balanced
from cigri.jdl.sweep import MOST_TASKS, Countable, Sweep, SweepScalar, is_number, parse_range

Parameter = str | list[str] | dict[str, SweepScalar]

SOURCES = ("params", "param_file", "nb_jobs", "sweep")
RESERVED = frozenset({"index", "CAMPAIGN_ID", "HOME"})

_is_suspect = re.compile("['\"\\\\\0\ud800-\udfff]").search


@dataclass(frozen=True)
class Numbers:
    """CiGri's nb_jobs: the lines "0" to "count - 1"."""

    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.count))


def names_of(parameter: Parameter | None) -> frozenset[str]:
    """The names that a parameter gives a value to."""
    return frozenset(parameter) if isinstance(parameter, dict) else frozenset()


def parse_source(
    top: Mapping[str, object], base: Path, home: Path, problems: list[Problem]
) -> Countable[Parameter] | None:
    """The parameters, wherever the description has them; None when that is not clear."""
    given = [source for source in SOURCES if top.get(source) is not None]
    if len(given) != 1:
        several = f"{' and '.join(given)} are given" if given else "no parameters are given"
        problems.append(Problem(given[0] if given else "params", several, f"give one of {', '.join(SOURCES)}"))
        return None
    value, before = top[given[0]], len(problems)
    tasks: Countable[Parameter]
    match given[0]:
        case "params":
            tasks = parse_list(value, problems)
        case "param_file":
            tasks = _from_file(value, base, home, problems)
        case "nb_jobs":
            tasks = _from_number(value, problems)
        case _:
            tasks = _from_sweep(value, problems)
    if len(problems) == before and (count := _length(tasks)) > MOST_TASKS:
        made = f"{count} tasks" if count < MOST_TASKS**3 else "tasks without number"
        problems.append(Problem(given[0], f"makes {made}; a campaign has {MOST_TASKS} at most"))
    return tasks if len(problems) == before else None


def parse_list(value: object, problems: list[Problem], like: Parameter | None = None) -> list[Parameter]:
    """A list of parameters, all of one kind: the kind of `like`, or else of the first one."""
    if not isinstance(value, list):
        problems.append(Problem("params", f"expected a list, not {shown(value)}"))
        return []
    parameters: list[Parameter] = []
    faults = CountedFaults(problems, "parameters are wrong")
    read = _reader_of(like if like is not None else value[0] if value else "")
    for index, item in enumerate(value):
        parameter, fault = read(item)
        if fault:
            faults.add(place_of("params", index), fault)
        else:
            parameters.append(parameter)
    faults.close("params")
    return parameters


Reader = Callable[[object], tuple[Parameter, str]]


def _reader_of(example: object) -> Reader:
    """How to read one item of a list whose items are like the example: what it means, and what is wrong with it."""
    match example:
        case dict():
            names = tuple(example)
            return lambda item: _read_named(item, names)
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


def _read_named(item: object, names: tuple[str, ...]) -> tuple[dict[str, SweepScalar], str]:
    if not isinstance(item, dict):
        return {}, _not_a("an object of names and values", item)
    if not item:
        return {}, "names nothing"
    if item.keys() != set(names):
        return {}, f"has the names {_listed(item)}, the others have {_listed(names)}"
    for name, value in item.items():
        if fault := _fault_of_name(name) or _fault_of_value(value):
            return {}, f"{name}: {fault}"
    return item, ""


def _not_a(kind: str, item: object) -> str:
    return f"expected {kind}, not {shown(item)}; all parameters are of one kind"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or "none"


def _fault_of_name(name: object) -> str:
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        return "is no name: letters, digits and _ only, no digit first"
    return "this name has a meaning of its own" if name in RESERVED else ""


def _fault_of_value(value: object) -> str:
    if isinstance(value, str):
        return unsendable(value)
    return "" if isinstance(value, bool) or is_number(value) else f"expected text or a number, not {shown(value)}"


def _from_file(value: object, base: Path, home: Path, problems: list[Problem]) -> list[Parameter]:
    if not isinstance(value, str):
        problems.append(Problem("param_file", f"expected the name of a file, not {shown(value)}"))
        return []
    path = base / HOME.sub(lambda _: str(home), value.strip(), count=1)
    lines: list[Parameter] = []
    faults = CountedFaults(problems, "parameters are wrong")
    try:
        for number, text in enumerate(lines_of(path), start=1):
            if not text.strip(BLANKS):
                continue
            line, fault = _read_line(text)
            if fault:
                faults.add(f"{value} line {number}", fault)
            lines.append(line)
            if len(lines) > MOST_TASKS:
                problems.append(Problem("param_file", f"has more lines than the {MOST_TASKS} tasks of a campaign"))
                break
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problems.append(Problem("param_file", f"{path} cannot be read: {reason}"))
    faults.close(value)
    return lines


def _from_number(value: object, problems: list[Problem]) -> Countable[Parameter]:
    try:
        return Numbers(whole(0)(value))
    except ValueError as error:
        problems.append(Problem("nb_jobs", str(error)))
        return []


def _from_sweep(value: object, problems: list[Problem]) -> Countable[Parameter]:
    if not isinstance(value, dict) or not value:
        hint = "for example {size: [1, 2], seed: {from: 1, to: 100}}"
        problems.append(Problem("sweep", f"expected an object of names and their values, not {shown(value)}", hint))
        return []
    axes = {}
    faults = CountedFaults(problems, "names are wrong")
    for name, axis in value.items():
        if fault := _fault_of_name(name):
            faults.add(place_of("sweep", name), fault)
        else:
            axes[name] = _axis(axis, place_of("sweep", name), problems)
    faults.close("sweep")
    return Sweep(axes)


def _axis(axis: object, place: str, problems: list[Problem]) -> Countable[SweepScalar]:
    if isinstance(axis, dict):
        return parse_range(axis, place, problems) or []
    if not isinstance(axis, list) or not axis:
        problems.append(Problem(place, f"expected a list of values or a range, not {shown(axis)}"))
        return []
    faults = CountedFaults(problems, "parameters are wrong")
    for index, value in enumerate(axis):
        if fault := _fault_of_value(value):
            faults.add(place_of(place, index), fault)
    faults.close(place)
    return axis


def _length(tasks: Countable[Parameter]) -> int:
    """Like len, for lengths beyond what len can say."""
    return math.prod(map(len, tasks.axes.values())) if isinstance(tasks, Sweep) else len(tasks)
