"""What the queues of the grid have, where each value comes from, and which queues satisfy a requirement."""

from collections.abc import Iterator, Mapping, Sequence

from cigri.api_models.clusters import QueueProperties
from cigri.cli.command import print_error
from cigri.cli.table_printing import print_table
from cigri.resources.inheritance import queue_name
from cigri.resources.queue_requirements import show_requires

DEFAULT = "(default)"
PROPERTIES = ("queue", "nodes", "property", "value", "from")


def print_properties(queues: Sequence[QueueProperties], headerless: bool) -> None:
    """A line for each value; what could not be read is told on standard error."""
    rows = [row for queue in queues for row in _rows(queue)]
    print_table(PROPERTIES, rows, prose=("queue", "value", "from"), headerless=headerless)
    for cluster, problem in sorted({queue.cluster: queue.unreadable for queue in queues if queue.unreadable}.items()):
        print_error(f"{cluster}: what nodes it has could not be read, this is what was known before: {problem}")


def print_eligible(tree: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Sites, clusters and queues."""
    for site, clusters in tree.items():
        print(site)
        for cluster, names in clusters.items():
            print(f"  {cluster}")
            print("\n".join(f"    {name or DEFAULT}" for name in names))


def _rows(queue: QueueProperties) -> Iterator[Sequence[object]]:
    """A line for each value, with the number of nodes that have it where they are not all of the queue's."""
    name = queue_name(queue.queue or DEFAULT, queue.cluster)
    yield name, "all", "site", queue.site, f"cluster {queue.cluster}"
    if queue.remote_name:
        yield name, "all", "remote_name", queue.remote_name, f"queue {name}"
    if queue.requires is not None:
        yield name, "all", "requires", show_requires(queue.requires), f"queue {name}"
    for key in sorted({key for alike in queue.classes for key in alike.properties}):
        numbers: dict[tuple[str, str], int] = {}
        for alike in queue.classes:
            if (held := alike.properties.get(key)) is not None:
                about = held.shown, held.source
                numbers[about] = numbers.get(about, 0) + (alike.nodes or 0)
        everywhere = all(key in alike.properties for alike in queue.classes)
        for (value, source), number in numbers.items():
            yield name, "all" if everywhere and len(numbers) == 1 else number, key, value, source
