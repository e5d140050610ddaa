"""One SSH connection per cluster and login account, shared by all who log in with it, opened again when it is lost."""

import contextlib
import select
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import paramiko

from cigri.errors import ClusterUnreachable
from cigri.estimates.backoff import LOGINS_THAT_ARE_REFUSED
from cigri.settings.ssh_address import SshAddress
from cigri.shell.results import RawShellResult
from cigri.transports.persistent_shell import PersistentShell
from cigri.transports.shell_pool import SessionRefused, ShellPool
from cigri.transports.ssh_login import SshConnectError, SshConnector

CHANNEL_CHUNK = 1 << 18
END_OF_CONNECTION = 0.2  # seconds in which a connection that was lost under a session is known to be
BACKSTOP = 1.0  # seconds after a deadline at which a connection that still holds a caller is cut


class LoginRefusal(NamedTuple):
    """One or more in a row of the same login; whoever comes before its pause is over is told the same."""

    text: str
    in_a_row: int
    until: float


class ConnectionGate:
    """Lets one attempt at a time through to a host; those who waited for it share its failure.

    A login that was refused is let through again after a pause only: those who ask too often get this host banned.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[str, tuple[float, str]] = {}
        self._refusals: dict[str, LoginRefusal] = {}

    @contextlib.contextmanager
    def attempt(self, login: str, deadline: float) -> Iterator[None]:
        """Raise SshConnectError when the attempt fails, one that we waited for has, or the login was just refused."""
        arrived = self._clock()
        if not self._lock.acquire(timeout=max(0.0, deadline - arrived)):
            raise SshConnectError("another attempt to connect to the same host has not ended in time")
        try:
            refusal = self._refusals.get(login, LoginRefusal("", 0, 0.0))
            if self._clock() < refusal.until:
                raise SshConnectError(_told_again(refusal, self._clock()), is_refused=True)
            for key in ("", login):
                failed, text = self._failures.get(key, (0.0, ""))
                if failed >= arrived:
                    raise SshConnectError(text, is_network=not key)
            yield from self._watch(login, refusal.in_a_row)
        finally:
            self._lock.release()

    def _watch(self, login: str, refusals: int) -> Iterator[None]:
        """The attempt itself, after so many refusals in a row."""
        try:
            yield
        except SshConnectError as error:
            self._failures["" if error.is_network else login] = (self._clock(), str(error))
            if error.is_refused:
                pause = LOGINS_THAT_ARE_REFUSED.seconds(refusals + 1)
                self._refusals[login] = LoginRefusal(str(error), refusals + 1, self._clock() + pause)
            raise
        self._refusals.pop(login, None)


def _told_again(refusal: LoginRefusal, clock: float) -> str:
    pause = f"{refusal.until - clock:.0f} s"
    return f"{refusal.text} (not tried again for {pause}: hosts ban those whom they refuse too often)"


class SshAccountConnection:
    """The connection of one login account, and the kept shells on it."""

    def __init__(
        self, cluster: str, address: SshAddress, login: str, gate: ConnectionGate, jump_gate: ConnectionGate
    ) -> None:
        self.address = address
        self._cluster = cluster
        self._login = login
        self._gate = gate
        self._jump_gate = jump_gate
        self._dialer = SshConnector(address)
        self._clients: list[paramiko.SSHClient] = []
        self._pool = ShellPool(cluster, self._start)

    @property
    def sessions(self) -> int:
        """Of SSH, that it has open."""
        return self._pool.sessions

    def run(self, user: str, script: str, timeout: float, sent: bytes = b"") -> RawShellResult:
        """As Transport.fetch; a user other than the login account is reached by `sudo -n`."""
        # paramiko has waits without a limit: for a reply to exec, for room in the socket of a host that hangs.
        backstop = threading.Timer(timeout + BACKSTOP, self.disconnect)
        backstop.daemon = True
        backstop.start()
        try:
            return self._pool.run(user, script, timeout, sent)
        finally:
            backstop.cancel()

    def release(self, user: str | None = None) -> None:
        """Close the idle shells of a user, or all, and the connection when nobody is left on it."""
        self._pool.close(user)
        if not self.sessions:
            self.disconnect()

    def terminate(self) -> None:
        """End every shell on it, those at work too, and take no more."""
        self._pool.terminate()
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection, then that to the jump host; who is at work on it gets an error."""
        for client in reversed(self._clients):
            client.close()

    def _start(self, user: str, deadline: float) -> PersistentShell:
        try:
            transport = self._connected(deadline)
        except SshConnectError as error:
            raise ClusterUnreachable(
                self._cluster, str(error), is_front_end=error.is_network, is_login_refused=error.is_refused
            ) from None
        command = "exec sh -s" if user == self._login else f"exec sudo -n -H -u {shlex.quote(user)} -- sh -s"
        channel = self._open_channel(transport, deadline)
        try:
            channel.exec_command(command)
        except (paramiko.SSHException, EOFError, OSError) as error:
            channel.close()
            raise SessionRefused(f"sshd starts no session: {error or 'connection lost'}") from None
        shell = PersistentShell(self._cluster, user, ChannelStream(channel))
        try:
            shell.start(deadline)
        except BaseException:
            shell.close()
            raise
        return shell

    def _open_channel(self, transport: paramiko.Transport, deadline: float) -> paramiko.Channel:
        patience = max(0.01, deadline - time.monotonic())
        try:
            return transport.open_session(timeout=patience)
        except (paramiko.SSHException, EOFError, OSError) as error:
            if time.monotonic() >= deadline:
                raise ClusterUnreachable(self._cluster, f"sshd opens no session within {patience:.1f} s") from None
            # The text tells little: paramiko keeps one exception per connection, and another thread may have taken it.
            reason = "allows few at once (MaxSessions)" if transport.is_active() else "has closed the connection"
            raise SessionRefused(f"sshd gives no session, it {reason}: {error}") from None

    def _connected(self, deadline: float) -> paramiko.Transport:
        transport = self._active()
        if transport:
            return transport
        with self._gate.attempt(self._login, deadline):
            return self._active() or self._connect(deadline)

    def _active(self) -> paramiko.Transport | None:
        transport = self._clients[-1].get_transport() if self._clients else None
        return transport if transport and transport.is_authenticated() else None

    def _connect(self, deadline: float) -> paramiko.Transport:
        self.disconnect()
        jump = self.address.jump_hop(self._login)
        self._clients = [paramiko.SSHClient() for _ in range(2 if jump else 1)]
        if jump:
            with self._jump_gate.attempt(jump.login, deadline):
                self._dialer.connect(self._clients[0], jump, deadline)
        via = self._clients[0] if jump else None
        try:
            self._dialer.connect(self._clients[-1], self.address.target(self._login), deadline, via)
        except BaseException:
            self.disconnect()
            raise
        transport = self._active()
        if transport is None:
            raise SessionRefused("the connection was lost right after the login")
        return transport


class ChannelStream:
    """The streams of a session on a cluster."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self._news = select.poll()
        self._news.register(channel.fileno(), select.POLLIN)

    @property
    def is_open(self) -> bool:
        transport = self._channel.get_transport()
        return transport.is_active() and not self._has_ended()

    @property
    def is_cut_off(self) -> bool:
        transport = self._channel.get_transport()
        transport.join(END_OF_CONNECTION)  # it ends its sessions before itself
        return not transport.is_active()

    def send(self, data: bytes, deadline: float) -> None:
        position = 0
        while position < len(data):
            if not self.is_open:
                raise ConnectionError("the connection was lost")
            self._channel.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                position += self._channel.send(data[position : position + CHANNEL_CHUNK])
            except TimeoutError:
                raise TimeoutError("it took no more input in time") from None
            except (paramiko.SSHException, EOFError, OSError) as error:
                raise ConnectionError(f"the connection was lost: {error}") from None

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        while True:
            has_ended = self._has_ended()
            try:
                out = self._channel.recv(CHANNEL_CHUNK) if self._channel.recv_ready() else b""
                err = self._channel.recv_stderr(CHANNEL_CHUNK) if self._channel.recv_stderr_ready() else b""
            except paramiko.SSHException as error:  # reading also tells sshd that there is room again
                raise ConnectionError(str(error)) from None
            if out or err:
                return out, err
            if has_ended:
                raise EOFError
            if not self._news.poll(max(0.0, (deadline - time.monotonic()) * 1000)):
                raise TimeoutError

    def close(self) -> None:
        # Only the channel: closing the files made of it races with other threads and ends the whole connection.
        with contextlib.suppress(paramiko.SSHException, EOFError, OSError):
            self._channel.close()

    def terminate(self) -> None:
        self.close()  # which is safe under another thread

    def _has_ended(self) -> bool:
        return self._channel.closed or bool(self._channel.eof_received)
