"""Names in a requirement that the grid has never heard of: most often somebody has misspelled them."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from cigri.requirements.conditions import names
from cigri.requirements.requirement import Requirement
from cigri.requirements.three_valued_logic import FEATURES, KnownProperties
from cigri.requirements.value_kinds import Kinds

MISSPELLED_SHOWN = 8


def unknown_sites(requirement: Requirement, classes: Collection[KnownProperties]) -> Iterator[str]:
    """A sentence for each that is wanted or banned, and is no site and no cluster."""
    places = _places(classes)
    for site in (*requirement.sites, *requirement.banned_sites):
        if site not in places:
            yield f"there is no site {site!r}; {_hint(site, places)}"


def has_known_sites(requirement: Requirement, classes: Collection[KnownProperties]) -> bool:
    """Is there one at least of those that are wanted, and one of those that are banned?"""
    places = _places(classes)
    return all(not places.isdisjoint(sites) for sites in (requirement.sites, requirement.banned_sites) if sites)


def _places(classes: Collection[KnownProperties]) -> set[str]:
    return {
        str(place) for properties in classes for place in (properties.get("site"), properties.get("cluster")) if place
    }


def unknown_properties(requirement: Requirement, classes: Collection[KnownProperties], kinds: Kinds) -> Iterator[str]:
    """A sentence for each that no queue has, as a flag neither."""
    property_names = {name for properties in classes for name in properties} | set(kinds)
    for properties in classes:
        features = properties.get(FEATURES, [])
        property_names |= {str(feature).lower() for feature in (features if isinstance(features, list) else [features])}
    for name in dict.fromkeys(name for condition in requirement.conditions for name in names(condition)):
        if name not in property_names:
            yield f"no queue has a property {name!r}; {_hint(name, property_names)}"


def _hint(word: str, words: Collection[str]) -> str:
    if near := get_close_matches(word, sorted(words), n=1):
        return f"did you mean {near[0]!r}?"
    examples = ", ".join(sorted(words)[:MISSPELLED_SHOWN]) or "none"
    return f"there are: {examples}{' and more' if len(words) > MISSPELLED_SHOWN else ''}"
