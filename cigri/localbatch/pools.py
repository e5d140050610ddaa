"""Pools of resources and what is free in them; a job is charged exactly what it asks for."""

import os
import re
from collections.abc import Mapping

POOL = re.compile(r"[a-z][a-z0-9_.-]*")
"""The name of a pool."""


def default_pools() -> dict[str, int]:
    """The cores that this process may use, and the memory of the host in MB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": len(os.sched_getaffinity(0)), "mem": memory // 2**20}


class ResourcePools:
    """The sum of what is taken never exceeds a total, unless the operator shrank the pool under running jobs."""

    def __init__(self, totals: Mapping[str, int]) -> None:
        self.totals = dict(totals)
        self._taken = dict.fromkeys(totals, 0)

    def resize(self, totals: Mapping[str, int]) -> None:
        """From now on there is so much in all; what is taken stays taken."""
        self.totals = dict(totals)

    def free(self, name: str) -> int:
        """What is left of a pool; below 0 when it was shrunk under running jobs, 0 when there is none of that name."""
        return self.totals.get(name, 0) - self._taken.get(name, 0)

    def impossible(self, need: Mapping[str, int]) -> str:
        """Why this need could not be met even by an empty host, with the figures; "" when it could."""
        excess = [
            f"{name}={amount}, the cluster has {self.totals.get(name, 0)}"
            for name, amount in need.items()
            if amount > self.totals.get(name, 0)
        ]
        return f"a job asks for {' and '.join(excess)}" if excess else ""

    def shortage(self, need: Mapping[str, int]) -> str:
        """Why this need cannot be met now, with the figures; "" when it can."""
        short = [
            f"{name}={amount}, free {self.free(name)}" for name, amount in need.items() if amount > self.free(name)
        ]
        return f"needs {' and '.join(short)}" if short else ""

    def fit(self, need: Mapping[str, int]) -> bool:
        """Whether a job could start now that needs these amounts by pool."""
        return all(amount <= self.free(name) for name, amount in need.items())

    def take(self, need: Mapping[str, int]) -> None:
        """Charge a job, also one that already runs and no longer fits: nothing else starts until the sum is right."""
        for name, amount in need.items():
            self._taken[name] = self._taken.get(name, 0) + amount

    def give(self, need: Mapping[str, int]) -> None:
        """Give back what take() has charged for a job that is over."""
        for name, amount in need.items():
            self._taken[name] -= amount
