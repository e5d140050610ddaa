"""Whether a program can be started with all its words: Linux takes neither very long ones nor very many.

Nearly all tasks are far below the limits, as the lengths of their parameters show; of the others the words are made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from cigri.errors import DescriptionProblem
from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.command import CommandTemplate
from cigri.jdl.dirac.parametric_jobs import ParameterRows
from cigri.jdl.parameters import (
    LONGEST_WRITTEN_NUMBER,
    OF_EACH,
    NumberedParameters,
    Parameter,
    RepeatableParameters,
    length_of,
    names_of,
    written_length,
)
from cigri.jdl.problems import ProblemCounter
from cigri.jdl.sweep import ParameterSweep, SizedIterable, SweepScalar

LONGEST_WORD = 131_071
"""Bytes; of a variable with its name."""
MOST_BYTES = 1_900_000
"""Of all words and variables: 2 MiB, less what the cluster sets itself."""
WIDEST = 4
"""Bytes of a character."""
OTHERS_TOO_LONG = "tasks have words that are too long"


def check_length(
    clusters: Mapping[str, ClusterSettings],
    tasks: SizedIterable[Parameter],
    problems: list[DescriptionProblem],
    place: Callable[[int], str] = "task {}".format,
) -> None:
    """A problem for each task whose words are too long, or too many, on one of the clusters; `place` names a task."""
    first = next(iter(tasks), None)
    if first is None:
        return
    distinct = {tuple(_templates(settings)): settings for settings in clusters.values()}
    safe = min(map(_safe_length, distinct), default=0)
    faults = ProblemCounter(problems, OTHERS_TOO_LONG)
    commands = [CommandTemplate(settings, names_of(first)) for settings in distinct.values()]
    for number, parameter in _suspects(tasks, safe):
        if fault := next(filter(None, (_fault(command, parameter, number) for command in commands)), ""):
            faults.add(place(number), fault)
    faults.close("params")


def fault_of_words(words: Iterable[str]) -> str:
    """Why no program can be started with these, or ""."""
    sizes = [len(word.encode(errors="surrogatepass")) for word in words]
    if (longest := max(sizes, default=0)) > LONGEST_WORD:
        return f"a word of {longest} bytes, and no system takes more than {LONGEST_WORD}: put it in a file"
    if (total := sum(sizes) + OF_EACH * len(sizes)) > MOST_BYTES:
        return f"words and variables of {total} bytes, and no system takes more than {MOST_BYTES}: put them in a file"
    return ""


def _templates(settings: ClusterSettings) -> Iterator[str]:
    """All that words and variables are made of, but the parameter."""
    yield settings.exec_file
    for name, value in settings.environment.items():
        yield f"{name}={value}"
    for name in settings.resources.amounts:
        yield f"CIGRI_RESOURCE_{name}={'9' * LONGEST_WRITTEN_NUMBER}"


def _safe_length(templates: Iterable[str]) -> int:
    """A parameter of so many characters is short enough, wherever it is put in."""
    whole = " ".join(templates)
    return (LONGEST_WORD - len(whole.encode())) // (WIDEST * (1 + whole.count("{")))


def _suspects(tasks: SizedIterable[Parameter], safe: int) -> Iterator[tuple[int, Parameter]]:
    """The first one, and all that may be too long."""
    if _are_all_short(tasks, safe):
        yield from zip(range(1), tasks, strict=False)
        return
    for number, parameter in enumerate(tasks):
        if number == 0 or length_of(parameter) > safe:
            yield number, parameter


def _are_all_short(tasks: SizedIterable[Parameter], safe: int) -> bool:
    """Are all known to be short without going through them?"""
    columns: Iterable[SizedIterable[SweepScalar]]
    match tasks:
        case RepeatableParameters():
            return tasks.longest <= safe
        case NumberedParameters():
            columns = [range(1)]
        case ParameterSweep(columns_by_name) | ParameterRows(_, columns_by_name):
            columns = columns_by_name.values()
        case _:
            return False
    lengths = (
        max(map(written_length, values)) if isinstance(values, list) else LONGEST_WRITTEN_NUMBER for values in columns
    )
    return sum(lengths) <= safe


def _fault(command: CommandTemplate, parameter: Parameter, number: int) -> str:
    words = command.words(parameter, campaign_id=0, number=number)
    variables = command.environment(parameter, campaign_id=0, number=number)
    return fault_of_words([*(word.text for word in words), *(f"{name}={value}" for name, value in variables.items())])
