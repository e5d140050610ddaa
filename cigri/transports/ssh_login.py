"""Opening one SSH connection: socket, verified host key, login; every failure says what the operator can do."""

import logging
import shlex
import socket
import time
from pathlib import Path
from typing import Any

import paramiko
from paramiko.pkey import UnknownKeyType

from cigri.settings.ssh_address import SshAddress, SshHop
from cigri.transports.shell_pool import SessionRefused

# Whatever paramiko logs reaches us as an exception too; its own tracebacks would flood the log of every bad night.
WIRE_LOG = "cigri.transports.wire"
logging.getLogger(WIRE_LOG).setLevel(logging.CRITICAL)

DEAD_AFTER = 3  # keep-alives without any acknowledgement


class SshConnectError(Exception):
    """No connection; `is_network`: nobody else's login would fare better."""

    def __init__(self, text: str, is_network: bool = False) -> None:
        super().__init__(text)
        self.is_network = is_network


class UnknownHostKey(paramiko.SSHException):
    def __init__(self, key: paramiko.PKey) -> None:
        super().__init__("unknown host key")
        self.key = key


class RefuseUnknownHostKeys(paramiko.MissingHostKeyPolicy):
    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Called by paramiko for a key that is not in known_hosts: UnknownHostKey carries it to the caller."""
        raise UnknownHostKey(key)


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
        key = self._load_key(hop.login)
        self._load_host_keys(client)
        sock = _reach_through(via, hop, patience) if via else _reach(hop, patience, self._address.keepalive)
        started = time.monotonic()
        try:
            self._log_in(client, hop, sock, key, patience)
        except UnknownHostKey as error:
            raise SshConnectError(self._explain_unknown(hop, error.key)) from None
        except paramiko.BadHostKeyException as error:
            raise SshConnectError(self._explain_changed(hop, error)) from None
        except paramiko.AuthenticationException as error:
            raise SshConnectError(self._explain_login(hop, error)) from None
        except (paramiko.SSHException, EOFError, OSError) as error:
            if time.monotonic() - started >= 0.9 * patience:
                raise SshConnectError(f"sshd of {hop} did not greet within {patience:.1f} s", is_network=True) from None
            raise _understand(hop, error) from None
        transport = client.get_transport()
        assert transport
        transport.set_keepalive(self._address.keepalive)

    def _log_in(
        self, client: paramiko.SSHClient, hop: SshHop, sock: Any, key: paramiko.PKey | None, patience: float
    ) -> None:
        alias = self._alias(hop)
        is_done = False
        try:
            client.connect(
                alias or hop.host,
                port=22 if alias else hop.port,
                username=hop.login,
                pkey=key,
                allow_agent=key is None,
                look_for_keys=key is None,
                sock=sock,
                transport_factory=_transport,
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

    def _load_key(self, login: str) -> paramiko.PKey | None:
        path = self._address.key_path(login)
        if path is None:
            return None
        try:
            return paramiko.PKey.from_path(path)
        except (OSError, ValueError, TypeError, paramiko.SSHException, UnknownKeyType) as error:
            raise SshConnectError(f"the key file {path} cannot be used (it must have no passphrase): {error}") from None

    def _load_host_keys(self, client: paramiko.SSHClient) -> None:
        path = self._address.known_hosts_path()
        client.set_log_channel(WIRE_LOG)
        client.set_missing_host_key_policy(RefuseUnknownHostKeys())
        if not path.exists():
            return
        try:
            client.load_system_host_keys(path)
        except (OSError, ValueError, paramiko.SSHException) as error:
            raise SshConnectError(f"{path} cannot be read: {error}") from None

    def _explain_unknown(self, hop: SshHop, key: paramiko.PKey) -> str:
        return (
            f"the host key of {hop.host}:{hop.port} is not in {self._address.known_hosts_path()}. It shows "
            f"{key.get_name()} {key.fingerprint}; compare that with what its administrator says, then run: "
            f"{self._scan_command(hop)}"
        )

    def _explain_changed(self, hop: SshHop, error: paramiko.BadHostKeyException) -> str:
        path = shlex.quote(str(self._address.known_hosts_path()))
        return (
            f"THE HOST KEY OF {hop.host}:{hop.port} HAS CHANGED: it shows {error.key.get_name()} "
            f"{error.key.fingerprint}, known is {error.expected_key.get_name()} {error.expected_key.fingerprint}. "
            f"Somebody may be listening. Only when its administrator says that the new one is right, run: "
            f"ssh-keygen -R {shlex.quote(self._known_name(hop))} -f {path}; {self._scan_command(hop)}"
        )

    def _known_name(self, hop: SshHop) -> str:
        return self._alias(hop) or (hop.host if hop.port == 22 else f"[{hop.host}]:{hop.port}")

    def _scan_command(self, hop: SshHop) -> str:
        path: Path = self._address.known_hosts_path()
        command = f"ssh-keyscan -p {hop.port} {hop.host}"
        jump = self._address.jump_hop(hop.login)
        if jump and jump != hop:
            command = f"ssh -p {jump.port} {jump.login}@{jump.host} {command}"
        if alias := self._alias(hop):
            command += f" | sed 's/^[^ ]*/{alias}/'"
        return f"{command} >> {shlex.quote(str(path))}"

    def _explain_login(self, hop: SshHop, error: Exception) -> str:
        path = self._address.key_path(hop.login)
        keys = f"the key {path}" if path else "the keys of the agent and of ~/.ssh"
        option = f"-i {shlex.quote(str(path))} " if path else ""
        return (
            f"{hop.host}:{hop.port} does not let {hop.login} in with {keys}: {error} The public key must be in "
            f"~{hop.login}/.ssh/authorized_keys there; try: ssh {option}-p {hop.port} {hop.login}@{hop.host} true"
        )


def _transport(sock: Any, **options: Any) -> paramiko.Transport:
    """AES-GCM goes first where the server knows it: with no MAC of its own it costs a third of the time, or less."""
    transport = paramiko.Transport(sock, **options)
    security = transport.get_security_options()
    security.ciphers = sorted(security.ciphers, key=lambda name: "gcm" not in name)
    return transport


def _reach(hop: SshHop, patience: float, keepalive: int) -> socket.socket:
    try:
        sock = socket.create_connection((hop.host, hop.port), patience)
    except TimeoutError:
        raise SshConnectError(
            f"{hop.host}:{hop.port} does not answer within {patience:.1f} s", is_network=True
        ) from None
    except socket.gaierror as error:
        raise SshConnectError(f"the host name {hop.host} is not known: {error.strerror}", is_network=True) from None
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


def _understand(hop: SshHop, error: Exception) -> Exception:
    if isinstance(error, (EOFError, ConnectionError)) or "protocol banner" in str(error):
        return SessionRefused(f"sshd of {hop} hangs up before the login; it may allow few at once (MaxStartups)")
    if "No authentication methods" in str(error):
        return SshConnectError(f"there is no key to log in as {hop}: set key_file, or start an agent")
    return SshConnectError(f"no SSH connection to {hop}: {error}")
