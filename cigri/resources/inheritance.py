"""One rule for all properties: queue before cluster before site before driver before grid; the nearest value wins.

A list replaces the one above it unless it says that it extends it. At each level what is said for a project comes
before what is said for all. What was found on the nodes stands right above the declarations of their cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cigri.requirements.value_kinds import PropertyValue, Scalar
from cigri.states import PropertyLevel

DISCOVERED = "discovered"


class DeclaredValue(NamedTuple):
    """A value at one level; `extends`: its elements are added to those of the levels above."""

    value: PropertyValue
    extends: bool = False


class SourcedValue(NamedTuple):
    """A value that holds, and where it comes from; a list that was extended comes from several places."""

    value: PropertyValue
    source: str


class QueueLineage(NamedTuple):
    """A queue, by the names of all that it inherits from; the default queue has the name ""."""

    driver: str
    site: str
    cluster: str
    queue: str = ""


class DeclarationPlace(NamedTuple):
    """Where something is declared; `project` empty: for all."""

    level: PropertyLevel
    place: str
    project: str = ""

    def __str__(self) -> str:
        above = f"{self.level} {self.place}" if self.place else str(self.level)
        return f"{above}, project {self.project}" if self.project else above


Declarations = Mapping[DeclarationPlace, Mapping[str, DeclaredValue]]


def effective(
    place: QueueLineage, project: str, declared: Declarations, discovered: Mapping[str, PropertyValue] | None = None
) -> dict[str, SourcedValue]:
    """The properties of a queue for a project (empty: for those without one), on nodes on which this was found."""
    values: dict[str, SourcedValue] = {}
    for source, level in _levels(place, project, declared, discovered or {}):
        for name, said in level.items():
            above = values.get(name)
            if said.extends and above is not None:
                both = dict.fromkeys([*_items(above.value), *_items(said.value)])
                values[name] = SourcedValue(list(both), f"{above.source} + {source}")
            else:
                values[name] = SourcedValue(said.value, source)
    return values


def queue_name(queue: str, cluster: str) -> str:
    """As documents and people call it; the default queue has nothing before the @."""
    return f"{queue}@{cluster}"


def _levels(
    place: QueueLineage, project: str, declared: Declarations, discovered: Mapping[str, PropertyValue]
) -> Iterator[tuple[str, Mapping[str, DeclaredValue]]]:
    """The most general first."""
    for level, name in (
        (PropertyLevel.GRID, ""),
        (PropertyLevel.DRIVER, place.driver),
        (PropertyLevel.SITE, place.site),
        (PropertyLevel.CLUSTER, place.cluster),
        (PropertyLevel.QUEUE, queue_name(place.queue, place.cluster)),
    ):
        if level is PropertyLevel.CLUSTER and discovered:
            yield DISCOVERED, {key: DeclaredValue(value) for key, value in discovered.items()}
        for whose in ("", project) if project else ("",):
            where = DeclarationPlace(level, name, whose)
            if where in declared:
                yield str(where), declared[where]


def _items(value: PropertyValue) -> Sequence[Scalar]:
    return value if isinstance(value, list) else [value]
