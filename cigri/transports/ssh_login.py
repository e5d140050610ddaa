"""Opening one SSH connection: socket, verified host key, login; every failure says what the operator can do."""

import logging
import shlex
import socket
import time
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import paramiko

from cigri.settings.ssh_address import SshAddress, SshHop
from cigri.transports.key_login import KeyLogin
from cigri.transports.known_hosts import HostKeyJudgement, KnownHosts, Standing
from cigri.transports.private_keys import PrivateKeyUnusable
from cigri.transports.shell_pool import SessionRefused

# Whatever paramiko logs reaches us as an exception too; its own tracebacks would flood the log of every bad night.
WIRE_LOG = "cigri.transports.wire"
logging.getLogger(WIRE_LOG).setLevel(logging.CRITICAL)

LINES_TOLD = 4  # of known_hosts, in one message
DEAD_AFTER = 3  # keep-alives without any acknowledgement


class SshConnectError(Exception):
    """No connection.

    `is_network`: nobody else's login would fare better; `is_refused`: none of this login's keys is taken.
    """

    def __init__(self, text: str, is_network: bool = False, is_refused: bool = False) -> None:
        super().__init__(text)
        self.is_network = is_network
        self.is_refused = is_refused


class HostKeyNotTaken(paramiko.SSHException):
    """The host shows a key that known_hosts does not list for it, or forbids."""

    def __init__(self, key: paramiko.PKey, judgement: HostKeyJudgement) -> None:
        super().__init__("host key not taken")
        self.key = key
        self.judgement = judgement


class KnownHostsPolicy(paramiko.MissingHostKeyPolicy):
    """Judges each host key; paramiko itself is given none to compare with, for it looks at one of each type only."""

    def __init__(self, known: KnownHosts, names: Sequence[str]) -> None:
        self._known = known
        self._names = names

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Called by paramiko with what the host shows: HostKeyNotTaken carries the verdict to the caller."""
        judgement = self._known.judge(self._names, key.get_name(), key.asbytes())
        if judgement.standing is not Standing.GOOD:
            raise HostKeyNotTaken(key, judgement)


class SshConnector:
    """Logs in on the hops of one address."""

    def __init__(self, address: SshAddress) -> None:
        self._address = address

    def connect(
        self, client: paramiko.SSHClient, hop: SshHop, deadline: float, via: paramiko.SSHClient | None = None
    ) -> None:
        """Log in there, through `via` if given; raise SshConnectError, or SessionRefused when it is worth trying again
        soon."""
        patience = max(0.01, min(self._address.connect_timeout, deadline - time.monotonic()))
        login = self._load_keys(hop.login)
        known = self._load_host_keys(client, hop)
        sock = _reach_through(via, hop, patience) if via else _reach(hop, patience, self._address.keepalive)
        started = time.monotonic()
        try:
            self._log_in(client, hop, sock, known, login, patience)
        except HostKeyNotTaken as error:
            raise SshConnectError(self._explain_host_key(hop, error.key, error.judgement)) from None
        except paramiko.AuthenticationException as error:
            raise SshConnectError(self._explain_login(hop, error, login.remarks), is_refused=True) from None
        except (paramiko.SSHException, EOFError, OSError) as error:
            if time.monotonic() - started >= 0.9 * patience:
                raise SshConnectError(f"sshd of {hop} did not greet within {patience:.1f} s", is_network=True) from None
            raise _understand(hop, error, login.remarks) from None
        transport = client.get_transport()
        assert transport
        transport.set_keepalive(self._address.keepalive)

    def _log_in(
        self,
        client: paramiko.SSHClient,
        hop: SshHop,
        sock: Any,
        known: KnownHosts,
        login: KeyLogin,
        patience: float,
    ) -> None:
        is_done = False
        try:
            client.connect(
                hop.host,
                port=hop.port,
                username=hop.login,
                auth_strategy=login,
                sock=sock,
                transport_factory=partial(_transport, first_kinds=known.kinds(self._known_names(hop))),
                timeout=patience,
                banner_timeout=patience,
                auth_timeout=patience,
            )
            is_done = True
        finally:
            if not is_done:
                client.close()
                sock.close()

    def _alias(self, hop: SshHop) -> str:
        is_target = (hop.host, hop.port) == (self._address.host, self._address.port)
        return self._address.host_key_alias if is_target else ""

    def _load_keys(self, login: str) -> KeyLogin:
        path = self._address.key_path(login)
        try:
            return KeyLogin(login, [path] if path else [])
        except PrivateKeyUnusable as error:
            raise SshConnectError(str(error)) from None

    def _load_host_keys(self, client: paramiko.SSHClient, hop: SshHop) -> KnownHosts:
        path = self._address.known_hosts_path()
        try:
            known = KnownHosts.read(path)
        except OSError as error:
            raise SshConnectError(f"{path} cannot be read: {error.strerror or error}") from None
        client.set_log_channel(WIRE_LOG)
        client.set_missing_host_key_policy(KnownHostsPolicy(known, self._known_names(hop)))
        return known

    def _explain_host_key(self, hop: SshHop, key: paramiko.PKey, judgement: HostKeyJudgement) -> str:
        path, place = self._address.known_hosts_path(), f"{hop.host}:{hop.port}"
        shown = f"{key.get_name()} {key.fingerprint}"
        known = "; ".join(f"line {one.line}: {one.kind} {one.fingerprint}" for one in judgement.keys[:LINES_TOLD])
        add = f"run: {self._scan_command(hop)}"
        match judgement.standing:
            case Standing.REVOKED:
                return (
                    f"THE HOST KEY OF {place} IS REVOKED: it shows {shown}, of which {path} says @revoked ({known}). "
                    "Somebody who stole it may be listening. Nobody logs in there before the host has another key"
                )
            case Standing.CHANGED:
                return (
                    f"THE HOST KEY OF {place} HAS CHANGED: it shows {shown}, and {path} has others ({known}). "
                    "Somebody may be listening. Only when its administrator says that this one is right: delete those "
                    f"lines whose keys no host of that name has any more (the others stay good), and {add}"
                )
            case Standing.CERTIFIED_ONLY:
                return (
                    f"{path} vouches for {place} by host certificates only (@cert-authority, {known}), which are not "
                    f"understood here: its own key has to be listed. It shows {shown}; compare that with what its "
                    f"administrator says, then {add}"
                )
            case Standing.UNKNOWN | Standing.GOOD:
                others = f", which knows others of it ({known})" if known else ""
                return (
                    f"the host key of {place} is not in {path}{others}. It shows {shown}; compare that with what its "
                    f"administrator says, then {add}"
                )

    def _known_names(self, hop: SshHop) -> list[str]:
        """Under which ssh looks for its keys; one without its port speaks where nothing else does."""
        if alias := self._alias(hop):
            return [alias]
        return [hop.host] if hop.port == 22 else [f"[{hop.host}]:{hop.port}", hop.host]

    def _scan_command(self, hop: SshHop) -> str:
        path: Path = self._address.known_hosts_path()
        command = f"ssh-keyscan -p {hop.port} {hop.host}"
        jump = self._address.jump_hop(hop.login)
        if jump and jump != hop:
            command = f"ssh -p {jump.port} {jump.login}@{jump.host} {command}"
        if alias := self._alias(hop):
            command += f" | sed 's/^[^ ]*/{alias}/'"
        return f"{command} >> {shlex.quote(str(path))}"

    def _explain_login(self, hop: SshHop, error: Exception, remarks: Sequence[str]) -> str:
        path = self._address.key_path(hop.login)
        keys = f"the key {path}" if path else "the keys of the agent and of ~/.ssh"
        option = f"-i {shlex.quote(str(path))} " if path else ""
        return (
            f"{hop.host}:{hop.port} does not let {hop.login} in with {keys}: {error} {_mind(remarks)}"
            f"The public key must be in ~{hop.login}/.ssh/authorized_keys there; "
            f"try: ssh {option}-p {hop.port} {hop.login}@{hop.host} true"
        )


def _mind(remarks: Sequence[str]) -> str:
    return "".join(f"Mind: {remark}. " for remark in remarks)


def _transport(sock: Any, first_kinds: Collection[str], **options: Any) -> paramiko.Transport:
    """AES-GCM goes first where the server knows it: with no MAC of its own it costs a third of the time, or less.

    So do host keys of `first_kinds`, of which the server has to show one if it can.
    """
    transport = paramiko.Transport(sock, **options)
    security = transport.get_security_options()
    security.ciphers = sorted(security.ciphers, key=lambda name: "gcm" not in name)
    security.key_types = sorted(security.key_types, key=lambda name: _kind_of_key(name) not in first_kinds)
    return transport


def _kind_of_key(algorithm: str) -> str:
    """The type that a key of this algorithm says of itself."""
    return "ssh-rsa" if algorithm.startswith("rsa-sha2-") else algorithm


def _reach(hop: SshHop, patience: float, keepalive: int) -> socket.socket:
    try:
        sock = socket.create_connection((hop.host, hop.port), patience)
    except TimeoutError:
        raise SshConnectError(
            f"{hop.host}:{hop.port} does not answer within {patience:.1f} s", is_network=True
        ) from None
    except socket.gaierror as error:
        hint = "a name of ~/.ssh/config is not one: `cigri cluster change --ssh-config` copies what it says"
        text = f"the host name {hop.host} is not known: {error.strerror} ({hint})"
        raise SshConnectError(text, is_network=True) from None
    except OSError as error:
        text = f"{hop.host}:{hop.port} cannot be reached ({error.strerror or error}); is sshd running there?"
        raise SshConnectError(text, is_network=True) from None
    # paramiko never sets it: without it each command waits 40 ms for a delayed acknowledgement.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER * keepalive * 1000)
    return sock


def _reach_through(via: paramiko.SSHClient, hop: SshHop, patience: float) -> paramiko.Channel:
    transport = via.get_transport()
    assert transport
    try:
        return transport.open_channel("direct-tcpip", (hop.host, hop.port), ("127.0.0.1", 0), timeout=patience)
    except (paramiko.SSHException, EOFError, OSError) as error:
        text = f"the jump host does not reach {hop.host}:{hop.port}: {error}"
        raise SshConnectError(text, is_network=True) from None


def _understand(hop: SshHop, error: Exception, remarks: Sequence[str]) -> Exception:
    if isinstance(error, (EOFError, ConnectionError)) or "protocol banner" in str(error):
        return SessionRefused(f"sshd of {hop} hangs up before the login; it may allow few at once (MaxStartups)")
    if "No authentication methods" in str(error):
        text = f"there is no key to log in as {hop}: set key_file, or start an agent. {_mind(remarks)}"
        return SshConnectError(text.strip())
    return SshConnectError(f"no SSH connection to {hop}: {error}")
