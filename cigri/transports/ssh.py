"""Clusters over SSH: one kept connection per cluster and login account, one kept shell per user on it."""

import threading
from collections import Counter, defaultdict

from cigri.settings.ssh_address import SshAddress, SshHop
from cigri.shell.results import RawShellResult, ShellResult
from cigri.transports.ssh_connection import ConnectionGate, SshAccountConnection

__all__ = ["SshAddress", "SshConnections", "SshTransport"]


class SshTransport:
    """Runs scripts as `user`: by a login of their own, or through sudo of the gateway account."""

    def __init__(
        self, cluster: str, address: SshAddress, user: str, connections: "SshConnections | None" = None
    ) -> None:
        self.user = user
        self.commands = 0
        self._counting = threading.Lock()
        self._connection = (connections or SshConnections()).connection(cluster, address, user)

    def run(self, script: str, timeout: float) -> ShellResult:
        return self.fetch(script, timeout).as_text

    def fetch(self, script: str, timeout: float, sent: bytes = b"") -> RawShellResult:
        with self._counting:
            self.commands += 1
        return self._connection.run(self.user, script, timeout, sent)

    def close(self) -> None:
        self._connection.release(self.user)

    def terminate(self) -> None:
        self._connection.terminate()


class SshConnections:
    """The SSH connections of this process. Transports may be made anew for each pass; what they stand on is kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: dict[tuple[str, str], SshAccountConnection] = {}
        self._gates: defaultdict[tuple[SshHop | None, str, int], ConnectionGate] = defaultdict(ConnectionGate)

    def transport(self, cluster: str, address: SshAddress, user: str) -> SshTransport:
        """A transport on the connection of its login account; nothing is opened before its first run."""
        return SshTransport(cluster, address, user, self)

    def connection(self, cluster: str, address: SshAddress, user: str) -> SshAccountConnection:
        """The one of that login account; when its address has changed, the old one is given up."""
        login = address.login(user)
        with self._lock:
            kept = self._connections.get((cluster, login))
            if kept and kept.address == address:
                return kept
            target, jump = address.target(login), address.jump_hop(login)
            gate = self._gates[jump, target.host, target.port]
            jump_gate = self._gates[None, jump.host, jump.port] if jump else gate
            connection = SshAccountConnection(cluster, address, login, gate, jump_gate)
            self._connections[cluster, login] = connection
        if kept:
            kept.release()
        return connection

    def sessions(self) -> Counter[str]:
        """Of SSH, that are open, by the names of clusters; where there is none, nothing."""
        with self._lock:
            connections = list(self._connections.items())
        counted = Counter[str]()
        for (cluster, _), connection in connections:
            counted[cluster] += connection.sessions
        return +counted

    def close(self) -> None:
        """Give back everything; a later run opens it again."""
        with self._lock:
            connections = list(self._connections.values())
        for connection in connections:
            connection.release()
