"""When a cluster is declared: is its batch system there, or does its fallback stand in for it? Never silently."""

import sys
from typing import Any

from cigri.cli.command import escape_text
from cigri.endpoints.cluster_declarations import find_fallback
from cigri.endpoints.dispatch import GridClient


def decide(grid: GridClient, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Have the batch system of a cluster that names a fallback asked; the one that is not there is replaced."""
    values = {key: value for key, value in values.items() if key != "fallback_because"}
    if not values.get("fallback"):
        return values
    return values | {"fallback_because": grid.call(find_fallback, cluster=name, config=values).because}


def warn(name: str, values: dict[str, Any]) -> None:
    """Of a fallback that is in use from now on."""
    if because := values.get("fallback_because"):
        again = f"once it is there, `cigri cluster change {name}` gives it its jobs again"
        text = f"WARNING: the jobs of {name} run on this host, {because}; {again}"
        print(escape_text(text), file=sys.stderr)
