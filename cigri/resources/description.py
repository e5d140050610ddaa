"""What operators have said of sites, clusters and queues, and how two such descriptions differ."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cigri.requirements import BUILT_IN, Kinds, shown
from cigri.resources.inheritance import DeclarationPlace, Declarations, queue_name
from cigri.resources.queue_requirements import show_requires
from cigri.states import PropertyLevel


class QueueDescription(NamedTuple):
    """`requires` is a canonical requirement of jobs; None: it takes any."""

    remote_name: str
    requires: Mapping[str, Any] | None = None


class ResourcesDescription(NamedTuple):
    """`sites` are those of the clusters that are described (empty: of its own name); queues are by cluster and name."""

    kinds: Kinds
    sites: Mapping[str, str]
    queues: Mapping[tuple[str, str], QueueDescription]
    properties: Declarations


NO_RESOURCES = ResourcesDescription({}, {}, {}, {})


def difference(old: ResourcesDescription, new: ResourcesDescription) -> list[str]:
    """What the new one says otherwise, a line for each thing: `- ` as it was, `+ ` as it is."""
    before, after = _lines(old), _lines(new)
    lines = []
    for subject in sorted(before.keys() | after.keys()):
        if before.get(subject) != after.get(subject):
            lines += [f"- {subject} {before[subject]}"] if subject in before else []
            lines += [f"+ {subject} {after[subject]}"] if subject in after else []
    return lines


def _lines(description: ResourcesDescription) -> dict[str, str]:
    """By its subject, each thing that the description says."""
    kinds = {**BUILT_IN, **description.kinds}
    lines = {f"kind of {name}:": str(kind) for name, kind in description.kinds.items()}
    lines |= {f"cluster {cluster}: site": f"= {site}" for cluster, site in description.sites.items() if site}
    for (cluster, name), queue in description.queues.items():
        place = DeclarationPlace(PropertyLevel.QUEUE, queue_name(name, cluster))
        if name:
            lines[f"{place}: remote_name"] = f"= {queue.remote_name}"
        if queue.requires is not None:
            lines[f"{place}: requires"] = f"= {show_requires(queue.requires)}"
    for where, values in description.properties.items():
        for name, declared in values.items():
            sign = "+=" if declared.extends else "="
            lines[f"{where}: {name}"] = f"{sign} {shown(declared.value, kinds.get(name))}"
    return lines
