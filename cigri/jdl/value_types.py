"""How each kind of value is written: text, whole numbers, durations, lists; a wrong one says what was expected."""

import math
import re
from collections.abc import Callable, Iterable
from datetime import time
from decimal import Decimal
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.formats.priority import HOW_PRIORITY, MOST_PRIORITY
from cigri.formats.units import HOW_DURATION, read_duration
from cigri.jdl.problems import did_you_mean, invalid_value, unexpected_value
from cigri.jdl.quoting import expanded_by_sh, is_balanced, split

LONGEST_LINE = 4000
HOME = re.compile(r"^(?:~|\$HOME|\$\{HOME\}|\{HOME\})(?=/|\Z)")
LIMIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
# C0, DEL, C1, ends of lines and paragraphs, and what turns text around
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TYPES = re.compile(r"\s*timesharing=[^,]*,[^,]*|[^,]+")
_HOME_INSIDE = re.compile(r"(?<!^)(?<!\$)\{HOME\}")

JobType = Literal["best-effort", "normal", "semi-best-effort", "nightly"]


def in_any_case(words: Iterable[str]) -> str:
    """A pattern of these words, with blanks around them, for readers that know no flags."""
    cased = ("".join(f"[{c.upper()}{c}]" if c.isalpha() else re.escape(c) for c in word) for word in words)
    return rf"^\s*({'|'.join(cased)})\s*$"


def unsendable(text: str) -> str:
    """Why this text can be no word of a command, or ""."""
    character = _UNSENDABLE.search(text)
    if character is None:
        return ""
    return "holds a NUL character" if character[0] == "\0" else "holds bytes that are not UTF-8 text"


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise unexpected_value("text", value, "put it in quotes")
    if fault := unsendable(value):
        raise invalid_value(fault)
    return value


def _printed(value: object) -> str:
    text = _text(value).strip()
    if _CONTROL.search(text):
        raise unexpected_value("one line without control characters", value)
    return text


def line(value: object) -> str:
    text = _printed(value)
    if len(text) > LONGEST_LINE:
        raise unexpected_value(f"a line of at most {LONGEST_LINE} characters", value)
    return text


def _filled(value: str) -> str:
    if not value:
        raise unexpected_value("some text", value)
    return value


def whole(minimum: int) -> Callable[[object], int]:
    """A reader of whole numbers from `minimum` on; digits in a string are a number too."""

    def read(value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
            value = int(value)
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= LARGEST_INTEGER:
            raise unexpected_value(f"a whole number, {minimum} or more", value)
        return value

    return read


def _priority(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST_PRIORITY:
        raise unexpected_value(HOW_PRIORITY, value, "higher goes first among yours")
    return value


def whole_seconds(value: object) -> int:
    """A duration as people write it, in whole seconds, rounded up."""
    if isinstance(value, time):  # TOML reads 01:00:00 as a time of day
        value = value.isoformat()
    if isinstance(value, str) and (seconds := _duration(value)) is not None:
        value = math.ceil(seconds)
    if isinstance(value, float) and math.isfinite(value):
        value = math.ceil(value)
    try:
        return whole(1)(value)
    except ValueError:
        raise unexpected_value("a duration", value, HOW_DURATION) from None


def _duration(text: str) -> Decimal | None:
    try:
        return read_duration(text)
    except ValueError as error:
        raise invalid_value(str(error)) from None


def truth(value: object) -> bool:
    """true or false, or the same words as strings; nothing is false."""
    if isinstance(value, str) and value.strip().lower() in ("true", "false", ""):
        value = value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise unexpected_value("true or false", value)
    return value


def _several_lines(value: object) -> object:
    if isinstance(value, str):
        return value.splitlines()
    if not isinstance(value, list | tuple):
        raise unexpected_value("a list of sh lines, or one string", value)
    return value


def _job_type(value: object) -> str:
    word = line(value).lower().replace("besteffort", "best-effort")
    types = get_args(JobType)
    if word not in types:
        raise unexpected_value(f"one of {', '.join(map(repr, types))}", value, did_you_mean(word, types))
    return word


def _types(value: object) -> object:
    """Several in one string, as CiGri 3 has it; the comma within `timesharing=*,*` parts nothing."""
    if isinstance(value, str):
        return [word.strip() for word in _TYPES.findall(value) if word.strip()]
    if not isinstance(value, list | tuple):
        raise unexpected_value("the batch system's own types of jobs", value, "write them in a list")
    return value


def _mapping(value: object) -> object:
    if not isinstance(value, dict):
        raise unexpected_value("an object of names and values", value)
    return value


def _limit_name(name: str) -> str:
    if not LIMIT_NAME.fullmatch(name):
        raise invalid_value("is no name of a limit", "letters, digits, '.', '_' and '-' only")
    return name


def _variable(name: str) -> str:
    if not IDENTIFIER.fullmatch(name):
        raise invalid_value("is no name of an environment variable", "letters, digits and _ only, no digit first")
    if name.startswith("CIGRI_"):
        raise invalid_value("names that start with CIGRI_ are set by CiGri itself")
    return name


def _variable_value(value: str) -> str:
    if HOME.match(value) or "{HOME}" in value:
        raise invalid_value("nothing but {parameters} is replaced in a value, the home neither", "write the whole path")
    return value


def _command_line(value: str) -> str:
    if not is_balanced(value):
        raise invalid_value("a quote is not closed, or a backslash ends the line")
    words = split(value)
    if not words or not words[0]:
        raise unexpected_value("a command", value)
    if piece := expanded_by_sh(value):
        raise invalid_value(
            f"no shell reads this line, so {piece} would not do its work",
            "quote it if it is meant as it is; else put the line in a script, or write shell: true beside it",
        )
    if _ASSIGNMENT.match(words[0]):
        raise invalid_value(
            "the line starts with an assignment, not a command", "set it in 'environment', or write shell: true"
        )
    for word in words:
        if _HOME_INSIDE.search(word):
            raise invalid_value(f"{{HOME}} is understood at the head of a word only, not inside {word!r}")
    return value


def _directory(value: str) -> str:
    if "$" in HOME.sub("", value, count=1) or _HOME_INSIDE.search(value):
        raise invalid_value("only the home at its head is replaced in a directory, no other variable")
    return value


# How each may be written, beside what reads it: the schema of a description is made of these.

_Digits = Annotated[str, Field(pattern=r"^\s*[+-]?[0-9]{1,18}\s*$")]
_WrittenText = str | int
_WrittenLine = Annotated[str, Field(max_length=LONGEST_LINE)] | int
_WrittenName = Annotated[str, Field(min_length=1, max_length=LONGEST_LINE)] | int
_WrittenNatural = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)] | _Digits
_WrittenPositive = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | _Digits
_WrittenPriority = Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] | _Digits
_WrittenSeconds = Annotated[float, Field(gt=0, le=LARGEST_INTEGER)] | Annotated[str, Field(min_length=1)]
_WrittenTruth = bool | Annotated[str, Field(pattern=in_any_case(("true", "false", "")))]
_WrittenType = Annotated[str, Field(pattern=in_any_case((*get_args(JobType), "besteffort", "semi-besteffort")))]

Text = Annotated[str, BeforeValidator(_text, json_schema_input_type=_WrittenText)]
Line = Annotated[str, BeforeValidator(line, json_schema_input_type=_WrittenLine)]
Name = Annotated[str, BeforeValidator(line, json_schema_input_type=_WrittenName), AfterValidator(_filled)]
Natural = Annotated[int, BeforeValidator(whole(0), json_schema_input_type=_WrittenNatural)]
Positive = Annotated[int, BeforeValidator(whole(1), json_schema_input_type=_WrittenPositive)]
Priority = Annotated[int, BeforeValidator(_priority, json_schema_input_type=_WrittenPriority)]
Seconds = Annotated[int, BeforeValidator(whole_seconds, json_schema_input_type=_WrittenSeconds)]
BooleanField = Annotated[bool, BeforeValidator(truth, json_schema_input_type=_WrittenTruth)]
Lines = Annotated[tuple[Text, ...], BeforeValidator(_several_lines, json_schema_input_type=list[Text] | str)]
TypeOfJobs = Annotated[JobType, BeforeValidator(_job_type, json_schema_input_type=_WrittenType)]
TypesOfJobs = Annotated[
    tuple[Annotated[Line, AfterValidator(_filled)], ...],
    BeforeValidator(_types, json_schema_input_type=list[Line] | str),
]
Variable = Annotated[str, AfterValidator(_variable)]
Limits = Annotated[dict[Annotated[Text, AfterValidator(_limit_name)], Positive], BeforeValidator(_mapping)]
Environment = Annotated[dict[Variable, Annotated[Text, AfterValidator(_variable_value)]], BeforeValidator(_mapping)]
CommandLine = Annotated[
    str,
    BeforeValidator(_printed, json_schema_input_type=Annotated[str, Field(min_length=1)] | int),
    AfterValidator(_command_line),
]
Directory = Annotated[str, BeforeValidator(line, json_schema_input_type=_WrittenLine), AfterValidator(_directory)]
