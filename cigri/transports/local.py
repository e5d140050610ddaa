"""This host as a cluster: a kept `sh` of the user, with the surroundings of a fresh login."""

import contextlib
import os
import pwd
import select
import signal
import subprocess
import threading
import time

from cigri.errors import ClusterUnreachable
from cigri.localbatch.job_owner import USUAL_UMASK
from cigri.shell.results import RawShellResult, ShellResult
from cigri.transports.persistent_shell import PersistentShell
from cigri.transports.shell_pool import ShellPool

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
LOCAL_CHUNK = 1 << 18
GRACE_OF_COMMAND = 2.0  # seconds for a shell to end after its stdin did


class LocalTransport:
    """Runs scripts on this host as `user`: as oneself, by root's right, or by `sudo -n`."""

    def __init__(self, cluster: str, user: str) -> None:
        self.user = user
        self.commands = 0
        self._counting = threading.Lock()
        self._cluster = cluster
        self._pool = ShellPool(cluster, self._start)

    def run(self, script: str, timeout: float) -> ShellResult:
        return self.fetch(script, timeout).as_text

    def fetch(self, script: str, timeout: float, sent: bytes = b"") -> RawShellResult:
        with self._counting:
            self.commands += 1
        return self._pool.run(self.user, script, timeout, sent)

    def close(self) -> None:
        self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()

    def _start(self, user: str, deadline: float) -> PersistentShell:
        try:
            account = pwd.getpwnam(user)
        except KeyError:
            raise ClusterUnreachable(self._cluster, f"there is no account {user!r} on this host") from None
        try:
            stream = ProcessStream(_spawn(account))
        except OSError as error:
            raise ClusterUnreachable(self._cluster, f"no shell of {user} can be started: {error}") from None
        shell = PersistentShell(self._cluster, user, stream)
        try:
            shell.start(deadline)
        except BaseException:
            shell.close()
            raise
        return shell


class ProcessStream:
    """The streams of a child process, which leads a process group of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._in, self._out, self._err = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
        os.set_blocking(self._in, False)
        self._answers = select.poll()
        self._answers.register(self._out, select.POLLIN)
        self._answers.register(self._err, select.POLLIN)
        self._room = select.poll()
        self._room.register(self._in, select.POLLOUT)

    @property
    def is_open(self) -> bool:
        return self._process.poll() is None

    @property
    def is_cut_off(self) -> bool:
        return False

    def send(self, data: bytes, deadline: float) -> None:
        unsent = memoryview(data)
        while unsent:
            if not self._room.poll(_milliseconds(deadline)):
                raise TimeoutError("it took no more input in time")
            with contextlib.suppress(BlockingIOError):
                unsent = unsent[os.write(self._in, unsent[:LOCAL_CHUNK]) :]

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        ready = {descriptor for descriptor, _ in self._answers.poll(_milliseconds(deadline))}
        if not ready:
            raise TimeoutError
        out = os.read(self._out, LOCAL_CHUNK) if self._out in ready else b""
        err = os.read(self._err, LOCAL_CHUNK) if self._err in ready else b""
        if not out and not err:
            raise EOFError
        return out, err

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream
            stream.close()
        if not self._has_ended():
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._has_ended()

    def terminate(self) -> None:
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, self._in)  # the end of its input ends a shell that is not ours to kill; its number stays taken
        os.close(nobody)
        with contextlib.suppress(OSError):
            if self.is_open:
                os.killpg(self._process.pid, signal.SIGKILL)

    def _has_ended(self) -> bool:
        try:
            self._process.wait(GRACE_OF_COMMAND)
        except subprocess.TimeoutExpired:
            return False
        return True


def _spawn(account: pwd.struct_passwd) -> subprocess.Popen[bytes]:
    shell = ["sh", "-s"]
    user = group = groups = None
    if os.geteuid() == 0 and account.pw_uid != 0:
        user, group = account.pw_uid, account.pw_gid
        groups = os.getgrouplist(account.pw_name, group)
    elif os.geteuid() != account.pw_uid:
        shell = ["sudo", "-n", "-H", "-u", account.pw_name, "--", *shell]
    return subprocess.Popen(
        shell,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        cwd="/",
        env=_login_environment(account),
        user=user,
        group=group,
        extra_groups=groups,
        umask=-1 if user is None else USUAL_UMASK,
    )


def _login_environment(account: pwd.struct_passwd) -> dict[str, str]:
    """What a login sets; nothing of ours, which may hold a password."""
    name = account.pw_name
    return {
        "HOME": account.pw_dir,
        "USER": name,
        "LOGNAME": name,
        "SHELL": account.pw_shell or "/bin/sh",
        "PATH": PATH,
        "LANG": "C.UTF-8",
    }


def _milliseconds(deadline: float) -> float:
    return max(0.0, (deadline - time.monotonic()) * 1000)
