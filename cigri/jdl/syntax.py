"""Text to plain values: JSON, YAML and TOML, each key given once, and where the text breaks."""

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Literal, NoReturn

import yaml

from cigri.errors import DescriptionError, Problem

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

Format = Literal["json", "yaml", "toml"]

SUFFIXES: dict[str, Format] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}

_TOML_START = re.compile(r"""(?:\[\[?[\w.'" -]+\]\]?\s*(?:\#.*)?$|[\w.'" -]+=)""")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|/\*.*?\*/|//[^\n]*', re.DOTALL)


def format_of(path: str | PurePath) -> Format | None:
    """The format that a file's name tells; None: look at its content."""
    return SUFFIXES.get(PurePath(path).suffix.lower())


def read_list(text: str, format: Format | None) -> Any:
    """Like read, for a text that can be no TOML, which knows no lists at the top."""
    return read(text, format or ("json" if text.lstrip("\ufeff \t\r\n").startswith("[") else "yaml"))


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
                return tomllib.loads(text)
            case "yaml":
                return yaml.load(text, _Loader)  # noqa: S506  our loader is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _fail(_spot(mark.line + 1, mark.column + 1) if mark else "YAML", error.problem or "is not YAML")
    except tomllib.TOMLDecodeError as error:
        _fail_in_toml(error)
    except RecursionError:
        _fail("the description", "is nested too deeply")
    except (ValueError, yaml.YAMLError) as error:
        _fail("the description", str(error))


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
        without = _JSON_TOKEN.sub(_blank_comment, text)  # CiGri 3 takes JSON with comments
        if without == text:
            _fail(_spot(error.lineno, error.colno), error.msg)
    try:
        return _load_json(without)
    except json.JSONDecodeError as error:
        _fail(_spot(error.lineno, error.colno), error.msg)


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


def _blank_comment(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else re.sub(r"[^\n]", " ", token[0])


def _fail_in_toml(error: tomllib.TOMLDecodeError) -> NoReturn:
    text = str(error)
    found = re.search(r" \(at line (\d+), column (\d+)\)$", text)
    _fail(_spot(int(found[1]), int(found[2])) if found else "TOML", text[: found.start()] if found else text)


def _spot(line: int, column: int) -> str:
    return f"line {line}, column {column}"


def _fail(place: str, message: str) -> NoReturn:
    raise DescriptionError([Problem(place, message)])


class _Loader(_SafeLoader):
    """YAML with JSON's scalars: 010, 1:30, yes and 2024-01-01 are text, and every key is text and given once."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  yaml's own way to name them


def _construct_mapping(loader: Any, node: yaml.MappingNode) -> Any:
    values: dict[str, Any] = {}
    yield values
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key must be text", key.start_mark)
        if key.value in seen:
            message = f"{key.value!r} is given twice in the same object"
            raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
        seen.add(key.value)
    loader.flatten_mapping(node)
    values.update((key.value, loader.construct_object(value)) for key, value in node.value)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
for _tag, _pattern, _first in (
    ("merge", "<<", "<"),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", "[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", list("-+0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})\\Z"), _first)
