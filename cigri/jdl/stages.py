"""Several campaigns in one description, one after the other: `stages: [{name: prepare, ...}, {name: solve, ...}]`.

What stands around them holds for each that says nothing else; each waits for the one before, unless it says for which.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.jdl.parameters import SOURCES
from cigri.jdl.problems import place_of, shown

STAGES = "stages"
MOST_STAGES = 50
HOW_STAGES = "each is a description with a name"

Fields = dict[str, Any]


def stages_of(described: object) -> list[Fields]:
    """A description for each stage, whose campaigns are named after it; none where there are no stages.

    Raise DescriptionError for what is no list of them; what is wrong with one of them is told when that is read.
    """
    top = _lowered(described)
    if STAGES not in top:
        return []
    stages = top.pop(STAGES)
    if not isinstance(stages, list) or not stages or not all(isinstance(stage, dict) for stage in stages):
        raise DescriptionError(
            [DescriptionProblem(STAGES, f"expected a list of stages, not {shown(stages)}", HOW_STAGES)]
        )
    if len(stages) > MOST_STAGES:
        raise DescriptionError([DescriptionProblem(STAGES, f"these are {len(stages)}; there may be {MOST_STAGES}")])
    own = [_lowered(stage) for stage in stages]
    if problems := [*_faults(own)]:
        raise DescriptionError(problems)
    names = [str(stage["name"]).strip() for stage in own]
    whole = {name: f"{top['name']}.{name}" if top.get("name") else name for name in names}
    return [_campaign(top, stage, place, names, whole) for place, stage in enumerate(own)]


def _lowered(described: object) -> Fields:
    return {str(key).lower(): value for key, value in described.items()} if isinstance(described, dict) else {}


def _faults(stages: Sequence[Fields]) -> Iterator[DescriptionProblem]:
    seen = set[str]()
    for place, stage in enumerate(stages):
        name = stage.get("name")
        if not isinstance(name, str | int) or not str(name).strip():
            yield DescriptionProblem(place_of(STAGES, place, "name"), "is missing", HOW_STAGES)
        elif str(name).strip() in seen:
            yield DescriptionProblem(place_of(STAGES, place, "name"), f"{shown(name)} is the name of another stage")
        else:
            seen.add(str(name).strip())
        if STAGES in stage:
            yield DescriptionProblem(place_of(STAGES, place, STAGES), "a stage has no stages")


def _campaign(
    common: Mapping[str, Any], stage: Fields, place: int, names: Sequence[str], whole: Mapping[str, str]
) -> Fields:
    """As if it stood alone; parameters of its own replace those that stand around."""
    is_own = any(stage.get(source) is not None for source in SOURCES)
    around = {key: value for key, value in common.items() if not (is_own and key in SOURCES)}
    if place:
        around["after"] = names[place - 1]
    fields = {**around, **stage, "name": whole[names[place]]}
    if fields.get("after") is not None:
        later = {*names[place:]}
        fields["after"] = _named(fields["after"], whole, later, place_of(STAGES, place, "after"))
    return fields


def _named(after: object, whole: Mapping[str, str], later: set[str], where: str) -> object:
    """With the names of campaigns in place of those of stages; only one that stands before may be waited for."""
    if isinstance(after, list):
        return [_named(each, whole, later, where) for each in after]
    if isinstance(after, dict):
        return {**after, "campaign": _named(after["campaign"], whole, later, where)} if "campaign" in after else after
    if not isinstance(after, str):
        return after
    name, colon, tasks = after.rpartition(":")
    name, tasks = (name, f":{tasks}") if colon and tasks in ("all", "same") else (after, "")
    if name in later:
        hint = "stages stand in the order in which they run"
        raise DescriptionError([DescriptionProblem(where, f"stage {shown(name)} does not stand before", hint)])
    return f"{whole.get(name, name)}{tasks}"
