"""The command, directory and environment of one task, made from a cluster's settings and the task's parameter."""

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from cigri.errors import DescriptionProblem
from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.inputs import checked_name
from cigri.jdl.parameter_files import NO_TABLE
from cigri.jdl.parameters import Parameter, names_of
from cigri.jdl.problems import did_you_mean, place_of
from cigri.jdl.quoting import split
from cigri.jdl.sweep import SweepScalar
from cigri.jdl.value_types import HOME
from cigri.shell.words import WILDCARD, OutputPattern, ShellWord, literal

MACROS = frozenset({"CAMPAIGN_ID", "index", "number"})
OWN_DIRECTORY = ShellWord("")
"""A fresh one, which the wrapper makes for the task."""

_BRACES = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
_SCRIPT_MACRO = re.compile(r"(?<!\$)\{(HOME|CAMPAIGN_ID|OAR_JOB_ID)\}")


class _Template(NamedTuple):
    """A text in the language of str.format, perhaps below the home."""

    text: str
    at_home: bool


class CommandTemplate:
    """A cluster's templates, read once for all tasks; `names` are those of the campaign's named parameters."""

    def __init__(self, settings: ClusterSettings, names: Collection[str] = ()) -> None:
        self._words = [_template(word, names) for word in split(settings.exec_file)]
        self._appends = settings.append
        self._directory = None if settings.own_directory else _template(settings.exec_directory, names)
        self._environment = {name: _readable(text, names) for name, text in settings.environment.items()}
        files = settings.task_inputs.files if settings.task_inputs else ()
        self._own_inputs = [_readable(file.to, names) for file in files]
        self._outputs = [OutputPattern(_readable(text, names), not WILDCARD.search(text)) for text in settings.outputs]

    def words(self, parameter: Parameter, *, campaign_id: int, number: int) -> tuple[ShellWord, ...]:
        """The argument vector; what a parameter holds is never split again nor expanded."""
        values = _values(parameter, campaign_id, number)
        own = [ShellWord(text.format_map(values), at_home) for text, at_home in self._words]
        if not self._appends:
            return tuple(own)
        match parameter:
            case str():
                own += [ShellWord(word) for word in split(parameter)]
            case list():
                own += [ShellWord(word) for word in parameter]
        return tuple(own)

    def directory(self, parameter: Parameter, *, campaign_id: int, number: int) -> ShellWord:
        """Where the command runs; a relative path is below the home."""
        if self._directory is None:
            return OWN_DIRECTORY
        text = self._directory.text.format_map(_values(parameter, campaign_id, number))
        if self._directory.at_home or not text:
            return ShellWord(text, at_home=True)
        return ShellWord(text) if text.startswith("/") else ShellWord(f"/{text}", at_home=True)

    def environment(self, parameter: Parameter, *, campaign_id: int, number: int) -> dict[str, str]:
        """The variables that the user asked for."""
        values = _values(parameter, campaign_id, number)
        return {name: text.format_map(values) for name, text in self._environment.items()}

    def own_inputs(self, parameter: Parameter, *, campaign_id: int, number: int) -> tuple[str, ...]:
        """The names that the task's own files have for it; raise ValueError for one that leads elsewhere."""
        if not self._own_inputs:
            return ()
        values = _values(parameter, campaign_id, number)
        return tuple(checked_name(text.format_map(values)) for text in self._own_inputs)

    def outputs(self, parameter: Parameter, *, campaign_id: int, number: int) -> tuple[OutputPattern, ...]:
        """What is brought of its files, directories before what lies in them; what a parameter holds is no pattern."""
        values = _values(parameter, campaign_id, number)
        literals = {name: literal(text) for name, text in values.items()}
        filled = [output._replace(text=_filled(output, values, literals)) for output in self._outputs]
        return tuple(sorted(filled, key=lambda output: output.text.count("/")))


class Filling:
    """A text in which each task's parameters are filled, before its campaign has a number."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._text = _readable(text, names)

    def of(self, parameter: Parameter, number: int) -> str:
        """Raise KeyError for what nobody knows yet."""
        values = _values(parameter, 0, number)
        del values["CAMPAIGN_ID"]
        return self._text.format_map(values)


def command(settings: ClusterSettings, parameter: Parameter, *, campaign_id: int, number: int) -> tuple[ShellWord, ...]:
    """The argument vector of one task; for many tasks keep a CommandTemplate."""
    return CommandTemplate(settings, names_of(parameter)).words(parameter, campaign_id=campaign_id, number=number)


def directory(settings: ClusterSettings, parameter: Parameter, *, campaign_id: int, number: int) -> ShellWord:
    """The directory of one task."""
    return CommandTemplate(settings, names_of(parameter)).directory(parameter, campaign_id=campaign_id, number=number)


def environment(settings: ClusterSettings, parameter: Parameter, *, campaign_id: int, number: int) -> dict[str, str]:
    """The variables of one task."""
    return CommandTemplate(settings, names_of(parameter)).environment(parameter, campaign_id=campaign_id, number=number)


def step_directory(settings: ClusterSettings, *, campaign_id: int) -> ShellWord:
    """Where a prologue or epilogue runs: with the tasks if all of them run in one directory, else in the home."""
    names = set(_placeholders(HOME.sub("", settings.exec_directory, count=1)))
    if settings.own_directory or "{{" in settings.exec_directory or names - {"CAMPAIGN_ID"}:
        return ShellWord("", at_home=True)
    return directory(settings, "", campaign_id=campaign_id, number=0)


def names_number(settings: ClusterSettings) -> bool:
    """Does the command say itself where the task's number stands?"""
    return any(name == "number" for word in split(settings.exec_file) for name in _placeholders(word))


def script(lines: Sequence[str], *, campaign_id: int) -> str:
    """A prologue or epilogue as text for a shell, CiGri's macros replaced."""
    values = {"HOME": "${HOME}", "CAMPAIGN_ID": str(campaign_id), "OAR_JOB_ID": "${CIGRI_REMOTE_ID}"}
    return "".join(_SCRIPT_MACRO.sub(lambda macro: values[macro[1]], line) + "\n" for line in lines)


def unknown_names(
    clusters: Mapping[str, ClusterSettings], names: Collection[str], place: Callable[..., str] = place_of
) -> Iterator[DescriptionProblem]:
    """Every {name} in a template that no parameter fills."""
    for cluster, settings in clusters.items():
        for steps, text in _texts(settings):
            for name in _placeholders(text):
                if name not in MACROS and name not in names:
                    hint = did_you_mean(name, [*names, *MACROS]) or _how_to_write(name, names)
                    yield DescriptionProblem(
                        place("clusters", cluster, *steps), f"no parameter is called {name!r}", hint
                    )


def _how_to_write(name: str, names: Collection[str]) -> str:
    if names:
        return f"write {{{{{name}}}}} if the braces are meant"
    return "its parameters have no names: write them as objects, or name a table in param_file, as runs.csv"


def unused_columns(clusters: Mapping[str, ClusterSettings], names: Collection[str]) -> list[DescriptionProblem]:
    """A table may have columns that are of no use here, but not all of them can be meant so."""
    unused = list(unused_names(clusters, names))
    if len(unused) < len(names):
        return []
    columns = ", ".join(sorted(names))
    hint = f"write {{{min(names)}}} in exec_file, or the like; {NO_TABLE}"
    return [DescriptionProblem("param_file", f"none of the table's columns is used: {columns}", hint)]


def unused_names(clusters: Mapping[str, ClusterSettings], names: Collection[str]) -> Iterator[DescriptionProblem]:
    """Every name of the named parameters that no cluster makes use of."""
    texts = (text for settings in clusters.values() for _, text in _texts(settings))
    used = {name for text in texts for name in _placeholders(text)}
    for name in sorted(set(names) - used):
        hint = f"write {{{name}}} in exec_file, exec_directory, environment, task_inputs, outputs or resources"
        yield DescriptionProblem("params", f"the parameter {name!r} is used nowhere", hint)


def _texts(settings: ClusterSettings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for word in split(settings.exec_file):
        yield ("exec_file",), HOME.sub("", word, count=1)
    yield ("exec_directory",), HOME.sub("", settings.exec_directory, count=1)
    for name, text in settings.environment.items():
        yield ("environment", name), text
    for index, file in enumerate(settings.task_inputs.files if settings.task_inputs else ()):
        yield ("task_inputs", index), file.path
        yield ("task_inputs", index), file.to
    for index, text in enumerate(settings.outputs):
        yield ("outputs", index), text
    for name, text in settings.resources.formulas.items():
        yield ("resources", name), text


def _placeholders(text: str) -> list[str]:
    return [braces[1] for braces in _BRACES.finditer(text) if braces[1]]


def _template(text: str, names: Collection[str]) -> _Template:
    home = HOME.match(text)
    return _Template(_readable(text[home.end() :] if home else text, names), home is not None)


def _readable(text: str, names: Collection[str]) -> str:
    """The text as str.format reads it: with named parameters {{ is a brace, without them every brace stays."""

    def piece(braces: re.Match[str]) -> str:
        is_field = braces[1] in names or braces[1] in MACROS
        if is_field or (names and braces[0] in ("{{", "}}")):
            return braces[0]
        return braces[0].replace("{", "{{").replace("}", "}}")

    return _BRACES.sub(piece, text)


def _filled(output: OutputPattern, values: Mapping[str, str], literals: Mapping[str, str]) -> str:
    return output.text.format_map(values if output.is_name else literals)


def _values(parameter: Parameter, campaign_id: int, number: int) -> dict[str, str]:
    values = {"CAMPAIGN_ID": str(campaign_id), "index": str(number), "number": str(number)}
    if isinstance(parameter, dict):
        values |= {name: _written(value) for name, value in parameter.items()}
    return values


def _written(value: SweepScalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


# A task as a person would run it in a shell on the cluster.


class ManualCommand(NamedTuple):
    """All quoted for sh; `line` goes to the directory, sets the variables and runs the command."""

    directory: str
    command: str
    line: str


def manual_command(settings: ClusterSettings, parameter: object, campaign_id: int, number: int) -> ManualCommand:
    """One task, of a parameter as it was stored."""
    given = cast(Parameter, parameter)  # it was checked when it was submitted
    command = CommandTemplate(settings, names_of(given))
    numbers = {"campaign_id": campaign_id, "number": number}
    where = command.directory(given, **numbers)
    directory = '"$(mktemp -d)"' if where == OWN_DIRECTORY else where.quoted()
    words = " ".join(word.quoted() for word in command.words(given, **numbers))
    own = {"CIGRI_CAMPAIGN_ID": str(campaign_id), "CIGRI_TASK_NUMBER": str(number)}
    environment = own | command.environment(given, **numbers)
    variables = " ".join(f"{name}={shlex.quote(text)}" for name, text in environment.items())
    return ManualCommand(directory, words, f"cd {directory} && env {variables} {words}")
