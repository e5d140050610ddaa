"""Names in a requirement that the grid has never heard of: most often somebody has misspelled them."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from cigri.requirements.conditions import names
from cigri.requirements.kinds import Kinds
from cigri.requirements.requirement import Requirement
from cigri.requirements.truth import FEATURES, KnownProperties

MISSPELLED_SHOWN = 8


def unknown_sites(requirement: Requirement, classes: Collection[KnownProperties]) -> Iterator[str]:
    """A sentence for each that is wanted or banned, and is no site and no cluster."""
    known = _places(classes)
    for site in (*requirement.sites, *requirement.banned_sites):
        if site not in known:
            yield f"there is no site {site!r}; {_hint(site, known)}"


def has_known_sites(requirement: Requirement, classes: Collection[KnownProperties]) -> bool:
    """Is there one at least of those that are wanted, and one of those that are banned?"""
    known = _places(classes)
    return all(not known.isdisjoint(sites) for sites in (requirement.sites, requirement.banned_sites) if sites)


def _places(classes: Collection[KnownProperties]) -> set[str]:
    return {str(place) for one in classes for place in (one.get("site"), one.get("cluster")) if place}


def unknown_properties(requirement: Requirement, classes: Collection[KnownProperties], kinds: Kinds) -> Iterator[str]:
    """A sentence for each that no queue has, as a flag neither."""
    known = {name for one in classes for name in one} | set(kinds)
    for one in classes:
        features = one.get(FEATURES, [])
        known |= {str(feature).lower() for feature in (features if isinstance(features, list) else [features])}
    for name in dict.fromkeys(name for condition in requirement.conditions for name in names(condition)):
        if name not in known:
            yield f"no queue has a property {name!r}; {_hint(name, known)}"


def _hint(word: str, known: Collection[str]) -> str:
    if near := get_close_matches(word, sorted(known), n=1):
        return f"did you mean {near[0]!r}?"
    some = ", ".join(sorted(known)[:MISSPELLED_SHOWN]) or "none"
    return f"there are: {some}{' and more' if len(known) > MISSPELLED_SHOWN else ''}"
