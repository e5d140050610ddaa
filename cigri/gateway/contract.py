"""What a pass may ask of all clusters: orders, and visits side by side; of real ones, and of simulated ones."""

import os
import pwd
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from cigri.drivers import JobControl
from cigri.flow.clusters import ClusterRow
from cigri.flow.remote_command_counts import NOTHING, RemoteCommandCosts
from cigri.gateway.account_lanes import AccountResults
from cigri.gateway.bandwidth_limits import BandwidthLimiter
from cigri.gateway.requests import ClusterRequest, ClusterResponses
from cigri.wrapper import OutboxReceipt

T = TypeVar("T")


class VisitResults(NamedTuple):
    """What became of the visits of one pass: reports by cluster, clusters not done in time, and errors by cluster."""

    reports: dict[str, "Counter[str]"]
    late: list[str]
    failed: dict[str, BaseException]


class ClusterGateway(ABC):
    """All clusters as one process reaches them, from pass to pass; `user` is always an account of the cluster."""

    def __init__(self) -> None:
        self.settled: dict[tuple[int, str], OutboxReceipt] = {}
        """Per cluster and user, what is stored of the outbox there: told at the next visit."""
        self.commands: Counter[str] = Counter()
        """Remote commands per cluster since this process began."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """What these took, per cluster, whether or not they were answered."""
        self._told: dict[str, RemoteCommandCosts] = {}
        self.paces: defaultdict[str, BandwidthLimiter] = defaultdict(BandwidthLimiter)
        """Of what is sent to each cluster, and ("") to all."""
        self.took: dict[tuple[str, str], float] = {}
        """Seconds that the last command took that was answered, per cluster and user."""

    def monitoring_account(self, cluster: ClusterRow) -> str:
        """The account for questions that concern no user's jobs."""
        config = cluster.config.in_use
        if config.visitor:
            return config.visitor
        account = config.ssh.account if config.ssh else ""
        return account or pwd.getpwuid(os.geteuid()).pw_name

    def take_command_costs(self) -> dict[str, RemoteCommandCosts]:
        """Commands and seconds per cluster since this was asked before."""
        spent = {name: RemoteCommandCosts(number, self.seconds[name]) for name, number in list(self.commands.items())}
        before, self._told = self._told, spent
        gone = {name: RemoteCommandCosts(-was.commands, -was.seconds) for name, was in before.items()}
        new = {name: now + gone.get(name, NOTHING) for name, now in spent.items()}
        return {name: costs for name, costs in new.items() if costs != NOTHING}

    def sessions(self) -> Mapping[str, int]:
        """Of SSH, that this process has open, by the names of clusters."""
        return {}

    @abstractmethod
    def check(self, cluster: ClusterRow) -> None:
        """Raise ConfigError when nothing can be said to it, as there is no driver for its configuration."""

    @abstractmethod
    def controls(self, cluster: ClusterRow) -> frozenset[JobControl]:
        """What its batch system can do to jobs that live on (hold, suspend and so on)."""

    @abstractmethod
    def end_delay(self, cluster: ClusterRow) -> float:
        """Return the seconds for which its batch system may list jobs that have ended by themselves."""

    @abstractmethod
    def prepare(self, cluster: ClusterRow, order: ClusterRequest[T]) -> ClusterRequest[T]:
        """The same order, found good to be given there; raises what is wrong with it, before anything is sent."""

    @abstractmethod
    def request(self, cluster: ClusterRow, user: str, order: ClusterRequest[T]) -> T:
        """Give an order as a local user; raise what Transport.run does, and what is wrong with the answer."""

    @abstractmethod
    def request_all(self, cluster: ClusterRow, user: str, orders: Sequence[ClusterRequest[Any]]) -> ClusterResponses:
        """Give several in one remote command, in this sequence; UnreadableOutput: the answer is not whole."""

    @abstractmethod
    def visit(
        self, clusters: Sequence[ClusterRow], visit: Callable[[ClusterRow], "Counter[str]"], patience: float
    ) -> VisitResults:
        """Visit clusters side by side for at most `patience` seconds; a slow visit goes on, and is not begun again."""

    @abstractmethod
    def run_concurrently(
        self, cluster: ClusterRow, users: Iterable[str], action: Callable[[str], T], doubtful: Collection[str] = ()
    ) -> AccountResults[T]:
        """Do this for accounts of a cluster, a few at a time; who takes long goes on alone, and is not begun again.

        `doubtful`: accounts that gave no sense before; they come last, and are hardly waited for.
        """

    def had_left_behind(self, cluster: ClusterRow) -> bool:
        """Whether an account of this cluster went on alone until the last call of run_concurrently."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Let visits that go on end, if they soon do; then take their connections away. No process of ours is left."""
