"""A job's life inside a simulated batch system."""

from dataclasses import dataclass, field
from enum import Enum, auto

from cigri.drivers import RemoteJobState
from modules.laboratory.cluster.free_cores import Places
from modules.laboratory.cluster.simulated_jobs import SimulatedJob
from modules.laboratory.load import LocalJob


class RunPhase(Enum):
    """CLAIMING: it has cores, and waits for those of jobs that are being killed for it."""

    WAITING = auto()
    CLAIMING = auto()
    RUNNING = auto()
    OVER = auto()


@dataclass(slots=True, eq=False)
class JobRun:
    """One job, anybody's; a firm one is never killed for another.

    `lacking`: cores that a claiming job is still to get from jobs that die for it; `due`: when it starts, having all.
    """

    number: int
    cores: int
    walltime: float
    is_firm: bool
    phase: RunPhase = RunPhase.WAITING
    places: Places = field(default_factory=list)
    started: float = 0.0
    expected_end: float = 0.0
    lacking: int = 0
    due: float | None = None

    @property
    def excluded(self) -> int:
        """The mask of nodes where it shall not run."""
        return 0

    @property
    def held(self) -> int:
        """Cores it has by now."""
        return sum(cores for _, cores in self.places)


@dataclass(slots=True, eq=False)
class LocalJobRun(JobRun):
    """A local user's; `load_number` is its number in the load."""

    job: LocalJob = field(kw_only=True)
    load_number: int = field(kw_only=True)


@dataclass(slots=True, eq=False)
class GridJobRun(JobRun):
    """One of ours. `since`: when its present task, or the time before its first one, began.

    `dying_as`: it is being killed, and its cores go to the `heir`, if there is one. `said`: the lie that is told of it.
    """

    job: SimulatedJob = field(kw_only=True)
    remote_id: str = field(kw_only=True)
    said: RemoteJobState | None = None
    position: int = -1
    since: float = 0.0
    exit_code: int = 0
    is_astray: bool = False
    dying_as: RemoteJobState | None = None
    heir: JobRun | None = None

    @property
    def excluded(self) -> int:
        """The mask of nodes that the submission excludes."""
        return self.job.exclude

    @property
    def node(self) -> int:
        """The first of those where it has cores, counted from 0; IndexError: it has none yet."""
        return self.places[0][0]
