"""A simulated cluster's hardware and the pace of its batch system."""

from typing import NamedTuple


class Machine(NamedTuple):
    """Nodes of equal width, and how fast their batch system decides, starts, kills and answers; times in seconds.

    `start_rate` is in jobs per second, `depth` the waiting jobs that a pass looks at behind the first that is blocked.
    A preempted job is told at once, goes on for `grace`, and is then killed; the job it was killed for starts
    `preemption_delay` after that.
    """

    nodes: int
    cores_per_node: int
    period: float = 1.0
    start_rate: float = 60.0
    start_latency: float = 0.0
    preemption_delay: float = 1.0
    grace: float = 0.0
    kill_delay: float = 0.0
    command_seconds: float = 0.05
    command_seconds_per_job: float = 0.0
    depth: int = 50
    largest_array: int = 100_000
    most_waiting: int = 1_000_000

    @property
    def cores(self) -> int:
        return self.nodes * self.cores_per_node


def slurm(nodes: int, cores_per_node: int) -> Machine:
    """Slurm 22.05 as measured on a small real server."""
    return Machine(nodes, cores_per_node)


def oar(nodes: int, cores_per_node: int) -> Machine:
    """OAR 2.5 as measured on a small real server."""
    return Machine(nodes, cores_per_node)


def gridengine(nodes: int, cores_per_node: int) -> Machine:
    """Grid Engine 8.1.9 as measured on a small real server."""
    return Machine(nodes, cores_per_node)
