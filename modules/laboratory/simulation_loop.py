"""The modules on simulated clusters in virtual time, cycle by cycle."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, TypeVar

from cigri.database.virtual import VirtualTimeDatabase
from cigri.drivers import JobControl
from cigri.flow.clusters import ClusterRow
from cigri.gateway.account_lanes import AccountResults
from cigri.gateway.contract import ClusterGateway, VisitResults
from cigri.gateway.requests import ClusterRequest, ClusterResponses
from cigri.lifecycle import CYCLE
from cigri.runtime.pass_context import PassContext, PassReport, RunOnce
from cigri.settings.sections import Settings
from modules.laboratory.cluster.front_end import SimulatedFrontEnd

T = TypeVar("T")

MODULES = [import_module(f"modules.{name}") for name in CYCLE if name != "notifier"]
"""All but the one that tells people. Loaded before runs are forked, by one process for all of them."""


class SimulatedGateway(ClusterGateway):
    """Reaches the simulated clusters, one after the other so that each run is the same; what would have been side by
    side takes the time of the slowest. Each method keeps the contract of Gateway's (cigri/gateway)."""

    def __init__(self, sites: Mapping[str, SimulatedFrontEnd]) -> None:
        super().__init__()
        self._sites = sites
        self._spent: dict[str, float] = defaultdict(float)

    def check(self, cluster: ClusterRow) -> None:
        """A simulated cluster needs no driver."""

    def controls(self, cluster: ClusterRow) -> frozenset[JobControl]:
        """None: jobs on simulated clusters cannot be held or suspended."""
        return frozenset()

    def end_delay(self, cluster: ClusterRow) -> float:
        """None: simulated clusters know at once what has ended."""
        return 0.0

    def prepare(self, cluster: ClusterRow, order: ClusterRequest[T]) -> ClusterRequest[T]:
        return order

    def request(self, cluster: ClusterRow, user: str, order: ClusterRequest[T]) -> T:
        return self._reach(cluster, user).ask(user, order)

    def request_all(self, cluster: ClusterRow, user: str, orders: Sequence[ClusterRequest[Any]]) -> ClusterResponses:
        return self._reach(cluster, user).ask_all(user, orders)

    def visit(
        self, clusters: Sequence[ClusterRow], visit: Callable[[ClusterRow], "Counter[str]"], patience: float
    ) -> VisitResults:
        return VisitResults({cluster.name: visit(cluster) for cluster in clusters}, [], {})

    def run_concurrently(
        self, cluster: ClusterRow, users: Iterable[str], action: Callable[[str], T], doubtful: Collection[str] = ()
    ) -> AccountResults[T]:
        return AccountResults([action(user) for user in users], [])

    def close(self) -> None:
        """No visit outlasts its pass."""

    def _reach(self, cluster: ClusterRow, user: str) -> SimulatedFrontEnd:
        """The site for one command, which is counted, and whose seconds are added to those spent on this cluster."""
        site = self._sites[cluster.name]
        self.commands[cluster.name] += 1
        self.took[cluster.name, user] = site.system.answer_seconds()
        self._spent[cluster.name] += self.took[cluster.name, user]
        return site

    def take_spent(self) -> float:
        """Seconds that the commands since the last call would have taken."""
        spent = max(self._spent.values(), default=0.0)
        self._spent.clear()
        return spent


class SimulationLoop:
    """`now` counts the seconds since `start`, and the database's time goes with it; it has the clusters of `sites`."""

    def __init__(
        self, database: VirtualTimeDatabase, settings: Settings, sites: Mapping[str, SimulatedFrontEnd], start: datetime
    ) -> None:
        self.now = 0.0
        self.database = database
        self.database.set_time(start)
        self.cycles = 0
        self.sites = sites
        self.gateway = SimulatedGateway(sites)
        self.tools = PassContext(database, settings, self.gateway)
        self._start = start
        self._modules: list[RunOnce] = [module.run_once for module in MODULES]

    def cycle(self) -> PassReport:
        """One pass of each module, as the almighty has them; commands take their time."""
        report: PassReport = Counter()
        patience = self.tools.settings.almighty.patience
        for run_once in self._modules:
            report.update(run_once(self.tools))
            self.advance(self.now + min(self.gateway.take_spent(), patience))
        self.cycles += 1
        return report

    def clock(self) -> datetime:
        """The date in virtual time that the database says, too."""
        return self._start + timedelta(seconds=self.now)

    def advance(self, until: float) -> None:
        """Let the clusters go on by themselves, and the database's time with them, to this second since the start."""
        for site in self.sites.values():
            site.system.advance(until)
        self.now = until
        self.database.set_time(self.clock())
