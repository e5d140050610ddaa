"""The nodes of a simulated cluster at work: jobs start, run, are killed and end; nodes die and come back."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from functools import partial

from cigri.drivers import RemoteJobState
from modules.laboratory.cluster.easy_backfill import victims
from modules.laboratory.cluster.faults import FaultGenerator, NodeCrash
from modules.laboratory.cluster.free_cores import FreeCores, Places
from modules.laboratory.cluster.ledger import JobLedger
from modules.laboratory.cluster.machine import HardwareModel, VictimChoice
from modules.laboratory.cluster.meters import ClusterMeters, CoreUse, LostRun, WasteKind
from modules.laboratory.cluster.runs import GridJobRun, JobRun, LocalJobRun, RunPhase
from modules.laboratory.cluster.simulated_queue import SimulatedQueue
from modules.laboratory.simulation_events import SimulationEvents

BLACK_HOLE_SECONDS = 0.1
VANISHED = RemoteJobState.UNKNOWN
WASTE_OF = {
    RemoteJobState.TIMEOUT: WasteKind.TIMEOUT,
    RemoteJobState.PREEMPTED: WasteKind.PREEMPTED,
    RemoteJobState.KILLED: WasteKind.KILLED,
    RemoteJobState.NODE_FAILED: WasteKind.NODE_FAILED,
    VANISHED: WasteKind.VANISHED,
}


class JobExecution:
    """All that has cores: `running` by number, oldest first.

    `firm_ends` are the (expected end, number, cores) of firm jobs, sorted; `killable` our besteffort jobs that a firm
    one may be given the cores of, oldest first, `killable_cores` of them.
    """

    def __init__(
        self,
        machine: HardwareModel,
        mishaps: FaultGenerator,
        agenda: SimulationEvents,
        meters: ClusterMeters,
        ledger: JobLedger,
        backlog: SimulatedQueue,
    ) -> None:
        self.nodes = FreeCores(machine.nodes, machine.cores_per_node)
        self.running: dict[int, JobRun] = {}
        self.firm_ends: list[tuple[float, int, int]] = []
        self.killable: dict[int, GridJobRun] = {}
        self.killable_cores = 0
        self._machine = machine
        self._mishaps = mishaps
        self._agenda = agenda
        self._meters = meters
        self._ledger = ledger
        self._backlog = backlog
        self._down_until = [0.0] * machine.nodes

    def start(self, run: JobRun, places: Places) -> None:
        """Give a run these places, cores that must be free, and let it begin."""
        self.nodes.take(places)
        run.places = places
        self._begin(run, CoreUse.FREE)

    def claim(self, run: JobRun) -> None:
        """Give a firm job what is free, and kill just enough for the rest."""
        run.places = self.nodes.spread(min(run.cores, self.nodes.free))
        self.nodes.take(run.places)
        self._meters.move(self._agenda.now, run.held, CoreUse.FREE, CoreUse.CLAIMED)
        run.phase = RunPhase.CLAIMING
        run.lacking = run.cores - run.held
        self._enlist(run, self._agenda.now + self._machine.grace + self._machine.preemption_delay)
        chosen = victims(self._in_danger(), run.lacking)
        for victim in chosen:
            victim.heir = run
        for victim in chosen:
            self.kill(victim, RemoteJobState.PREEMPTED, self._machine.grace)

    def _in_danger(self) -> Iterable[GridJobRun]:
        """In the order in which they are to give way."""
        match self._machine.victims:
            case VictimChoice.OLDEST:
                return self.killable.values()
            case VictimChoice.PLACE:
                return sorted(self.killable.values(), key=lambda run: run.places)
            case VictimChoice.YOUNGEST:
                return reversed(self.killable.values())

    def abandon(self, run: JobRun) -> None:
        """Take from a claiming job what it has; those that die for it die for nobody."""
        for other in self.running.values():
            if isinstance(other, GridJobRun) and other.heir is run:
                other.heir = None
        self._meters.move(self._agenda.now, run.held, CoreUse.CLAIMED, CoreUse.FREE)
        self.nodes.give(run.places)
        self._strike(run)
        run.phase, run.places, run.due = RunPhase.WAITING, [], None

    def kill(self, run: GridJobRun, state: RemoteJobState, delay: float) -> None:
        """Let a running job of ours die after so long, if it does not end before."""
        if run.dying_as is not None:
            return
        self._spare(run)
        run.dying_as = state
        if delay > 0:
            self._agenda.at(self._agenda.now + delay, partial(self._end, run, state))
        else:
            self._end(run, state)

    def crash(self, crash: NodeCrash) -> None:
        """All that has cores on that node ends; what is only promised them waits again."""
        node = crash.node
        self._down_until[node] = max(self._down_until[node], crash.until)
        self._agenda.at(crash.until, partial(self._repair, node))
        if self.nodes.is_down(node):
            return
        there = [run for run in self.running.values() if any(place == node for place, _ in run.places)]
        heirs = {run.heir.number: run.heir for run in there if isinstance(run, GridJobRun) and run.heir is not None}
        heirs |= {run.number: run for run in there if run.phase is RunPhase.CLAIMING}
        for _, heir in sorted(heirs.items(), reverse=True):
            self.abandon(heir)
            self._backlog.put_back(heir)
        for run in there:
            if run.phase is RunPhase.RUNNING:
                self._end(run, RemoteJobState.NODE_FAILED)
        self.nodes.take_down(node)
        self._meters.move(self._agenda.now, self._machine.cores_per_node, CoreUse.FREE, CoreUse.UNAVAILABLE)

    def _repair(self, node: int) -> None:
        if self.nodes.is_down(node) and self._down_until[node] <= self._agenda.now:
            self.nodes.bring_up(node)
            self._meters.move(self._agenda.now, self._machine.cores_per_node, CoreUse.UNAVAILABLE, CoreUse.FREE)
            self._backlog.wake(True)

    def _begin(self, run: JobRun, source: CoreUse) -> None:
        """On its places, whose cores were used so until now."""
        now = self._agenda.now
        run.phase, run.started = RunPhase.RUNNING, now
        self._meters.starts[int(now)] += 1
        self._enlist(run, now)
        if isinstance(run, LocalJobRun):
            self._meters.move(now, run.cores, source, CoreUse.LOCAL)
            self._meters.local_starts[run.load_number] = now
            self._agenda.at(now + min(run.job.seconds, run.walltime), partial(self._end, run, RemoteJobState.SUCCEEDED))
        elif isinstance(run, GridJobRun):
            self._meters.move(now, run.cores, source, CoreUse.OURS)
            self._meters.serve(now, run.job.owner, run.cores)
            self._begin_ours(run, now)

    def _begin_ours(self, run: GridJobRun, now: float) -> None:
        if not run.is_firm:
            self.killable[run.number] = run
            self.killable_cores += run.cores
            if (preemption := self._mishaps.preemption(run.cores)) is not None:
                self._agenda.at(now + preemption, partial(self._preempt, run))
        run.since = now
        latency = self._machine.start_latency
        length = min(latency + sum(task.seconds for task in run.job.tasks), run.walltime)
        if (vanishing := self._mishaps.vanishing(length)) is not None:
            self._agenda.at(now + vanishing, partial(self._end, run, VANISHED))
        self._agenda.at(now + latency, partial(self._next_task, run))

    def _preempt(self, run: GridJobRun) -> None:
        if run.phase is RunPhase.RUNNING:
            self.kill(run, RemoteJobState.PREEMPTED, self._machine.grace)

    def _next_task(self, run: GridJobRun) -> None:
        """Also the end of a job that has none left, or shall begin none."""
        if run.phase is RunPhase.OVER:
            return
        now = self._agenda.now
        if run.position < 0:
            self._meters.wasted[WasteKind.OVERHEAD] += (now - run.since) * run.cores
        run.position += 1
        run.since = now
        if run.position == len(run.job.tasks):
            self._end(run, RemoteJobState.FAILED if run.exit_code else RemoteJobState.SUCCEEDED)
        elif run.dying_as is not None:
            self._end(run, run.dying_as)
        else:
            self._begin_task(run, now)

    def _begin_task(self, run: GridJobRun, now: float) -> None:
        task = run.job.tasks[run.position]
        seconds, exit_code = task
        hole = self._mishaps.black_hole(run.node, now)
        run.is_astray = hole is not None
        if hole is not None:
            seconds, exit_code = BLACK_HOLE_SECONDS, hole.exit_code
        if now + seconds > run.started + run.walltime:
            self._agenda.at(run.started + run.walltime, partial(self._end, run, RemoteJobState.TIMEOUT))
        else:
            self._agenda.at(now + seconds, partial(self._end_task, run, exit_code))

    def _end_task(self, run: GridJobRun, exit_code: int) -> None:
        if run.phase is RunPhase.OVER:
            return
        seconds = self._agenda.now - run.since
        self._ledger.put(run, exit_code, run.since, seconds)
        run.exit_code = exit_code or run.exit_code
        if run.is_astray:
            self._meters.wasted[WasteKind.BLACK_HOLE] += seconds * run.cores
        elif exit_code:
            self._meters.wasted[WasteKind.FAILED] += seconds * run.cores
        else:
            self._meters.useful += seconds * run.cores
        self._next_task(run)

    def _end(self, run: JobRun, state: RemoteJobState) -> None:
        if run.phase is RunPhase.OVER:
            return
        now = self._agenda.now
        use = CoreUse.OURS if isinstance(run, GridJobRun) else CoreUse.LOCAL
        is_firm_changed = run.number not in self.killable
        self._strike(run)
        if isinstance(run, GridJobRun):
            self._meters.serve(now, run.job.owner, -run.cores)
            self._account(run, state, now)
        run.phase = RunPhase.OVER
        self._meters.move(now, run.cores, use, CoreUse.FREE)
        heir = run.heir if isinstance(run, GridJobRun) else None
        self.nodes.give(run.places if heir is None else self._bequeath(run.places, heir))
        self._backlog.wake(is_firm_changed)

    def _account(self, run: GridJobRun, state: RemoteJobState, now: float) -> None:
        if state in WASTE_OF:
            work = (now - run.since) * run.cores
            self._meters.lose(LostRun(WASTE_OF[state], run.started, now, run.cores, work))
        if state is VANISHED:
            self._ledger.forget(run)
        else:
            self._ledger.end(run, state, now)

    def _bequeath(self, places: Places, heir: JobRun) -> Places:
        """Give a claiming job what it lacks; the rest is left."""
        left: Places = []
        given = 0
        for node, cores in places:
            share = min(cores, heir.lacking)
            heir.lacking -= share
            given += share
            if share:
                heir.places = [*heir.places, (node, share)]
            if share < cores:
                left.append((node, cores - share))
        self._meters.move(self._agenda.now, given, CoreUse.FREE, CoreUse.CLAIMED)
        if not heir.lacking and heir.due is None:
            heir.due = self._agenda.now + self._machine.preemption_delay
            self._agenda.at(heir.due, partial(self._inherit, heir, heir.due))
        return left

    def _inherit(self, run: JobRun, due: float) -> None:
        if run.phase is RunPhase.CLAIMING and run.due == due:
            self._strike(run)
            self._begin(run, CoreUse.CLAIMED)

    def _enlist(self, run: JobRun, start: float) -> None:
        run.expected_end = start + run.walltime
        self.running[run.number] = run
        if run.is_firm:
            insort(self.firm_ends, (run.expected_end, run.number, run.cores))

    def _strike(self, run: JobRun) -> None:
        del self.running[run.number]
        if run.is_firm:
            del self.firm_ends[bisect_left(self.firm_ends, (run.expected_end, run.number, run.cores))]
        elif isinstance(run, GridJobRun):
            self._spare(run)

    def _spare(self, run: GridJobRun) -> None:
        if self.killable.pop(run.number, None) is not None:
            self.killable_cores -= run.cores
