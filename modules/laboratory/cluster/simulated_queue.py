"""What waits in a simulated batch system, and when it is looked at next."""

from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from modules.laboratory.cluster.meters import ClusterMeters
from modules.laboratory.cluster.runs import GridJobRun, JobRun
from modules.laboratory.simulation_events import LAST_AT_A_TIME, SimulationEvents


class SimulatedQueue:
    """Firm jobs (local ones and our normal ones) and besteffort ones, each first come first served.

    A pass over them, `look`, comes at the next multiple of `period` seconds after a change, behind all else of its
    instant. `is_firm_changed`: a firm job may start that could not when the last pass looked.
    """

    def __init__(
        self, period: float, agenda: SimulationEvents, meters: ClusterMeters, look: Callable[[], None]
    ) -> None:
        self.firm: OrderedDict[int, JobRun] = OrderedDict()
        self.besteffort: OrderedDict[int, JobRun] = OrderedDict()
        self.is_firm_changed = False
        self._period = period
        self._agenda = agenda
        self._meters = meters
        self._look = look
        self._ours = 0
        self._is_planned = False
        self._last = -1

    def __len__(self) -> int:
        return len(self.firm) + len(self.besteffort)

    def add(self, run: JobRun) -> None:
        """At the end of its line, and have a pass."""
        self._line_of(run)[run.number] = run
        self._count(run, 1)
        self.wake(run.is_firm)

    def put_back(self, run: JobRun) -> None:
        """At the head of its line: a node went down whose cores it had, or was promised, before it began."""
        self.add(run)
        self._line_of(run).move_to_end(run.number, last=False)

    def remove(self, run: JobRun) -> None:
        """It has started, or was killed; KeyError: it does not wait."""
        del self._line_of(run)[run.number]
        self._count(run, -1)

    def wake(self, is_firm_changed: bool) -> None:
        """Something has changed, or is left to do: have a pass, unless one is to come already."""
        self.is_firm_changed |= is_firm_changed
        if not self._is_planned:
            self._is_planned = True
            self._last = max(ceil(self._agenda.now / self._period), self._last + 1)
            self._agenda.at(self._last * self._period, self._pass, LAST_AT_A_TIME)

    def _pass(self) -> None:
        self._is_planned = False
        self._look()

    def _line_of(self, run: JobRun) -> OrderedDict[int, JobRun]:
        return self.firm if run.is_firm else self.besteffort

    def _count(self, run: JobRun, change: int) -> None:
        if isinstance(run, GridJobRun):
            self._ours += change
            self._meters.waiting.set(self._agenda.now, self._ours)
