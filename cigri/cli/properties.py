"""What the queues of the grid have, where each value comes from, and which queues satisfy a requirement."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cigri.cli.command import complain, print_json
from cigri.cli.tables import print_table
from cigri.errors import RequirementError, UsageError
from cigri.flow.views.queues import SourcedQueue, list_queues, list_sourced, list_unreadable, property_kinds
from cigri.requirements import Kinds, parse_requirement, shown
from cigri.resources.inheritance import queue_name
from cigri.resources.requires import show_requires
from cigri.resources.selection import eligible_tree

if TYPE_CHECKING:
    from sqlalchemy import Connection

DEFAULT = "(default)"
PROPERTIES = ("queue", "nodes", "property", "value", "from")


def show_properties(
    conn: "Connection", clusters: Collection[str], project: str, *, as_json: bool, headerless: bool
) -> None:
    """Of the queues of these clusters, as jobs of a project (empty: of none) see them."""
    queues = [queue for queue in list_sourced(conn, project) if queue.place.cluster in clusters]
    if as_json:
        print_json([_plain(queue) for queue in queues])
        return
    kinds = property_kinds(conn)
    rows = [row for queue in queues for row in _rows(queue, kinds)]
    print_table(PROPERTIES, rows, prose=("queue", "value", "from"), headerless=headerless)
    for cluster, problem in list_unreadable(conn).items():
        if cluster in clusters:
            complain(f"{cluster}: what nodes it has could not be read, this is what was known before: {problem}")


def show_eligible(conn: "Connection", clusters: Collection[str], where: str, project: str, *, as_json: bool) -> bool:
    """The tree of sites, clusters and queues that satisfy an expression; False when there is none."""
    kinds = property_kinds(conn)
    try:
        requirement = parse_requirement(where, kinds)
    except RequirementError as error:
        raise UsageError(f"--where: {error}") from None
    queues = [queue for queue in list_queues(conn, project) if queue.cluster in clusters]
    tree = eligible_tree(queues, requirement, kinds)
    if as_json:
        print_json(tree)
        return bool(tree)
    for site, found in tree.items():
        print(site)
        for cluster, names in found.items():
            print(f"  {cluster}")
            print("\n".join(f"    {name or DEFAULT}" for name in names))
    return bool(tree)


def _rows(queue: SourcedQueue, kinds: Kinds) -> Iterator[Sequence[object]]:
    """A line for each value, with the number of nodes that have it where they are not all of the queue's."""
    name = queue_name(queue.place.queue or DEFAULT, queue.place.cluster)
    yield name, "all", "site", queue.place.site, f"cluster {queue.place.cluster}"
    if queue.remote_name:
        yield name, "all", "remote_name", queue.remote_name, f"queue {name}"
    if queue.requires is not None:
        yield name, "all", "requires", show_requires(queue.requires), f"queue {name}"
    for key in sorted({key for some in queue.classes for key in some.properties}):
        numbers: dict[tuple[str, str], int] = {}
        for some in queue.classes:
            if (one := some.properties.get(key)) is not None:
                about = shown(one.value, kinds.get(key)), one.source
                numbers[about] = numbers.get(about, 0) + (some.nodes or 0)
        everywhere = all(key in some.properties for some in queue.classes)
        for (value, source), number in numbers.items():
            yield name, "all" if everywhere and len(numbers) == 1 else number, key, value, source


def _plain(queue: SourcedQueue) -> dict[str, Any]:
    place = queue.place
    about = {"cluster": place.cluster, "site": place.site, "queue": place.queue, "remote_name": queue.remote_name}
    classes = [
        {"nodes": some.nodes, "properties": {name: one._asdict() for name, one in sorted(some.properties.items())}}
        for some in queue.classes
    ]
    return {**about, "driver": place.driver, "requires": queue.requires, "classes": classes}
