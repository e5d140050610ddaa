"""Which sites, clusters and queues satisfy a requirement."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cigri.requirements import Kinds, Requirement, judge_all

if TYPE_CHECKING:
    from cigri.flow.views.queues import QueueView

Tree = dict[str, dict[str, list[str]]]
"""Queues (the default one is "") by site and cluster."""


def eligible_tree(queues: "Iterable[QueueView]", requirement: Requirement, kinds: Kinds) -> Tree:
    """Sites, clusters and queues that are eligible; what queues themselves demand of jobs is not looked at."""
    tree: Tree = {}
    for queue in queues:
        if judge_all(requirement, queue.classes, kinds) is None:
            tree.setdefault(queue.site, {}).setdefault(queue.cluster, []).append(queue.queue)
    return tree
