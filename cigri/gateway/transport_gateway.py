"""All clusters as this process reaches them: takes orders, says them over transports, visits side by side."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from cigri import drivers
from cigri.drivers import Driver, JobControl
from cigri.errors import CigriError, TransportError
from cigri.flow.clusters import ClusterRow
from cigri.gateway.account_lanes import ACCOUNTS, AccountLanes, AccountResults
from cigri.gateway.contract import ClusterGateway, VisitResults
from cigri.gateway.requests import ClusterRequest, ClusterResponses
from cigri.gateway.shell_rendering import RenderedRequest, render, render_all
from cigri.settings.cluster_config import ClusterConfig
from cigri.shell.results import RawShellResult, ShellResult
from cigri.transports import Transport
from cigri.transports.local import LocalTransport

if TYPE_CHECKING:
    from cigri.transports.ssh import SshConnections

logger = logging.getLogger(__name__)

VISITORS = 16  # clusters visited at the same time
MOST_ACCOUNTS = 2 * VISITORS * ACCOUNTS  # at work at the same time, left behind or not
CLOSING_PATIENCE = 2.0  # seconds that visits get to end before their connections are taken away
NO_ANSWER = ShellResult(0, "", "")

T = TypeVar("T")


class GatewayClosed(BaseException):
    """Ends a visit that outlasts its process: no fault of the cluster or of us, so nothing that is noted as one."""


class TransportGateway(ClusterGateway):
    """Keeps connections from pass to pass; may be used by several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._drivers: dict[int, tuple[ClusterConfig, Driver]] = {}
        self._transports: dict[tuple[int, str], tuple[ClusterConfig, Transport]] = {}
        self._connections: SshConnections | None = None
        self._is_closed = False
        self._lock = threading.Lock()
        self._visitors = ThreadPoolExecutor(VISITORS, thread_name_prefix="visit")
        self._under_way: dict[int, Future[Counter[str]]] = {}
        self._accounts = ThreadPoolExecutor(MOST_ACCOUNTS, thread_name_prefix="account")
        self._lanes: dict[int, AccountLanes] = {}

    def driver(self, cluster: ClusterRow) -> Driver:
        """The driver of the cluster as configured now, loaded once; raise ConfigError when there is none."""
        with self._lock:
            loaded = self._drivers.get(cluster.id)
            if loaded is None or loaded[0] != cluster.config:
                config = cluster.config.in_use
                loaded = (cluster.config, drivers.load(config.driver, config.options))
                self._drivers[cluster.id] = loaded
            return loaded[1]

    def check(self, cluster: ClusterRow) -> None:
        self.driver(cluster)

    def controls(self, cluster: ClusterRow) -> frozenset[JobControl]:
        return self.driver(cluster).controls

    def end_delay(self, cluster: ClusterRow) -> float:
        return self.driver(cluster).end_delay

    def prepare(self, cluster: ClusterRow, order: ClusterRequest[T]) -> ClusterRequest[T]:
        return render(order, cluster, self.driver(cluster))

    def request(self, cluster: ClusterRow, user: str, order: ClusterRequest[T]) -> T:
        return self._hear(cluster, user, render(order, cluster, self.driver(cluster)))

    def request_all(self, cluster: ClusterRow, user: str, orders: Sequence[ClusterRequest[Any]]) -> ClusterResponses:
        return self._hear(cluster, user, render_all(orders, cluster, self.driver(cluster)))

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        """Run sh text on a cluster as a local user; raise what Transport.run does."""
        return self.fetch(cluster, user, script).as_text

    def fetch(self, cluster: ClusterRow, user: str, script: str, sent: bytes = b"") -> RawShellResult:
        """As Transport.fetch."""
        with self._lock:
            self.commands[cluster.name] += 1
        if self._is_closed:
            raise GatewayClosed
        begun = time.monotonic()
        try:
            answer = self._transport(cluster, user).fetch(script, cluster.config.timeout, sent)
        except TransportError:
            if self._is_closed:
                raise GatewayClosed from None
            raise
        finally:
            with self._lock:
                self.seconds[cluster.name] += time.monotonic() - begun
        self.took[cluster.name, user] = time.monotonic() - begun
        return answer

    def sessions(self) -> Mapping[str, int]:
        with self._lock:
            return self._connections.sessions() if self._connections else {}

    def visit(
        self, clusters: Sequence[ClusterRow], visit: Callable[[ClusterRow], "Counter[str]"], patience: float
    ) -> VisitResults:
        started: dict[str, Future[Counter[str]]] = {}
        for cluster in clusters:
            running = self._under_way.get(cluster.id)
            if running is None or running.done():
                future = self._visitors.submit(visit, cluster)
                self._under_way[cluster.id] = started[cluster.name] = future
        wait(started.values(), timeout=patience)
        late = [name for name, future in started.items() if not future.done()]
        ended = {name: future for name, future in started.items() if future.done()}
        failed = {name: error for name, future in ended.items() if (error := future.exception()) is not None}
        for name, error in failed.items():
            is_told = isinstance(error, CigriError)
            logger.error("The visit of cluster %s failed: %s", name, error, exc_info=None if is_told else error)
        reports = {name: future.result() for name, future in ended.items() if name not in failed}
        return VisitResults(reports, late, failed)

    def run_concurrently(
        self, cluster: ClusterRow, users: Iterable[str], action: Callable[[str], T], doubtful: Collection[str] = ()
    ) -> AccountResults[T]:
        return self._lanes_of(cluster).run(users, action, doubtful)

    def had_left_behind(self, cluster: ClusterRow) -> bool:
        return self._lanes_of(cluster).had_left_behind

    def close(self) -> None:
        self._visitors.shutdown(wait=False, cancel_futures=True)
        visits: list[Future[Any]] = [visit for visit in self._under_way.values() if not visit.cancelled()]
        visits += [late for lanes in self._lanes.values() for late in lanes.left_behind]
        wait(visits, timeout=CLOSING_PATIENCE)
        self._is_closed = True
        for _, transport in list(self._transports.values()):
            transport.terminate()
        wait(visits, timeout=CLOSING_PATIENCE)
        self._accounts.shutdown(wait=False, cancel_futures=True)  # a visit that went on may have asked until now

    def _lanes_of(self, cluster: ClusterRow) -> AccountLanes:
        with self._lock:
            return self._lanes.setdefault(cluster.id, AccountLanes(cluster.name, self._accounts))

    def _hear(self, cluster: ClusterRow, user: str, said: RenderedRequest[T]) -> T:
        if said.is_raw:
            return said.read(self.fetch(cluster, user, said.text, said.sent))
        return said.read(self.run(cluster, user, said.text) if said.text else NO_ANSWER)

    def _transport(self, cluster: ClusterRow, user: str) -> Transport:
        with self._lock:
            opened = self._transports.get((cluster.id, user))
            if opened is None or opened[0] != cluster.config:
                if opened is not None:
                    opened[1].close()
                opened = (cluster.config, self._open(cluster, user))
                self._transports[(cluster.id, user)] = opened
            return opened[1]

    def _open(self, cluster: ClusterRow, user: str) -> Transport:
        ssh = cluster.config.in_use.ssh
        if ssh is None:
            return LocalTransport(cluster.name, user)
        from cigri.transports.ssh import SshConnections  # paramiko takes 0.3 s to import, and many grids need none

        if self._connections is None:
            self._connections = SshConnections()
        return self._connections.transport(cluster.name, ssh, user)
