"""A real sshd on the loopback, started as whoever runs the tests, and `sh` in three dialects."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cigri.transports.ssh import SshAddress, SshConnections
from tests.waiting import looks

SSHD = "/usr/sbin/sshd"


def wait_until(fact: Callable[[], object], what: str) -> None:
    for _ in looks(longest=0.02, what=what):
        if fact():
            return


def require(program: str, package: str) -> str:
    """The path of the program; without it the test is left out, which fails in CI."""
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        pytest.skip(f"{program} is missing: install the package {package} (as root: scripts/testbed packages)")
    return path


def make_key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


def known_line(port: int, public_key: Path) -> str:
    kind, text, *_ = public_key.read_text().split()
    return f"[127.0.0.1]:{port} {kind} {text}\n"


class Sshd:
    """One sshd with its keys; `sh` of its sessions is the first on `path`."""

    def __init__(self, directory: Path, path: str, extra: str = "") -> None:
        directory.mkdir()
        self.directory = directory
        self.log = directory / "log"
        self.user_key = make_key(directory / "user_key")
        make_key(directory / "host_key")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.known_hosts = directory / "known_hosts"
        self.known_hosts.write_text(known_line(self.port, directory / "host_key.pub"))
        self.configuration = directory / "sshd_config"
        self.configuration.write_text(
            f"{extra}\nListenAddress 127.0.0.1\nPort {self.port}\nHostKey {directory}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {directory}/user_key.pub\nStrictModes no\nUsePAM no\nLogLevel VERBOSE\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            f"PrintMotd no\nSetEnv PATH={path}\n"
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        command = [SSHD, "-D", "-f", str(self.configuration), "-E", str(self.log)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        wait_until(self._answers, "sshd answers")

    def stop(self) -> None:
        """End the server and its sessions: a front-end that goes down."""
        assert self._process
        for pid in [self._process.pid, *self.sessions()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def close(self) -> None:
        if self._process:
            self.stop()

    def signal_all(self, number: signal.Signals) -> None:
        assert self._process
        os.kill(self._process.pid, number)
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):  # a session that ends by itself
                os.kill(pid, number)

    def sessions(self) -> list[int]:
        """The sshd processes of connections."""
        assert self._process
        found, todo = [], [self._process.pid]
        while todo:
            for child in _children(todo.pop()):
                if child.name == "sshd":
                    found.append(child.pid)
                    todo.append(child.pid)
        return found

    def address(self, **settings: object) -> SshAddress:
        defaults: dict[str, object] = {
            "host": "127.0.0.1",
            "port": self.port,
            "key_file": str(self.user_key),
            "known_hosts": str(self.known_hosts),
        }
        return SshAddress.model_validate({**defaults, **settings})

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as sock:
            return sock.recv(4) == b"SSH-"
        return False


class Child:
    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self.name = name


def _children(parent: int) -> list[Child]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, _, rest = status.read_text().partition(" (")
            name, _, rest = rest.rpartition(") ")
            if int(rest.split()[1]) == parent:
                found.append(Child(int(pid), name))
    return found


@pytest.fixture(scope="session")
def shell_path(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """PATH on which `sh` is the shell of that name."""

    def make(name: str) -> str:
        directory = tmp_path_factory.mktemp(name)
        (directory / "sh").symlink_to(require(name, name))
        directory.chmod(0o755)
        return f"{directory}:/usr/local/bin:/usr/bin:/bin"

    return make


@pytest.fixture
def start_sshd(tmp_path: Path, shell_path: Callable[[str], str]) -> Iterator[Callable[..., Sshd]]:
    require("sshd", "openssh-server")
    started: list[Sshd] = []

    def start(extra: str = "", shell: str = "dash") -> Sshd:
        sshd = Sshd(tmp_path / f"sshd{len(started)}", shell_path(shell), extra)
        started.append(sshd)
        sshd.start()
        return sshd

    yield start
    for sshd in started:
        sshd.close()


@pytest.fixture
def sshd(start_sshd: Callable[..., Sshd]) -> Sshd:
    return start_sshd()


@pytest.fixture
def connections() -> Iterator[SshConnections]:
    kept = SshConnections()
    yield kept
    kept.close()


@pytest.fixture
def me() -> str:
    return getpass.getuser()
