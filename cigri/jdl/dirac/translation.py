"""What a job in DIRAC's JDL is for CiGri: a campaign of as many tasks as the job has parameters."""

import re
import shlex
from collections.abc import Collection, Mapping
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.jdl.command import MACROS
from cigri.jdl.dirac.grammar import JdlAttribute, JdlSection, JdlValue, parse
from cigri.jdl.dirac.parametric_jobs import (
    NUMBER,
    UNNAMED,
    ParameterRows,
    ParameterSequences,
    is_of_sequences,
    read_sequences,
    substituted,
    used_names,
    without_marks,
)
from cigri.jdl.dirac.requirements import DIRAC_KEYWORDS, SECTION, read_requirements
from cigri.jdl.problems import ProblemCounter, cut, did_you_mean, shown

DIRAC_FIELDS = {
    "JobName": "name",
    "Arguments": "exec_file",
    "Executable": "exec_file",
    "ExecutionEnvironment": "environment",
    "CPUTime": "walltime",
    "NumberOfProcessors": "resources",
    "Parameters": "params",
    **dict.fromkeys((SECTION, *DIRAC_KEYWORDS), "requirements"),
}
"""The attributes that have a field here, and that field."""
OUTPUTS = ("StdOutput", "StdError", "OutputSandbox")
ATTRIBUTES_OF_LATER = {
    "InputSandbox": "staging of files",
    "InputData": "staging of files",
    "OutputData": "staging of files",
    "OutputPath": "staging of files",
    "OutputSE": "staging of files",
}
KNOWN_ATTRIBUTES = {name.lower(): name for name in (*DIRAC_FIELDS, *OUTPUTS, *ATTRIBUTES_OF_LATER)}

_BLANK = r"(?:\s|\#[^\n]*+|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*"
_ENTRY = r"[A-Za-z_][\w.]*+\s*="
_BEGIN = re.compile(rf"{_BLANK}(?:\[{_BLANK}{_ENTRY}|{_ENTRY}[^\n]*;[ \t]*(?:\#|//|/\*|$))", re.DOTALL | re.MULTILINE)
_MACRO = re.compile("|".join(re.escape(f"{{{name}}}") for name in sorted(MACROS)))


class TranslatedJob(NamedTuple):
    """The fields of a campaign but its tasks (docs/reference/jdl.md), and by field the attribute that says most."""

    fields: dict[str, Any]
    tasks: ParameterRows
    attributes: Mapping[str, JdlAttribute]

    def located(self, problem: DescriptionProblem) -> DescriptionProblem:
        """A problem with a field, told of the attribute where it was written."""
        attribute = self.attributes.get(re.split(r"[.\[]", problem.place)[0])
        if attribute is None:
            return problem
        return problem._replace(place=str(attribute.place), message=f"{attribute.name}: {problem.message}")


def is_dirac(text: str) -> bool:
    """By its begin: an attribute behind a bracket, or one that ends its line with a semicolon."""
    return _BEGIN.match(text) is not None


def translate(text: str) -> TranslatedJob:
    """Raise DescriptionError with all that is wrong, or has no meaning here."""
    job = _DiracJob(parse(text))
    job.check_names()
    sequences = read_sequences(job.section, job.problems)
    names = job.names_used(sequences)
    fields = job.fields(names, has_sequences=sequences is not None)
    job.check_outputs()
    if job.problems:
        raise DescriptionError(job.problems)
    attributes = {field: job.section[name.lower()] for name, field in reversed(DIRAC_FIELDS.items()) if job.has(name)}
    tasks = sequences.parameters(names) if sequences else ParameterRows(1, {})
    return TranslatedJob(fields, tasks, attributes)


class _DiracJob:
    """The attributes of a job, and what is wrong with them."""

    def __init__(self, section: JdlSection) -> None:
        self.section = section
        self.problems: list[DescriptionProblem] = []

    def fields(self, names: Collection[str], *, has_sequences: bool) -> dict[str, Any]:
        """`names`: of the sequences that the job's texts hold."""
        executable, arguments = self._text("Executable"), self._text("Arguments")
        environment = self._texts("ExecutionEnvironment")
        fields: dict[str, Any] = {
            "name": without_marks(self._text("JobName"), has_sequences=has_sequences) or PurePosixPath(executable).name,
            "exec_file": f"{shlex.quote(substituted(executable, names))} {substituted(arguments, names)}".strip(),
            "clusters": "any",
            "requirements": read_requirements(self.section, self.problems),
        }
        if environment:
            pairs = (text.partition("=")[::2] for text in environment)
            fields["environment"] = {name.strip(): substituted(value, names) for name, value in pairs}
        for name in ("CPUTime", "NumberOfProcessors"):
            if self.has(name):
                value = self.section[name.lower()].value
                fields[DIRAC_FIELDS[name]] = float(value) if isinstance(value, Decimal) else value
        if "resources" in fields:
            fields["resources"] = {"cpu": fields["resources"]}
        return fields

    def has(self, name: str) -> bool:
        return name.lower() in self.section

    def check_names(self) -> None:
        """Nothing is left out in silence."""
        unknown = ProblemCounter(self.problems, "attributes are unknown")
        for name, attribute in self.section.items():
            if name not in KNOWN_ATTRIBUTES and not is_of_sequences(name):
                hint = "" if unknown.is_full else did_you_mean(name, KNOWN_ATTRIBUTES)
                place = str(attribute.place)
                unknown.add(place, f"{cut(attribute.name)}: has no meaning here", hint or "leave it out")
        unknown.close("the description")
        for name, capability in ATTRIBUTES_OF_LATER.items():
            if self.has(name) and not _is_nothing(self.section[name.lower()].value):
                self._complain(name, f"{capability} is not supported yet", "leave it out")
        if not self.has("Executable"):
            self.problems.append(DescriptionProblem("the description", "Executable is missing"))

    def check_outputs(self) -> None:
        """What a task writes to its output and its errors is kept for all tasks; other files are not fetched."""
        kept = {self._text("StdOutput"), self._text("StdError")}
        others = (name for name in self._texts("OutputSandbox") if name not in kept)
        if other := next(others, ""):
            self._complain("OutputSandbox", f"only StdOutput and StdError are kept, not {shown(other)}")

    def names_used(self, sequences: ParameterSequences | None) -> set[str]:
        """Of the sequences, those that the job's texts hold."""
        used: set[str] = set()
        faults = ProblemCounter(self.problems, "marks stand for no sequence")
        for name in ("JobName", "Executable", "Arguments", "ExecutionEnvironment"):
            texts = self._texts(name)
            here = used_names(texts) if sequences else set()
            of_sequences = {*sequences.values, NUMBER} if sequences else set()
            for unknown in sorted(here - of_sequences):
                missing = "Parameters" if unknown == UNNAMED else f"Parameters.{unknown}"
                place = str(self.section[name.lower()].place)
                faults.add(place, f"{name}: {_mark(unknown)} stands for no sequence", f"there is no {missing}")
            if name != "JobName" and (macro := next(filter(None, map(_MACRO.search, texts)), None)):
                self._complain(name, f"{macro[0]} has a meaning here", "write %n or %j")
            used |= here & of_sequences if name != "JobName" else set()
        faults.close("the description")
        return used

    def _text(self, name: str) -> str:
        texts = self._texts(name)
        if len(texts) > 1:
            self._complain(name, "expected one text, not several")
        return texts[0] if texts else ""

    def _texts(self, name: str) -> list[str]:
        """One text or a list of them; none where there is nothing."""
        value = self.section[name.lower()].value if self.has(name) else []
        values = value if isinstance(value, list) else [value]
        if wrong := next(([value] for value in values if not isinstance(value, str)), None):
            self._complain(name, f"expected text, not {shown(wrong[0])}", "put it in double quotes")
        return [text for text in values if isinstance(text, str)]

    def _complain(self, name: str, message: str, hint: str = "") -> None:
        problem = DescriptionProblem(str(self.section[name.lower()].place), f"{name}: {message}", hint)
        if problem not in self.problems:
            self.problems.append(problem)


def _mark(name: str) -> str:
    return f"%{name}" if name == UNNAMED else f"%({name})s"


def _is_nothing(value: JdlValue) -> bool:
    return value in ("", [], {}) or (isinstance(value, str) and value.lower() == "any")
