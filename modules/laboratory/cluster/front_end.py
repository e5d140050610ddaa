"""A simulated cluster behind its front-end: obeys the orders that a real one is given as text.

Of the files on a real cluster it keeps what matters: which tasks the jobs of a batch carry, journals and outboxes.
What it does not know is an error: the laboratory would else measure something that no cluster does.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from cigri.drivers import BatchRequest, RemoteJob, RemoteJobState
from cigri.errors import BatchSystemError, SubmissionRefused
from cigri.gateway import requests
from cigri.gateway.requests import ClusterRequest, ClusterResponses
from cigri.resources.nodes import AlikeNodes
from cigri.wrapper import (
    BatchSpec,
    JobJournal,
    JobKey,
    JobSpec,
    JournalState,
    OutboxContents,
    OutboxReceipt,
    OutboxRecord,
    TaskEndCause,
    TaskRecord,
    place_of,
)
from cigri.wrapper.outbox import MOST_OUTBOX_LINES
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.ledger import node_name
from modules.laboratory.cluster.simulated_jobs import ReportedJob, SimulatedJob, SimulatedTask, SimulatedTaskEnd

T = TypeVar("T")

Workload = Callable[[int, int], SimulatedTask]
"""What task `number` of a campaign does on this cluster."""


@dataclass
class SimulatedHome:
    """What one user has on the cluster."""

    batches: dict[int, dict[int, JobSpec]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    voided: set[int] = field(default_factory=set)
    outbox: dict[str, list[TaskRecord]] = field(default_factory=dict)
    journals: dict[tuple[int, int], list[TaskRecord]] = field(default_factory=dict)

    def forget(self, name: str) -> None:
        """All that is in this file of the outbox is stored, and its job over: nobody asks for it again."""
        if self.outbox.pop(name, None) is None:
            return
        batch_id, index = place_of(name)
        del self.journals[batch_id, index], self.batches[batch_id][index]
        if not self.batches[batch_id]:
            del self.batches[batch_id]


class SimulatedFrontEnd:
    """`epoch` is the scenario's start in seconds since 1970."""

    def __init__(self, system: SimulatedBatchSystem, workload: Workload, epoch: float) -> None:
        self.system = system
        self._workload, self._epoch = workload, epoch
        self._homes: dict[str, SimulatedHome] = {}

    def ask(self, user: str, order: ClusterRequest[T]) -> T:
        """Obey one order; raise what a real gateway would."""
        return cast("T", self._obey(self._homes.setdefault(user, SimulatedHome()), user, order))

    def ask_all(self, user: str, wanted: Sequence[ClusterRequest[Any]]) -> ClusterResponses:
        """One after the other; an order that fails leaves its error among the answers, and the next ones go on."""
        return ClusterResponses({order: _settled(partial(self.ask, user, order)) for order in wanted})

    def _obey(self, home: SimulatedHome, user: str, order: object) -> object:
        match order:
            case requests.SubmitBatch(plan, request):
                return self._submit(home, user, plan, request)
            case requests.ListJobs(prefix):
                return self._shown(self.system.live(user, prefix))
            case requests.ReadJobHistory(jobs):
                return self._shown(self._history(jobs))
            case requests.CancelJobs(remote_ids):
                self.system.cancel(remote_ids)
                return None
            case requests.ReadCapacity():
                return self.system.capacity()
            case requests.ListNodes():
                machine = self.system.machine
                return [AlikeNodes({"cores": machine.cores_per_node}, machine.nodes)]
            case requests.ProbeBatchSystem():
                self.system.capacity()
                return "simulated cluster"
            case requests.CollectRecords(_, receipt):
                return self._visit_outbox(home, user, receipt)
            case requests.ReadJournals(_, keys):
                self._receive(home, user)
                running = self._running(user)
                return {key: _journal(home, key, running) for key in keys}
            case requests.RevokeJobs(_, keys):
                started = home.journals.keys() | self._running(user)
                return {key for key in keys if (key.batch_id, key.index) not in started}
            case requests.VoidBatch(_, _, batch_id):
                return self._void(home, batch_id)
            case requests.ReadStreamTail():
                return None
            case requests.ReadFrontEndLoad():
                return 0.0
            case requests.ReadFrontEndClock():
                return None
        raise TypeError(f"a simulated cluster does not know the order {order!r}")

    def _submit(self, home: SimulatedHome, user: str, plan: BatchSpec, request: BatchRequest) -> dict[int, str]:
        if plan.batch_id in home.written or plan.batch_id in home.voided:
            raise SubmissionRefused("the batch could not be written to the cluster: it is there, or voided")
        home.written.add(plan.batch_id)
        jobs = home.batches[plan.batch_id] = {job.index: job for job in plan.jobs}
        excluded = sum(1 << node for node in range(self.system.machine.nodes) if node_name(node) in request.exclude)
        wish = (user, request.resources.width, request.walltime, request.besteffort)
        elements = [
            SimulatedJob(request.tag, index, *wish, list(self._told(plan.campaign_id, jobs[index])), excluded)
            for index in range(1, request.size + 1)
        ]
        return dict(enumerate(self.system.submit(request.tag, user, elements), start=1))

    def _told(self, campaign_id: int, job: JobSpec) -> Iterator[SimulatedTask]:
        """The batch system knows only tasks one after the other: those side by side are so much shorter to it."""
        for task in job.tasks:
            drawn = self._workload(campaign_id, task.number)
            yield SimulatedTask(drawn.seconds / job.side, drawn.exit_code)

    def _history(self, jobs: Sequence[tuple[str, int, str]]) -> list[ReportedJob]:
        remote_ids = [remote_id for _, _, remote_id in jobs if remote_id]
        tags = dict.fromkeys(tag for tag, _, remote_id in jobs if not remote_id)
        by_tag = [sight for tag in tags for sight in self.system.find(tag)]
        return [*self.system.past(remote_ids), *by_tag]

    def _shown(self, sights: Sequence[ReportedJob]) -> list[RemoteJob]:
        jobs = []
        for sight in sights:
            started, ended = (None if time is None else self._epoch + time for time in (sight.started, sight.ended))
            said = (sight.tag, sight.array_index, sight.remote_id, sight.state, sight.exit_code)
            jobs.append(RemoteJob(*said, node=sight.node, started=started, ended=ended))
        return jobs

    def _visit_outbox(self, home: SimulatedHome, user: str, receipt: OutboxReceipt) -> OutboxContents:
        for name in receipt.over:
            home.forget(name)
        self._receive(home, user)
        room, unsaid = MOST_OUTBOX_LINES, 0
        records, lines = [], {}
        for name, written in home.outbox.items():
            stored = receipt.lines.get(name, 0)
            new = written[stored:][:room]
            room -= len(new)
            unsaid += stored + len(new) < len(written)
            if new or name not in receipt.lines:
                lines[name] = stored + len(new)
                records += [OutboxRecord(*place_of(name), record) for record in new]
        return OutboxContents(tuple(records), lines, unsaid)

    def _void(self, home: SimulatedHome, batch_id: int) -> bool:
        if any(batch == batch_id for batch, _ in home.journals):
            return False
        home.voided.add(batch_id)
        return True

    def _receive(self, home: SimulatedHome, user: str) -> None:
        """Put the records of tasks that have ended where the wrapper would."""
        while ends := self.system.ended_tasks(user):
            for end in ends:
                batch_id = batch_of(end.tag)
                job = home.batches.get(batch_id, {}).get(end.array_index)
                if job is None:
                    continue  # it was given up, and all that it had told is stored
                record = self._record(job, end)
                home.outbox.setdefault(f"{batch_id}-{end.array_index}", []).append(record)
                home.journals.setdefault((batch_id, end.array_index), []).append(record)
            self.system.ended_tasks(user, [end.number for end in ends], 0)

    def _running(self, user: str) -> set[tuple[int, int]]:
        """Give batch and index of the running jobs; what they write when they start is not kept."""
        live = self.system.live(user, "")
        return {(batch_of(job.tag), job.array_index) for job in live if job.state is RemoteJobState.RUNNING}

    def _record(self, job: JobSpec, end: SimulatedTaskEnd) -> TaskRecord:
        task = job.tasks[end.position]
        times = (round((self._epoch + end.started) * 1000), round(end.seconds * job.side * 1000))
        ids = (job.job_id, task.task_id, task.attempt, end.position + 1)
        return TaskRecord(*ids, end.exit_code, TaskEndCause.EXIT, *times, end.node, "")


def batch_of(tag: str) -> int:
    """The number of the batch that a tag names (cigri.<grid>.<batch>)."""
    return int(tag.rpartition(".")[2])


def _journal(home: SimulatedHome, key: JobKey, running: Collection[tuple[int, int]]) -> JobJournal:
    place = key.batch_id, key.index
    if place in home.journals or place in running:
        return JobJournal(JournalState.STARTED, None, tuple(home.journals.get(place, ())))
    return JobJournal(JournalState.VOIDED if key.batch_id in home.voided else JournalState.ABSENT)


def _settled(act: Callable[[], T]) -> Callable[[], T]:
    """Do it now; what the batch system says against it is heard by who looks at the answer."""
    try:
        answer = act()
    except BatchSystemError as error:
        return partial(_raise, error)
    return lambda: answer


def _raise(error: BatchSystemError) -> Any:
    raise error
