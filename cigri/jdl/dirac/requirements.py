"""What a job in DIRAC's JDL wants of queues: Site, BannedSite, Platform, and the section Requirements of RFC 7."""

from decimal import Decimal
from typing import Any

from cigri.errors import DescriptionProblem, RequirementError
from cigri.jdl.dirac.grammar import JdlAttribute, JdlSection, JdlValue
from cigri.requirements import BUILT_IN, parse_requirement

SECTION = "Requirements"
DIRAC_KEYWORDS = ("Site", "Sites", "BannedSite", "BannedSites", "Platform", "Platforms")
"""Those that may stand beside the section; CPUTime is the walltime there."""


def read_requirements(section: JdlSection, problems: list[DescriptionProblem]) -> dict[str, Any]:
    """The field `requirements`; empty where nothing is wanted, or something is wrong, which is added to `problems`."""
    before = len(problems)
    given = _given(section, problems)
    raw = {attribute.name: _plain(attribute, problems) for attribute in given.values()}
    if len(problems) == before:
        try:
            parse_requirement(raw, BUILT_IN)
        except RequirementError as error:
            problems += [_located(problem, given) for problem in error.problems]
    return raw if len(problems) == before else {}


def _given(section: JdlSection, problems: list[DescriptionProblem]) -> dict[str, JdlAttribute]:
    """All that is wanted, by names in small letters."""
    given = {name.lower(): section[name.lower()] for name in DIRAC_KEYWORDS if name.lower() in section}
    whole = section.get(SECTION.lower())
    if whole is None or whole.value == "":
        return given
    if isinstance(whole.value, str):
        return {**given, "where": JdlAttribute("where", whole.value, whole.place)}
    if not isinstance(whole.value, dict):
        problems.append(_problem(whole, "expected a section, or an expression in quotes", "write [Memory = 4000;]"))
        return given
    for name, attribute in whole.value.items():
        if name in given:
            problems.append(_problem(attribute, f"is given twice, first in {given[name].place}"))
        given[name] = attribute
    return given


def _plain(attribute: JdlAttribute, problems: list[DescriptionProblem]) -> object:
    """As JSON has it."""

    def plain(value: JdlValue) -> object:
        match value:
            case dict():
                problems.append(_problem(attribute, "expected a value, or a list of them, not a section"))
                return None
            case list():
                return [plain(item) for item in value]
            case Decimal():
                return float(value)
            case _:
                return value

    return plain(attribute.value)


def _located(problem: DescriptionProblem, given: dict[str, JdlAttribute]) -> DescriptionProblem:
    """Told of the attribute where it was written; a column is that of its text."""
    name, _, column = problem.place.partition(", ")
    attribute = given.get(name.lower()) or next(other for key, other in given.items() if key.startswith(name.lower()))
    message = f"{column} of its text: {problem.message}" if column else problem.message
    return _problem(attribute, message, problem.hint)


def _problem(attribute: JdlAttribute, message: str, hint: str = "") -> DescriptionProblem:
    return DescriptionProblem(str(attribute.place), f"{attribute.name}: {message}", hint)
