"""Small simulated clusters, and work for them."""

from collections.abc import Iterable, Sequence

from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.faults import NO_FAULTS, FaultRates
from modules.laboratory.cluster.machine import HardwareModel
from modules.laboratory.cluster.simulated_jobs import SimulatedJob, SimulatedTask
from modules.laboratory.load import LocalJob

OWNER = "alice"
EXACT = HardwareModel(2, 4, period=1.0, start_rate=1e9, preemption_delay=2.0)
"""Eight cores whose scheduler looks each second and starts any number; a kill takes two."""


def a_cluster(
    machine: HardwareModel = EXACT, load: Iterable[LocalJob] = (), faults: FaultRates = NO_FAULTS, seed: int = 1
) -> SimulatedBatchSystem:
    return SimulatedBatchSystem("dahu", machine, load, faults, seed)


def local(submitted: float, cores: int, seconds: float, walltime: float | None = None) -> LocalJob:
    return LocalJob(submitted, cores, seconds, seconds if walltime is None else walltime, "bob")


def grid_jobs(
    number: int,
    seconds: float | Sequence[float] = 100.0,
    *,
    tag: str = "cigri-1",
    cores: int = 1,
    walltime: float = 3600.0,
    besteffort: bool = True,
    exit_code: int = 0,
    owner: str = OWNER,
) -> list[SimulatedJob]:
    durations = [seconds] if isinstance(seconds, float) else seconds
    tasks = [SimulatedTask(one, exit_code) for one in durations]
    return [SimulatedJob(tag, index, owner, cores, walltime, besteffort, tasks) for index in range(1, number + 1)]


def submit(cluster: SimulatedBatchSystem, jobs: Sequence[SimulatedJob]) -> list[str]:
    return cluster.submit(jobs[0].tag, jobs[0].owner, jobs)
