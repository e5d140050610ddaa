"""Jobs as processes of Linux: start one, find it again after a restart, signal it, and leave nothing of it behind.

A job is started through a line of sh that first appends "<mark> <pid>" to the file `starts`, which it has as standard
input, and then becomes the job. The same open file carries the lock of the daemon. So who gets the lock after the
death of a daemon knows that each start under way has either written its line or will never run the job.
"""

import ctypes
import fcntl
import os
import resource
import signal
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from cigri.localbatch.job_owner import USUAL_UMASK, JobOwner

MARK = "CIGRI_LOCAL_JOB"
SHIM = f'ulimit -Sn "$1"; shift; echo "${MARK} $$" >&0 && exec "$@" </dev/null'
PR_SET_CHILD_SUBREAPER = 36
PIDFD_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11  # since Linux 6.11; the exit code since 6.15
PIDFD_INFO_EXIT = 1 << 3


class RootProcess(NamedTuple):
    """The first process of a job: our child (`popen`), or one that an earlier daemon started (`pidfd`)."""

    pid: int
    ticks: int
    mark: str
    popen: "subprocess.Popen[bytes] | None" = None
    pidfd: int = -1


class ExitedProcess(NamedTuple):
    """A process that has ended; the exit code is -n after a death by signal n."""

    pid: int
    exit_code: int


class InheritedFiles(NamedTuple):
    """What every job begins with: the file `starts`, /dev/null, and the limit of open files it finds."""

    starts: int
    null: int
    files: int


class ProcStat(NamedTuple):
    """What /proc tells of a process; `status` is the wait status of a zombie."""

    letter: str
    session: int
    ticks: int
    status: int


def become_reaper() -> None:
    """Orphans of jobs become children of this process instead of init's, so that they are found cheaply."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def raise_file_limit() -> int:
    """As many open files as allowed, for each adopted job is one; gives the limit that was."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft


def start(argv: Sequence[str], environment: Mapping[str, str], owner: JobOwner, given: InheritedFiles) -> RootProcess:
    """Start a job in a session of its own; raise OSError when the host cannot.

    Files are closed by their close-on-exec flag, so that the lock is held up to the exec.
    """
    popen = subprocess.Popen(
        ["/bin/sh", "-c", SHIM, "sh", str(given.files), *argv],
        env=environment,
        stdin=given.starts,
        stdout=given.null,
        stderr=given.null,
        cwd=owner.home,
        user=owner.uid if owner.groups is not None else None,
        group=owner.gid if owner.groups is not None else None,
        extra_groups=owner.groups,
        start_new_session=True,
        close_fds=False,
        umask=USUAL_UMASK,  # that of the shell which submits is handed to the wrapper
    )
    facts = stat(popen.pid)
    return RootProcess(popen.pid, facts.ticks if facts else 0, environment[MARK], popen)


def adopt(pid: int, ticks: int | None, mark: str) -> RootProcess | None:
    """A job of an earlier daemon, if it still runs; without `ticks` its environment must carry the mark."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    facts = stat(pid)
    if facts and (facts.ticks == ticks if ticks is not None else carries(pid, mark)):
        return RootProcess(pid, facts.ticks, mark, pidfd=pidfd)
    os.close(pidfd)
    return None


def send(process: RootProcess, number: signal.Signals) -> None:
    """Signal the first process alone; none is no error."""
    with suppress(ProcessLookupError):
        if process.popen:
            os.kill(process.pid, number)  # a child that was not waited for keeps its pid
        else:
            signal.pidfd_send_signal(process.pidfd, number)


def kill_group(process: RootProcess) -> None:
    """SIGKILL to the process group, whose number is safe as long as the first process was not waited for."""
    with suppress(ProcessLookupError):
        if not process.popen:
            signal.pidfd_send_signal(process.pidfd, signal.SIGKILL)
        os.killpg(process.pid, signal.SIGKILL)


def sweep(mark: str, session: int = 0, number: signal.Signals = signal.SIGKILL) -> None:
    """Signal every process that carries the mark or is of the session, until no new one is found."""
    reached: set[int] = set()
    while unreached := {pid for pid in every_pid() if pid not in reached and belongs(pid, mark, session)}:
        for pid in unreached:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        reached |= unreached


def belongs(pid: int, mark: str, session: int) -> bool:
    """Whether a process that has not ended carries the mark, or is of the session, where one is given (0: none)."""
    facts = stat(pid)
    if facts is None or facts.letter == "Z":
        return False
    return (session > 0 and facts.session == session) or carries(pid, mark)


def carries(pid: int, mark: str) -> bool:
    """Whether its environment, as it was at its start, holds the mark; False where we may not look."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def every_pid() -> Iterator[int]:
    """All processes of this host; any of them may have ended by now."""
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())


def children() -> list[int]:
    """Our children: first processes of jobs, and orphans that jobs left; every process on a kernel that cannot tell."""
    pid = os.getpid()
    try:
        with open(f"/proc/self/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return list(every_pid())


def stat(pid: int) -> ProcStat | None:
    """What /proc/PID/stat says; None when there is no such process any more."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b") ")[2].split()
    except OSError:
        return None
    return ProcStat(words[0].decode(), int(words[3]), int(words[19]), int(words[49]))


def next_zombie() -> ExitedProcess | None:
    """A child that has ended; it stays a zombie, and is given again, until it is waited for."""
    try:
        child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if child is None:
        return None
    return ExitedProcess(child.si_pid, child.si_status if child.si_code == os.CLD_EXITED else -child.si_status)


def exit_code(process: RootProcess) -> int | None:
    """How an adopted process ended, as next_zombie() tells it; None when the kernel does not say."""
    status = _wait_status(process)
    return None if status is None else os.waitstatus_to_exitcode(status)


def _wait_status(process: RootProcess) -> int | None:
    facts = stat(process.pid)
    if facts and facts.ticks == process.ticks and facts.letter == "Z":
        return facts.status
    info = bytearray(64)
    struct.pack_into("Q", info, 0, PIDFD_INFO_EXIT)
    try:
        fcntl.ioctl(process.pidfd, PIDFD_GET_INFO, info)
    except OSError:
        return None
    (mask,), (status,) = struct.unpack_from("Q", info), struct.unpack_from("i", info, 60)
    return int(status) if mask & PIDFD_INFO_EXIT else None


def boot_id() -> str:
    """The kernel's name of this boot: under another one no process that we remember lives."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
