"""Which cores of which nodes are free."""

from collections.abc import Iterable

Places = list[tuple[int, int]]
"""Cores held on nodes, as (node, cores)."""

ANY_NODE = -1
"""The mask of all nodes: bit n stands for node n."""


class FreeCores:
    """Free cores, node by node; a node that is down has none."""

    def __init__(self, nodes: int, cores_per_node: int) -> None:
        self.cores_per_node = cores_per_node
        self.free = nodes * cores_per_node
        self._free = [cores_per_node] * nodes
        self._down = [False] * nodes
        self._with = [0] * cores_per_node + [(1 << nodes) - 1]  # by free cores: the mask of nodes that have so many

    def free_on(self, node: int) -> int:
        """Free cores of a node, counted from 0; of one that is down none."""
        return self._free[node]

    def up(self) -> list[int]:
        """The numbers of the nodes that are not down, whether or not cores are free there."""
        return [node for node, is_down in enumerate(self._down) if not is_down]

    def is_down(self, node: int) -> bool:
        """True from `take_down` of this node until `bring_up`."""
        return self._down[node]

    def fit(self, cores: int, within: int = ANY_NODE) -> Places | None:
        """So many on one of these nodes, the fullest that has room; more than a node has: from anywhere."""
        if cores > self.cores_per_node:
            there = cores <= self.free and cores <= self._free_within(within)
            return self.spread(cores, within) if there else None
        for free in range(max(cores, 1), self.cores_per_node + 1):
            if candidates := self._with[free] & within:
                return [(_lowest(candidates), cores)]
        return None

    def spread(self, cores: int, within: int = ANY_NODE) -> Places:
        """So many, no more than are free, from as few nodes as will do."""
        places: Places = []
        seen = ~within
        while cores > 0:
            if cores <= self.cores_per_node and (place := self.fit(cores, ~seen)):
                return places + place
            node, free = self._emptiest(~seen)
            places.append((node, free))
            seen |= 1 << node
            cores -= free
        return places

    def take(self, places: Iterable[tuple[int, int]]) -> None:
        """These cores are free no longer; ValueError: they were not."""
        for node, cores in places:
            self._move(node, -cores)

    def give(self, places: Iterable[tuple[int, int]]) -> None:
        """These cores are free again; ValueError: a node would have more than it has."""
        for node, cores in places:
            self._move(node, cores)

    def take_down(self, node: int) -> None:
        """Nothing may run there any more."""
        self._move(node, -self.cores_per_node)
        self._down[node] = True

    def bring_up(self, node: int) -> None:
        """After `take_down`: all its cores are free."""
        self._down[node] = False
        self._move(node, self.cores_per_node)

    def _free_within(self, mask: int) -> int:
        return self.free if mask == ANY_NODE else sum(free for n, free in enumerate(self._free) if mask >> n & 1)

    def _emptiest(self, within: int) -> tuple[int, int]:
        for free in range(self.cores_per_node, 0, -1):
            if candidates := self._with[free] & within:
                return _lowest(candidates), free
        raise ValueError("more cores are asked for than are free")

    def _move(self, node: int, cores: int) -> None:
        before = self._free[node]
        after = before + cores
        if not 0 <= after <= self.cores_per_node:
            raise ValueError(f"node {node} cannot have {after} of {self.cores_per_node} cores free")
        self._with[before] &= ~(1 << node)
        self._with[after] |= 1 << node
        self._free[node] = after
        self.free += cores


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
