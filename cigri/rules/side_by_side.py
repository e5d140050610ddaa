"""How many tasks of a campaign one job may run side by side on a node; pure."""

from collections.abc import Mapping
from typing import Any

from cigri.jdl import ClusterSettings


def tasks_side_by_side(node_cores: int, width: int, settings: Mapping[str, Any]) -> int:
    """As many tasks of `width` cores as a node holds; 1 if the settings (ClusterSettings as JSON) keep them apart."""
    fitting = node_cores // width
    may_share = fitting > 1 and ClusterSettings.model_validate(settings).may_share_a_node
    return fitting if may_share else 1
