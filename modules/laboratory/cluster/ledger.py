"""What a simulated batch system knows of our jobs and says of them, and the records that their tasks left."""

from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from itertools import islice

from cigri.drivers import RemoteJobState
from cigri.formats.units import DAY
from modules.laboratory.cluster.runs import GridJobRun, RunPhase
from modules.laboratory.cluster.simulated_jobs import ReportedJob, SimulatedTaskEnd

ENDS_ARE_KNOWN = 1.0 * DAY  # seconds for which the ends of jobs are known


class JobLedger:
    """Live jobs by owner, the ends of the others for a day, and each owner's outbox."""

    def __init__(self) -> None:
        self._live: dict[str, dict[str, GridJobRun]] = {}
        self._owners: dict[str, str] = {}
        self._ended: OrderedDict[str, ReportedJob] = OrderedDict()
        self._ends: deque[float] = deque()
        self._outboxes: dict[str, dict[int, SimulatedTaskEnd]] = {}
        self._records = 0

    def enter(self, run: GridJobRun) -> None:
        """From now on it is listed among its owner's live jobs."""
        self._live.setdefault(run.job.owner, {})[run.remote_id] = run
        self._owners[run.remote_id] = run.job.owner

    def get(self, remote_id: str) -> GridJobRun | None:
        """A live job by its id; None: it has ended or vanished, or never was."""
        owner = self._owners.get(remote_id)
        return None if owner is None else self._live[owner][remote_id]

    def end(self, run: GridJobRun, state: RemoteJobState, now: float) -> None:
        """It has ended in this state, at `now` in seconds: it is no longer live, and known for a day as it ended."""
        began = run.phase is not RunPhase.WAITING
        job, node = run.job, node_name(run.node) if began else ""
        exit_code = run.exit_code if state in (RemoteJobState.SUCCEEDED, RemoteJobState.FAILED) else None
        started = run.started if began else None
        self._ended[run.remote_id] = ReportedJob(
            job.tag, job.array_index, run.remote_id, state, exit_code, started, now, node
        )
        self._ends.append(now)
        while self._ends[0] < now - ENDS_ARE_KNOWN:
            self._ends.popleft()
            self._ended.popitem(last=False)
        self.forget(run)

    def forget(self, run: GridJobRun) -> None:
        """It is live no longer, and leaves no history: so jobs vanish."""
        del self._live[self._owners.pop(run.remote_id)][run.remote_id]

    def live(self, owner: str, prefix: str) -> list[ReportedJob]:
        """Those of this owner whose tag starts so, oldest first."""
        return [_sight(run) for run in self._live.get(owner, {}).values() if run.job.tag.startswith(prefix)]

    def past(self, remote_ids: Collection[str]) -> list[ReportedJob]:
        """Of these jobs, live or ended in the last day, what is known; the others are left out."""
        return [sight for remote_id in remote_ids if (sight := self._known(remote_id)) is not None]

    def find(self, tag: str) -> list[ReportedJob]:
        """Of all owners' jobs with exactly this tag, those that have ended first."""
        ended = [sight for sight in self._ended.values() if sight.tag == tag]
        return ended + [_sight(run) for run in self._all_live() if run.job.tag == tag]

    def put(self, run: GridJobRun, exit_code: int, started: float, seconds: float) -> None:
        """The record of its present task goes into its owner's outbox."""
        self._records += 1
        job = run.job
        self._outboxes.setdefault(job.owner, {})[self._records] = SimulatedTaskEnd(
            self._records, job.tag, job.array_index, run.position, exit_code, started, seconds, node_name(run.node)
        )

    def take(self, owner: str, acknowledged: Collection[int], limit: int) -> list[SimulatedTaskEnd]:
        """Forget the records with these numbers, and give the oldest of the others, `limit` at the most."""
        outbox = self._outboxes.get(owner, {})
        for number in acknowledged:
            outbox.pop(number, None)
        return list(islice(outbox.values(), limit))

    def _known(self, remote_id: str) -> ReportedJob | None:
        if (sight := self._ended.get(remote_id)) is not None:
            return sight
        run = self.get(remote_id)
        return None if run is None else _sight(run)

    def _all_live(self) -> Iterator[GridJobRun]:
        for runs in self._live.values():
            yield from runs.values()


def node_name(node: int) -> str:
    """Nodes are counted from 0, and named from 1."""
    return f"node-{node + 1}"


def _sight(run: GridJobRun) -> ReportedJob:
    job = run.job
    if run.phase is not RunPhase.RUNNING:
        return ReportedJob(job.tag, job.array_index, run.remote_id, RemoteJobState.WAITING)
    if run.said is not None:
        return ReportedJob(job.tag, job.array_index, run.remote_id, run.said)
    node = node_name(run.node)
    return ReportedJob(job.tag, job.array_index, run.remote_id, RemoteJobState.RUNNING, None, run.started, None, node)
