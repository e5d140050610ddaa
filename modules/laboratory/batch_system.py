"""A batch system in virtual time: a cluster of somebody else, with its local users' jobs and ours."""

from collections.abc import Collection, Iterable, Sequence

from cigri.drivers import Capacity
from modules.laboratory.faults import Faults
from modules.laboratory.jobs import GridJob, JobSight, TaskEnd
from modules.laboratory.load import LocalJob
from modules.laboratory.machine import Machine
from modules.laboratory.meters import Meters


class BatchSystem:
    """One cluster; `load` is sorted by submission. The same arguments and calls give the same history.

    Each question and order raises Unreachable during an outage, and happens at `now`: it is the caller who lets
    `answer_seconds()` pass.
    """

    now: float
    meters: Meters

    def __init__(self, name: str, machine: Machine, load: Iterable[LocalJob], faults: Faults, seed: int) -> None:
        raise NotImplementedError

    def advance(self, until: float) -> None:
        """Let everything happen up to then, that instant included."""
        raise NotImplementedError

    def is_reachable(self) -> bool:
        raise NotImplementedError

    def answer_seconds(self) -> float:
        """How long a command would take now."""
        raise NotImplementedError

    def submit(self, tag: str, owner: str, jobs: Sequence[GridJob]) -> list[str]:
        """Remote ids in the order of the jobs; SubmissionRefused, ArrayTooLarge: nothing was submitted.

        OutcomeUnknown: it was submitted, and the answer is lost.
        """
        raise NotImplementedError

    def cancel(self, remote_ids: Collection[str]) -> None:
        """Kill these jobs, waiting or running; those that are gone are no error."""
        raise NotImplementedError

    def live(self, owner: str, prefix: str) -> list[JobSight]:
        """Waiting and running jobs of this owner whose tag starts so, oldest first."""
        raise NotImplementedError

    def past(self, remote_ids: Collection[str]) -> list[JobSight]:
        """What is known of these jobs, live ones too; one that the batch system has no trace of is not in the list."""
        raise NotImplementedError

    def find(self, tag: str) -> list[JobSight]:
        """The same by the name of a submission whose answer was lost."""
        raise NotImplementedError

    def ended_tasks(self, owner: str, acknowledged: Collection[int] = (), limit: int = 5000) -> list[TaskEnd]:
        """Records of ended tasks, oldest first; each is there until its number is acknowledged."""
        raise NotImplementedError

    def capacity(self) -> Capacity:
        raise NotImplementedError
