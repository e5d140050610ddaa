"""Own amounts: memory and walltime that single tasks have in place of those that their campaign describes; pure."""

from collections.abc import Mapping
from typing import Any

OWN_KEY = "own"
"""In a bucket's requirements: MB of `mem` and seconds of `walltime` that its tasks have."""

OwnAmounts = Mapping[str, int]


def own_amounts_of(requirements: Mapping[str, Any]) -> OwnAmounts:
    """By `mem` and `walltime`; nothing of tasks that have what their campaign describes."""
    amounts: OwnAmounts = requirements.get(OWN_KEY) or {}
    return amounts


def with_own_amounts(settings: Mapping[str, Any], own: OwnAmounts) -> dict[str, Any]:
    """The settings of the campaign on a cluster (ClusterSettings as JSON) as they are for these tasks."""
    changed = dict(settings)
    if "walltime" in own:
        changed["walltime"] = own["walltime"]
    if "mem" in own:
        changed["resources"] = {**(settings.get("resources") or {}), "mem": own["mem"]}
    return changed
