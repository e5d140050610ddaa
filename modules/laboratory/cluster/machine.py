"""A simulated cluster's hardware and the pace of its batch system."""

from enum import StrEnum
from typing import NamedTuple


class VictimChoice(StrEnum):
    """Whose cores are taken for a local job, as seen on real servers."""

    YOUNGEST = "youngest"
    OLDEST = "oldest"  # Slurm, unless it is told PreemptParameters=youngest_first
    PLACE = "place"  # OAR: what is on the first nodes, however old


class HardwareModel(NamedTuple):
    """Nodes of equal width, and how fast their batch system decides, starts, kills and answers; times in seconds.

    `start_rate` is in jobs per second, `depth` the waiting jobs that a pass looks at behind the first that is blocked.
    `victims` are preempted first. A preempted job is told at once, goes on for `grace`, and is then killed; the job it
    was killed for starts `preemption_delay` later. A command takes `command_seconds`, and `command_seconds_per_job`
    for each waiting job.
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
    victims: VictimChoice = VictimChoice.YOUNGEST

    @property
    def cores(self) -> int:
        """Of all nodes, whether they are up or not."""
        return self.nodes * self.cores_per_node


def slurm(nodes: int, cores_per_node: int) -> HardwareModel:
    """Slurm 22.05 as measured on a small real server: an array of 10,000 `true` starts at 60 jobs/s."""
    return HardwareModel(
        nodes,
        cores_per_node,
        period=1.0,
        start_rate=60.0,
        start_latency=0.1,
        preemption_delay=0.9,
        kill_delay=0.5,
        command_seconds=0.05,
        command_seconds_per_job=1e-5,
        victims=VictimChoice.OLDEST,
    )


def oar(nodes: int, cores_per_node: int) -> HardwareModel:
    """OAR 2.5 as measured on a small real server: 3 jobs/s, each 1 s before its first line, and 3.6 s to preempt."""
    return HardwareModel(
        nodes,
        cores_per_node,
        period=1.0,
        start_rate=3.0,
        start_latency=1.0,
        preemption_delay=3.6,
        kill_delay=2.6,
        command_seconds=0.11,
        command_seconds_per_job=2e-4,
        victims=VictimChoice.PLACE,
    )


def gridengine(nodes: int, cores_per_node: int) -> HardwareModel:
    """Grid Engine 8.1.9 as measured on a small real server: 18 jobs/s in rounds of 1.5 s."""
    return HardwareModel(
        nodes,
        cores_per_node,
        period=1.5,
        start_rate=18.0,
        start_latency=0.1,
        preemption_delay=1.5,
        kill_delay=1.0,
        command_seconds=0.05,
        command_seconds_per_job=1e-4,
    )
