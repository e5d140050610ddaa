"""YAML with JSON's scalars: 010, 1:30, yes and 2024-01-01 are text, and every key is text and given once.

The values are made from the parser's events: libyaml's own composer follows brackets until the stack is full.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import yaml

try:
    from yaml import CSafeLoader as _Parser
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

DEEPEST_YAML = 50
MOST_COPIED = 1_000_000
"""Values that the aliases of a text may stand for: a few lines of them could stand for more than there are atoms."""

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("~", "null", "Null", "NULL", "")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class _AnchoredValue(NamedTuple):
    """A value that aliases may stand for, and how many values it holds, itself included."""

    value: Any
    size: int


def read_yaml(text: str) -> Any:
    """The value of the only document; raise yaml.YAMLError, or ValueError for a number that is too long."""
    return _YamlReader(text).document()


class _YamlReader:
    """Goes through the events of a text once."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = iter(yaml.parse(text, Loader=_Parser))
        self._anchors: dict[str, _AnchoredValue] = {}
        self._count = 0
        self._copied = 0

    def document(self) -> Any:
        next(self._events)  # of the stream
        if not isinstance(next(self._events), yaml.DocumentStartEvent):
            return None
        value = self._value(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        if isinstance(after, yaml.DocumentStartEvent):
            _fail("a second document begins: a description is one", after)
        return value

    def _value(self, event: yaml.Event, depth: int) -> Any:
        if depth > DEEPEST_YAML:
            _fail(f"more than {DEEPEST_YAML} lists and objects stand in one another", event)
        if isinstance(event, yaml.AliasEvent):
            return self._copy(event)
        before = self._count
        self._count += 1
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            _check_tag(event, "seq")
            value = [self._value(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        else:
            _check_tag(event, "map")
            value = self._object(depth + 1)
        if anchor := getattr(event, "anchor", None):
            self._anchors[anchor] = _AnchoredValue(value, self._count - before)
        return value

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        while not isinstance(event := next(self._events), end):
            yield event

    def _object(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        has_merged = False
        for key in self._until(yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                _fail("a key must be text", key)
            is_merge = key.value == "<<" and key.implicit[0]
            if key.value in values or (is_merge and has_merged):
                _fail(f"{key.value[:DEEPEST_YAML]!r} is given twice in the same object", key)
            value = self._value(next(self._events), depth)
            if is_merge:
                merged, has_merged = _merged(value, key), True
            else:
                values[key.value] = value
        return merged | values if has_merged else values

    def _copy(self, alias: yaml.AliasEvent) -> Any:
        anchored = self._anchors.get(alias.anchor or "")
        if anchored is None:
            _fail(f"*{alias.anchor} stands for nothing that is complete before it", alias)
        self._count += anchored.size
        self._copied += anchored.size
        if self._copied > MOST_COPIED:
            _fail(f"the aliases up to here stand for more than {MOST_COPIED} values", alias)
        return anchored.value


def _scalar(event: yaml.ScalarEvent) -> Any:
    text = event.value
    tag = event.tag
    if tag is None or tag == "!":
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in "-+0123456789":
            return text
        return int(text) if _WHOLE.fullmatch(text) else float(text) if _NUMBER.fullmatch(text) else text
    match tag.removeprefix(_TAG):
        case "str":
            return text
        case "null" | "bool" if text in _WORDS:
            return _WORDS[text]
        case "int" if _WHOLE.fullmatch(text):
            return int(text)
        case "float" if _NUMBER.fullmatch(text):
            return float(text)
    _fail(f"the tag {tag[:DEEPEST_YAML]!r} has no meaning for this value", event)


def _check_tag(event: yaml.Event, kind: str) -> None:
    tag = getattr(event, "tag", None)
    if tag not in (None, "!", _TAG + kind):
        _fail(f"the tag {tag[:DEEPEST_YAML]!r} has no meaning here", event)


def _merged(value: object, key: yaml.Event) -> dict[str, Any]:
    """What `<<` brings: of several objects the first one that has a key."""
    objects = value if isinstance(value, list) else [value]
    merged: dict[str, Any] = {}
    for part in reversed(objects):
        if not isinstance(part, dict):
            _fail("<< takes an object, or a list of objects", key)
        merged |= part
    return merged


def _fail(message: str, event: yaml.Event) -> NoReturn:
    mark: Any = event.start_mark  # of one of two classes, of which the types of yaml know one
    raise yaml.MarkedYAMLError(problem=message, problem_mark=mark)
