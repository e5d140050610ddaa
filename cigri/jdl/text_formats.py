"""Text to plain values: JSON, YAML and TOML, each key given once, and where the text breaks."""

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Literal, NoReturn

import yaml

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.formats.machine_text import TOO_DEEP
from cigri.jdl.problems import shown
from cigri.jdl.yaml_values import DEEPEST_YAML, read_yaml

Format = Literal["json", "yaml", "toml"]

SUFFIXES: dict[str, Format] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}

PARSER_TOO_DEEP = "nesting"  # libyaml of PyYAML 6.0.4 "exceeded maximum nesting depth" before it gives the first event

_TOML_START = re.compile(r"""(?:\[\[?[\w.'" -]+\]\]?\s*(?:\#.*)?$|[\w.'" -]+=)""")
_JSON_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*', re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_TOML_TEXT = re.compile(
    r'''"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*(?:"{3,5}|\Z)|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?|'''
    r"""'{3}.*?(?:'{3,5}|\Z)|'[^'\n]*+'?|\#[^\n]*+""",
    re.DOTALL,
)
_TOML_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{DEEPEST_YAML}}}")


def format_of(path: str | PurePath) -> Format | None:
    """The format that a file's name tells; None: look at its content."""
    return SUFFIXES.get(PurePath(path).suffix.lower())


def read_list(text: str, format: Format | None) -> list[Any]:
    """Like read, of a list of parameters: a text that can be no TOML, which knows no lists at the top."""
    value = read(text, format or ("json" if text.lstrip("\ufeff \t\r\n").startswith("[") else "yaml"))
    if not isinstance(value, list):
        _fail("params", f"expected a list, not {shown(value)}")
    return value


def read(text: str, format: Format | None) -> Any:
    """The plain value of a text; raise DescriptionError where it breaks."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        _fail("the description", "is empty")
    try:
        match format or _format_by_content(text):
            case "json":
                return _from_json(text)
            case "toml":
                return _from_toml(text)
            case "yaml":
                return read_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = TOO_DEEP if PARSER_TOO_DEEP in (error.problem or "") else error.problem or "is not YAML"
        _fail(_spot(mark.line + 1, mark.column + 1) if mark else "YAML", problem)
    except tomllib.TOMLDecodeError as error:
        _fail_in_toml(error)
    except RecursionError:
        _fail("the description", TOO_DEEP)
    except yaml.YAMLError as error:
        _fail("the description", str(error))
    except ValueError:
        _fail("the description", "holds a number that is too long to be meant")


def _format_by_content(text: str) -> Format:
    """JSON has a brace or bracket first, TOML a table or an assignment, YAML the rest."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if _TOML_START.match(first):
        return "toml"
    return "json" if first.startswith(("{", "[", "//", "/*")) else "yaml"


def _from_json(text: str) -> Any:
    try:
        return _load_json(text)
    except json.JSONDecodeError as error:
        without = as_strict_json(text)
        if without == text:
            _fail(_spot(error.lineno, error.colno), error.msg)
    try:
        return _load_json(without)
    except json.JSONDecodeError as error:
        _fail(_spot(error.lineno, error.colno), error.msg)


def as_strict_json(text: str) -> str:
    """Without what CiGri 3 takes in JSON, and nobody else: comments, and a backslash before a dollar."""
    return _JSON_TOKEN.sub(_as_strict, text)


def _load_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        _check_once(key for key, _ in pairs)
    return values


def _check_once(keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            _fail(key, "is given twice in the same object")
        seen.add(key)


def _no_number(word: str) -> NoReturn:
    _fail(word, "is not a number")


def _as_strict(token: re.Match[str]) -> str:
    if token[0].startswith('"'):
        return _ESCAPE.sub(lambda escape: "$" if escape[0] == r"\$" else escape[0], token[0])
    return re.sub(r"[^\n]", " ", token[0])


def _from_toml(text: str) -> Any:
    """Each part of a dotted key is a table of its own, and tomllib keeps the way to each of them."""
    if _TOML_LONG_KEY.search(_TOML_TEXT.sub("x", text)):
        _fail("TOML", f"more than {DEEPEST_YAML} words stand in one dotted key")
    return tomllib.loads(text)


def _fail_in_toml(error: tomllib.TOMLDecodeError) -> NoReturn:
    text = str(error)
    position = re.search(r" \(at line (\d+), column (\d+)\)$", text)
    if position is None:
        _fail("TOML", text)
    _fail(_spot(int(position[1]), int(position[2])), text[: position.start()])


def _spot(line: int, column: int) -> str:
    return f"line {line}, column {column}"


def _fail(place: str, message: str) -> NoReturn:
    raise DescriptionError([DescriptionProblem(place, message)])
