"""Descriptions written for CiGri 3: what it ignored is left out and told, and what its shells did is done.

It looked at no values and no names, read commands by a shell, took the last of two equal keys, and Ruby's JSON reads
`\\$` as `$`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, NoReturn

from cigri.jdl.earlier_fields import FIELDS_OF_LATER
from cigri.jdl.parsing import KNOWN_FIELDS
from cigri.jdl.problems import MOST_SHOWN, cut, did_you_mean, place_of
from cigri.jdl.shell_lines import SHELL_FIELD, needs_shell
from cigri.jdl.text_formats import as_strict_json, read

GROUPING_FIELDS = ("temporal_grouping", "dimensional_grouping")
CIGRI3_MARKS = frozenset(
    {
        *("jobs_type", "test_mode", "type", "cluster_job_type", "checkpointing_type", *GROUPING_FIELDS),
        *("output_gathering_method", "output_destination", "output_file"),
    }
)
"""Fields that tell a description of CiGri 3, where it has none that only this CiGri knows."""
CIGRI3_FIELDS = CIGRI3_MARKS | {
    *("name", "clusters", "params", "param_file", "nb_jobs", "exec_file", "exec_directory", "resources", "walltime"),
    *("prologue", "prologue_walltime", "epilogue", "epilogue_walltime", "properties", "project", "max_jobs"),
}
SHELL_FIELDS = ("exec_file", "exec_directory", "prologue", "epilogue")
_ESCAPED_DOLLAR = re.compile(r"\\\$(?=[A-Za-z_{(])")


class Cigri3Description(NamedTuple):
    """The fields as this CiGri takes them, and what its user is to know."""

    fields: dict[str, Any]
    notes: list[str]


def read_cigri3(text: str) -> tuple[object, list[str]]:
    """The value of a text in JSON, of two equal keys the last one, and what is to be known of that.

    Raise DescriptionError where it is no JSON.
    """
    twice: list[str] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            twice.extend(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return values

    load = partial(json.loads, object_pairs_hook=object_of, parse_constant=_refuse_constant)
    text = text.removeprefix("\ufeff")
    try:
        value = load(text)
    except (ValueError, RecursionError):
        try:
            value = load(as_strict_json(text))
        except (ValueError, RecursionError):
            return read(text, "json"), []  # it says where the text breaks
    return value, _cut_notes([f"{cut(key)}: is given twice; the last one holds" for key in dict.fromkeys(twice)])


def looks_like_cigri3(described: object) -> bool:
    """Has it a field, or resources in words, that CiGri 3 takes, and none that only this CiGri knows?"""
    if not isinstance(described, dict):
        return False
    blocks = described.get("clusters")
    places = [described, *(blocks.values() if isinstance(blocks, dict) else ())]
    fields = [(str(key).lower(), value) for place in places if isinstance(place, dict) for key, value in place.items()]
    if any(key in KNOWN_FIELDS and key not in CIGRI3_FIELDS for key, _ in fields):
        return False
    return any(
        key in CIGRI3_MARKS
        or (key == "resources" and isinstance(value, str))
        or (key in SHELL_FIELDS and value != _as_ruby_reads(value))
        for key, value in fields
    )


def from_cigri3(described: Mapping[str, Any], *, is_grouping_asked_for: bool = False) -> Cigri3Description:
    """As this CiGri takes it; with `is_grouping_asked_for` tasks share jobs only where it says so."""
    notes: list[str] = []
    top = _known({str(key).lower(): value for key, value in described.items()}, place_of, notes)
    if top.get("params") is not None:
        for source in ("nb_jobs", "param_file"):
            if top.pop(source, None) is not None:
                notes.append(f"{source}: stands beside params, which hold")
    if isinstance(blocks := top.get("clusters"), dict):
        top["clusters"] = {
            name: _known(block, partial(place_of, "clusters", name), notes) if isinstance(block, dict) else block
            for name, block in blocks.items()
        }
    if is_grouping_asked_for:
        top = dict.fromkeys(GROUPING_FIELDS, False) | top
    return Cigri3Description(top, _cut_notes(notes))


def _known(block: Mapping[str, Any], place: Callable[..., str], notes: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in block.items():
        if key in FIELDS_OF_LATER:
            notes.append(f"{place(key)}: nothing comes of it, as in CiGri 3")
        elif key not in KNOWN_FIELDS:
            hint = did_you_mean(key, KNOWN_FIELDS) if len(notes) < MOST_SHOWN else ""
            notes.append(f"{place(key)}: unknown field, left out{f'; {hint}' if hint else ''}")
        else:
            kept[key] = _as_ruby_reads(value) if key in SHELL_FIELDS else value
    line = kept.get("exec_file")
    if isinstance(line, str) and needs_shell(line):
        kept.setdefault(SHELL_FIELD, True)
    return kept


def _cut_notes(notes: list[str]) -> list[str]:
    """The first of them, and how many there are more."""
    more = len(notes) - MOST_SHOWN
    return [*notes[:MOST_SHOWN], f"{more} more of this kind"] if more > 0 else notes


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _as_ruby_reads(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_ruby_reads(line) for line in value]
    return _ESCAPED_DOLLAR.sub("$", value) if isinstance(value, str) else value
