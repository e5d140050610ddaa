"""A batch system in virtual time: a cluster of somebody else, with its local users' jobs and ours."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import count

from cigri.drivers import Capacity, RemoteJobState
from cigri.errors import ArrayTooLarge, ClusterUnreachable, RemoteOutcomeUnknown, SubmissionRefused
from modules.laboratory.cluster.execution import JobExecution
from modules.laboratory.cluster.faults import FaultGenerator, FaultRates
from modules.laboratory.cluster.ledger import JobLedger
from modules.laboratory.cluster.machine import HardwareModel
from modules.laboratory.cluster.meters import ClusterMeters, CoreUse
from modules.laboratory.cluster.runs import GridJobRun, LocalJobRun, RunPhase
from modules.laboratory.cluster.scheduler import SimulatedScheduler
from modules.laboratory.cluster.simulated_jobs import ReportedJob, SimulatedJob, SimulatedTaskEnd
from modules.laboratory.cluster.simulated_queue import SimulatedQueue
from modules.laboratory.load import LocalJob
from modules.laboratory.simulation_events import SimulationEvents


class SimulatedBatchSystem:
    """One cluster; `load` is sorted by submission. The same arguments and calls give the same history.

    Each request raises ClusterUnreachable during an outage, and happens at `now`: it is the caller who lets
    `answer_seconds()` pass.
    """

    def __init__(
        self, name: str, machine: HardwareModel, load: Iterable[LocalJob], faults: FaultRates, seed: int
    ) -> None:
        self.name = name
        self.machine = machine
        self.meters = ClusterMeters(machine.cores)
        self._mishaps = FaultGenerator(faults, machine.nodes, seed)
        self._agenda = SimulationEvents()
        self._ledger = JobLedger()
        self._backlog = SimulatedQueue(machine.period, self._agenda, self.meters, lambda: self._scheduler.look())
        self._execution = JobExecution(machine, self._mishaps, self._agenda, self.meters, self._ledger, self._backlog)
        self._scheduler = SimulatedScheduler(machine, self._agenda, self._execution, self._backlog)
        self._numbers = count(1)
        self._load = enumerate(load)
        self._crashes = self._mishaps.crashes()
        self._await_local(0.0)
        for crash in faults.crashes:
            self._agenda.at(crash.since, partial(self._execution.crash, crash))
        self._await_crash()

    @property
    def now(self) -> float:
        """Seconds since the scenario's start."""
        return self._agenda.now

    def advance(self, until: float) -> None:
        """Let everything happen up to then, that instant included; ValueError when that is in the past."""
        self._agenda.run(until)
        self.meters.settle(until)

    def is_reachable(self) -> bool:
        """False during an outage that the scenario foresees."""
        return not self._mishaps.is_out(self.now)

    def answer_seconds(self) -> float:
        """How long a command would take now."""
        machine = self.machine
        per_job = machine.command_seconds_per_job + self._mishaps.faults.slowness
        return machine.command_seconds + per_job * len(self._backlog)

    def submit(self, tag: str, owner: str, jobs: Sequence[SimulatedJob]) -> list[str]:
        """Remote ids in the order of the jobs; SubmissionRefused, ArrayTooLarge: nothing was submitted.

        RemoteOutcomeUnknown: it was submitted, and the answer is lost.
        """
        self._hear()
        self._refuse(jobs)
        if any((job.tag, job.owner) != (tag, owner) for job in jobs):
            raise ValueError(f"jobs of {tag} of {owner} must say so themselves")
        runs = [self._run_of(job) for job in jobs]
        for run in runs:
            self._ledger.enter(run)
            self._backlog.add(run)
        if self._mishaps.is_unanswered():
            raise RemoteOutcomeUnknown(self.name, f"the answer to the submission of {tag} is lost")
        return [run.remote_id for run in runs]

    def cancel(self, remote_ids: Collection[str]) -> None:
        """Kill these jobs, waiting or running; those that are gone are no error."""
        self._hear()
        for remote_id in remote_ids:
            if (run := self._ledger.get(remote_id)) is not None:
                self._cancel(run)

    def live(self, owner: str, prefix: str) -> list[ReportedJob]:
        """Waiting and running jobs of this owner whose tag starts so, oldest first."""
        self._hear()
        return self._ledger.live(owner, prefix)

    def past(self, remote_ids: Collection[str]) -> list[ReportedJob]:
        """What is known of these jobs, live ones too; one that the batch system has no trace of is not in the list."""
        self._hear()
        return self._ledger.past(remote_ids)

    def find(self, tag: str) -> list[ReportedJob]:
        """The jobs of one submission by its tag, for when its answer was lost; what `past` knows of them."""
        self._hear()
        return self._ledger.find(tag)

    def ended_tasks(self, owner: str, acknowledged: Collection[int] = (), limit: int = 5000) -> list[SimulatedTaskEnd]:
        """Records of ended tasks, oldest first; each is there until its number is acknowledged."""
        self._hear()
        return self._ledger.take(owner, acknowledged, limit)

    def capacity(self) -> Capacity:
        """In cores; those kept for a job until others are killed for it count as used."""
        self._hear()
        free, unavailable = (self.meters.level(use) for use in (CoreUse.FREE, CoreUse.UNAVAILABLE))
        total = self.machine.cores
        return Capacity(total, free, total - free - unavailable, unavailable)

    def _hear(self) -> None:
        if not self.is_reachable():
            raise ClusterUnreachable(self.name, "the front-end does not answer (a simulated outage)")

    def _refuse(self, jobs: Sequence[SimulatedJob]) -> None:
        machine = self.machine
        if len(jobs) > machine.largest_array:
            raise ArrayTooLarge(f"{self.name} takes arrays of at most {machine.largest_array}", machine.largest_array)
        if len(self._backlog) + len(jobs) > machine.most_waiting:
            raise SubmissionRefused(f"{self.name} lets at most {machine.most_waiting} jobs wait")
        if widest := max((job.cores for job in jobs if job.cores > machine.cores), default=0):
            raise SubmissionRefused(f"{self.name} has {machine.cores} cores, and a job asks for {widest}")

    def _run_of(self, job: SimulatedJob) -> GridJobRun:
        number = next(self._numbers)
        said = self._mishaps.lie()
        return GridJobRun(
            number, job.cores, job.walltime, not job.besteffort, job=job, remote_id=str(number), said=said
        )

    def _cancel(self, run: GridJobRun) -> None:
        if run.phase is RunPhase.RUNNING:
            self._execution.kill(run, RemoteJobState.KILLED, self.machine.kill_delay)
            return
        if run.phase is RunPhase.CLAIMING:
            self._execution.abandon(run)
        else:
            self._backlog.remove(run)
        self._ledger.end(run, RemoteJobState.KILLED, self.now)
        run.phase = RunPhase.OVER
        self._backlog.wake(run.is_firm)

    def _await_local(self, last: float) -> None:
        number, job = next(self._load, (0, None))
        if job is None:
            return
        if job.submitted < last:
            raise ValueError(f"local job {number} of {self.name} is submitted before the one before it")
        self._agenda.at(job.submitted, partial(self._arrive, number, job))

    def _arrive(self, number: int, job: LocalJob) -> None:
        if job.cores > self.machine.cores:
            self.meters.local_refused += 1
        else:
            self._backlog.add(
                LocalJobRun(next(self._numbers), job.cores, job.walltime, True, job=job, load_number=number)
            )
        self._await_local(job.submitted)

    def _await_crash(self) -> None:
        if (crash := next(self._crashes, None)) is not None:
            self._agenda.at(crash.since, partial(self._execution.crash, crash))
            self._agenda.at(crash.since, self._await_crash)
