"""Which clusters a campaign may use among the queues of the grid, and what is nearest if none will do; pure."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from cigri.eligibility.queues import SHAPING, Eligibility, QueueFacts, QueueVerdicts, decide, wanted_of
from cigri.requirements import (
    NO_REQUIREMENT,
    Kinds,
    QueueRejection,
    has_known_sites,
    nearest_miss,
    parse_requirement,
    unknown_properties,
    unknown_sites,
)

NO_AMOUNTS: Mapping[str, Any] = MappingProxyType({})


class ClusterQueueFacts(QueueFacts, Protocol):
    """A queue of a cluster that has a name."""

    @property
    def cluster(self) -> str:
        """The name of its cluster, by which campaigns have their settings."""


class ClusterChoice(NamedTuple):
    """Which of a campaign's clusters have an eligible queue; `miss`: what is nearest to one, if none has."""

    clusters: frozenset[str]
    miss: str = ""


class UnknownNames(NamedTuple):
    """A sentence for each site that there is not, and for each property that no queue has.

    `has_known_site`: of the sites that it wants, and of those that it bans, there is one at least.
    """

    sites: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    has_known_site: bool = False


def choose(
    queues: Sequence[ClusterQueueFacts],
    kinds: Kinds,
    raw: str | Mapping[str, Any] | None,
    settings: Mapping[str, Mapping[str, Any]],
    bucket: Mapping[str, Any] = NO_AMOUNTS,
) -> ClusterChoice:
    """`raw` None: nothing is required; `settings` are by the name of the cluster, ClusterSettings as JSON.

    Where amounts are computed for each task, they are those of the `bucket`. A cluster that is not the campaign's is
    judged as the first of those that are, to say what would do.
    """
    requirement = NO_REQUIREMENT if raw is None else parse_requirement(raw, kinds)
    computed: dict[str, QueueVerdicts] = {}  # few are distinct
    any_other = next(iter(settings.values()), {})
    eligible, others, rejects = set[str](), set[str](), dict[str, QueueRejection]()
    for queue in queues:
        own = settings.get(queue.cluster)
        like = any_other if own is None else own
        key = json.dumps([like.get(name) for name in SHAPING], sort_keys=True)
        if key not in computed:
            computed[key] = decide(wanted_of(requirement, like, bucket), queues, kinds)
        verdict = computed[key][queue.queue_id]
        if isinstance(verdict, Eligibility):
            (others if own is None else eligible).add(queue.cluster)
        elif own is not None:
            rejects[queue_name(queue.queue, queue.cluster)] = verdict
    if eligible or not rejects:
        return ClusterChoice(frozenset(eligible))
    miss = nearest_miss(rejects, {queue_name(queue.queue, queue.cluster): queue.classes for queue in queues}, kinds)
    if others:
        miss += f"; eligible would be {', '.join(sorted(others))}"
    return ClusterChoice(frozenset(), miss)


def unheard(queues: Sequence[ClusterQueueFacts], kinds: Kinds, raw: str | Mapping[str, Any]) -> UnknownNames:
    """Sites, and properties, that the requirement names and that no queue of the grid has."""
    requirement = parse_requirement(raw, kinds)
    classes = [properties for queue in queues for properties in queue.classes]
    sites = tuple(unknown_sites(requirement, classes))
    unknown = unknown_properties(requirement, classes, kinds)
    return UnknownNames(sites, tuple(unknown), has_known_sites(requirement, classes))


def queue_name(queue: str, cluster: str) -> str:
    """As a person names a queue of a cluster: `queue@cluster`; the default one, which has no name, as its cluster."""
    return f"{queue}@{cluster}" if queue else cluster
