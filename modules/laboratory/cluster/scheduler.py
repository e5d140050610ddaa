"""The passes of a simulated batch system's scheduler."""

from modules.laboratory.cluster.easy_backfill import NodeReservation, easy, hold
from modules.laboratory.cluster.execution import JobExecution
from modules.laboratory.cluster.free_cores import ANY_NODE
from modules.laboratory.cluster.machine import HardwareModel
from modules.laboratory.cluster.runs import JobRun
from modules.laboratory.cluster.simulated_queue import SimulatedQueue
from modules.laboratory.simulation_events import SimulationEvents


class SimulatedScheduler:
    """Starts what waits, no faster than the start rate allows; firm jobs (local ones, our normal ones) come first.

    Firm jobs start first come first served with EASY backfill, on any cores, as if our besteffort jobs were not there:
    just enough of these are killed for them, the machine's `victims` first. Besteffort jobs use what is left, first
    come first served, each within one node unless it is wider than a node; for the first that finds no room nodes are
    held, and others start there only if they end before.
    """

    def __init__(
        self, machine: HardwareModel, agenda: SimulationEvents, execution: JobExecution, backlog: SimulatedQueue
    ) -> None:
        self._machine = machine
        self._agenda = agenda
        self._execution = execution
        self._backlog = backlog
        self._held_for = 0
        self._hold: NodeReservation | None = None
        self._most_starts = max(1.0, machine.start_rate * machine.period)
        self._starts_left = self._most_starts
        self._last_look = 0.0

    def look(self) -> None:
        """One pass: firm jobs if any may start that could not before, then besteffort ones, as far as starts are left.

        Starts are earned at `start_rate` a second, and saved up for one period at the most.
        """
        earned = self._machine.start_rate * (self._agenda.now - self._last_look)
        self._starts_left = min(self._most_starts, self._starts_left + earned)
        self._last_look = self._agenda.now
        if self._backlog.is_firm_changed:
            self._look_at_firm()
        self._look_at_besteffort()
        if self._starts_left < 1 and len(self._backlog):
            self._backlog.wake(False)

    def _look_at_firm(self) -> None:
        execution, backlog = self._execution, self._backlog
        most = int(self._starts_left)
        available = execution.nodes.free + execution.killable_cores
        chosen = easy(
            backlog.firm.values(), execution.firm_ends, available, self._agenda.now, self._machine.depth, most
        )
        backlog.is_firm_changed = len(chosen) == most
        for run in chosen:
            if run.cores <= execution.nodes.free:
                execution.start(run, execution.nodes.spread(run.cores))
            elif run.cores <= execution.nodes.free + execution.killable_cores:
                execution.claim(run)
            else:
                continue  # it will have the rest of a wide job that dies for another
            backlog.remove(run)
            self._starts_left -= 1

    def _look_at_besteffort(self) -> None:
        nodes, depth = self._execution.nodes, self._machine.depth
        started: list[JobRun] = []
        behind = 0
        for run in self._backlog.besteffort.values():
            if self._starts_left < 1 or not nodes.free or behind > depth:
                break
            places = nodes.fit(run.cores, self._allowed(run))
            if places is None and not behind:
                self._hold_for(run)
            if places is None or behind:
                behind += 1
            if places is not None:
                self._execution.start(run, places)
                self._starts_left -= 1
                self._hold = None if run.number == self._held_for else self._hold
                started.append(run)
        for run in started:
            self._backlog.remove(run)

    def _allowed(self, run: JobRun) -> int:
        """The nodes where this besteffort job may start; a hold is void once the job it is for no longer waits."""
        wanted = ANY_NODE & ~run.excluded
        if self._hold is None or self._held_for not in self._backlog.besteffort:
            return wanted
        is_in_time = self._agenda.now + run.walltime <= self._hold.until
        return wanted if run.number == self._held_for or is_in_time else wanted & ~self._hold.nodes

    def _hold_for(self, run: JobRun) -> None:
        """Hold nodes, unless there is a hold for this job, and its time has not passed."""
        if self._hold is None or run.number != self._held_for or self._hold.until <= self._agenda.now:
            self._held_for = run.number
            self._hold = hold(run.cores, self._execution.nodes, self._execution.running.values(), run.excluded)
