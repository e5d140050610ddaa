"""This host in place of a cluster's batch system that is not there: what its jobs ask for, mapped to pools here; pure.

What no pool has, or has too little of, cannot be mapped: then the job takes every core and runs alone.
"""

from collections.abc import Mapping
from dataclasses import replace

from cigri.drivers import BatchRequest, ResourceRequest


def mapped(request: BatchRequest, pools: Mapping[str, int]) -> BatchRequest:
    """The request as this host can take it: no more of each pool than it has, and nothing that it does not know.

    `pools`: how much there is of each amount by name, `cpu` among them; mem and tmp in MB.
    """
    wish = request.resources
    asked = {"cpu": wish.width, "mem": wish.nodes * wish.mem, "tmp": wish.nodes * wish.tmp, **wish.others}
    asked = {name: amount for name, amount in asked.items() if amount}
    kept = {name: min(amount, pools[name]) for name, amount in asked.items() if name in pools}
    special = (wish.native, request.types, request.queue, request.properties, request.backend)
    if kept != asked or any(special) or request.requirement is not None:
        kept["cpu"] = pools["cpu"]
    others = {name: amount for name, amount in kept.items() if name not in ("cpu", "mem", "tmp")}
    resources = ResourceRequest(kept["cpu"], mem=kept.get("mem", 0), others=others, tmp=kept.get("tmp", 0))
    return replace(request, resources=resources, queue="", properties="", types=(), backend=(), requirement=None)
