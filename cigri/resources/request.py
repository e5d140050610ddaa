"""The resources of one job, as drivers are told of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ResourceRequest:
    """What one job asks for: `nodes` times `cpu` cores and `mem` MB (0: the batch system's default), others by name.

    `tmp` MB of disk for temporary files are set aside for it on each node; 0: none are.
    `native` is the same in the batch system's own words where figures cannot say it, one for each shape that will do;
    `cpu` and `nodes` are then the largest of them. A driver that has no such words names it in `problems`.
    """

    cpu: int = 1
    nodes: int = 1
    mem: int = 0
    others: Mapping[str, int] = field(default_factory=dict)
    native: tuple[str, ...] = ()
    tmp: int = 0

    @property
    def width(self) -> int:
        """Cores of one job, on all its nodes together."""
        return self.cpu * self.nodes
