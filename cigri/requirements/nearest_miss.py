"""What an impossible requirement missed by least, so that its user knows what to change."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from cigri.requirements.judging import QueueRejection, cut, sentence
from cigri.requirements.three_valued_logic import KnownProperties
from cigri.requirements.value_kinds import Kinds, PropertyValue
from cigri.requirements.values import shown
from cigri.states import QueueRejectCode

NEAREST_SHOWN = 8


def nearest_miss(
    rejects: Mapping[str, QueueRejection], classes: Mapping[str, Sequence[KnownProperties]], kinds: Kinds | None = None
) -> str:
    """One sentence; both are by place ("queue@cluster"), and every place has a reject."""
    kinds = kinds or {}
    if not rejects:
        return "there is no queue at all"
    place, reject = max(rejects.items(), key=lambda item: (item[1].passed, item[1].code is not QueueRejectCode.ABSENT))
    near = {place: classes.get(place, ()) for place, other in rejects.items() if other[:2] == reject[:2]}
    match reject.code:
        case QueueRejectCode.TOO_SMALL | QueueRejectCode.TOO_LARGE:
            return _extreme(reject, near, classes, kinds) or f"{place}: {sentence(reject)}"
        case QueueRejectCode.DIFFERENT:
            return f"{reject.wanted} is wanted; {_listed(reject.name, _values(reject.name, near, kinds))}"
        case QueueRejectCode.ABSENT:
            return _absent(reject, classes) or f"{place}: {sentence(reject)}"
        case QueueRejectCode.SITE:
            return f"no queue is at {reject.wanted}; {_listed('sites', _values('site', classes, kinds))}"
        case _:
            return f"nearest is {place}: {sentence(reject)}"


def _extreme(
    reject: QueueRejection,
    near: Mapping[str, Sequence[KnownProperties]],
    all: Mapping[str, Sequence[KnownProperties]],
    kinds: Kinds,
) -> str:
    """ "memory >= 1 TB is wanted; largest memory anywhere: 192 GB on fat@dahu; ask for that at most".

    Where nobody says how much there is, an empty text.
    """
    amounts = [(amount, place) for place, classes in near.items() for amount in _amounts(reject.name, classes)]
    if not amounts:
        return ""
    is_small = reject.code is QueueRejectCode.TOO_SMALL
    choose, word, bound = (max, "largest", "at most") if is_small else (min, "smallest", "at least")
    amount, place = choose(amounts, key=lambda pair: pair[0])
    everywhere = [value for classes in all.values() for value in _amounts(reject.name, classes)]
    where = "anywhere" if choose(everywhere) == amount else "where the rest is as wanted"
    there = f"{word} {reject.name} {where}: {shown(amount, kinds.get(reject.name))} on {place}"
    return f"{reject.wanted} is wanted; {there}; ask for that {bound}"


def _amounts(name: str, classes: Iterable[KnownProperties]) -> list[int | float]:
    values = (value for properties in classes for value in _several(properties.get(name)))
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def _several(value: PropertyValue | None) -> Sequence[PropertyValue]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]


def _absent(reject: QueueRejection, classes: Mapping[str, Sequence[KnownProperties]]) -> str:
    property_names = {name for of_place in classes.values() for properties in of_place for name in properties}
    if reject.name in property_names:
        return ""
    near = get_close_matches(reject.name, sorted(property_names), n=1)
    hint = f"did you mean {near[0]}?" if near else _listed("properties", sorted(property_names))
    return f"no queue has a property {reject.name}; {hint}"


def _values(name: str, classes: Mapping[str, Sequence[KnownProperties]], kinds: Kinds) -> list[str]:
    values = (
        value for of_place in classes.values() for properties in of_place for value in _several(properties.get(name))
    )
    return sorted({shown(value, kinds.get(name)) for value in values})


def _listed(what: str, values: Sequence[str]) -> str:
    if not values:
        return f"there is no {what}"
    more = f" and {len(values) - NEAREST_SHOWN} more" if len(values) > NEAREST_SHOWN else ""
    return cut(f"{what} there: {', '.join(values[:NEAREST_SHOWN])}") + more
