"""A program of ours that runs detached: found again by pid and start time, stopped through a pidfd."""

import fcntl
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

from cigri.errors import CigriError
from cigri.private_files import make_private_directory, open_privately

LARGEST_LOG = 10 * 2**20
NOT_FOR_SERVICES = ("CIGRI_LOCAL_JOB",)  # marks what belongs to a job of the local batch system and dies with it


class ProcessIdentity(NamedTuple):
    """A process, told apart from a later one with the same pid."""

    pid: int
    start: str


class PidFile:
    """A pid file. A program that ends well empties it, so a dead process in it died."""

    def __init__(self, pid_file: Path) -> None:
        self._file = pid_file

    def claim(self) -> None:
        """Write our own mark; raise CigriError when another living process holds the file."""
        make_private_directory(self._file.parent)
        with self._opened() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            other = _parse(_read(file.fileno()))
            if other and other.pid != os.getpid() and is_alive(other):
                raise CigriError(f"it is running already, as process {other.pid} (see {self._file})")
            file.truncate(0)
            file.write(f"{os.getpid()} {start_of(os.getpid())}\n")

    def launch(self, argv: Sequence[str], log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """Start a program that will claim this file, and write its mark at once: it is found before it does so."""
        make_private_directory(self._file.parent)
        with self._opened() as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # a program that claims the file waits until we have written
            other = _parse(_read(file.fileno()))
            process = launch(argv, log, environment)
            if not (other and is_alive(other)):
                file.truncate(0)
                file.write(f"{process.pid} {start_of(process.pid)}\n")
        return process

    def release(self) -> None:
        """Empty the file if it holds our mark: we end well, and have not died."""
        with self._opened() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            mark = _parse(_read(file.fileno()))
            if mark and mark.pid == os.getpid():
                file.truncate(0)

    def mark(self) -> ProcessIdentity | None:
        """What the file says, be it alive or not."""
        try:
            with self._file.open() as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                return _parse(_read(file.fileno()))
        except FileNotFoundError:
            return None

    def pid(self) -> int | None:
        """Of the process in the file while it lives, else None."""
        mark = self.mark()
        return mark.pid if mark and is_alive(mark) else None

    def is_stopped(self) -> bool:
        """Whether a signal has stopped it, as SIGSTOP or control-Z in a shell: it lives, and does nothing."""
        pid = self.pid()
        return pid is not None and state_of(pid) == "T"

    def has_died(self) -> bool:
        """It ran, and ended otherwise than well."""
        mark = self.mark()
        return mark is not None and not is_alive(mark)

    def stop(self, patience: float) -> bool:
        """Ask it to end, wait, and kill it when it does not; False when it had to be killed."""
        mark = self.mark()
        if mark is None:
            return True
        if not (is_clean := stop(mark, patience)):
            return False
        with self._opened() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _parse(_read(file.fileno())) == mark:  # it was asked to end before it could empty the file itself
                file.truncate(0)
        return is_clean

    def _opened(self) -> TextIO:
        return open(self._file, "a+", opener=open_privately)


def start_of(pid: int) -> str:
    """When a process began: the boot and the kernel's ticks since; "" when there is none."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return ""
    if words[0] in (b"Z", b"X"):
        return ""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}:{int(words[19])}"


def state_of(pid: int) -> str:
    """The letter that the kernel has for the state of a process; "" when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
    except OSError:
        return ""


def let_go_on(pid: int) -> None:
    """Continue a process that is stopped, and the group that it leads: it hears of no other signal before."""
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGCONT)
        else:
            os.kill(pid, signal.SIGCONT)


def is_alive(mark: ProcessIdentity) -> bool:
    """Whether a process of this pid and start is there, and no zombie."""
    return start_of(mark.pid) == mark.start


def is_group_alive(group: int) -> bool:
    """Is there a process in this group that has not ended, be it reaped or not?"""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just gone
            state, _, its_group, *_ = place.read_bytes().rpartition(b") ")[2].split()
            if int(its_group) == group and state not in (b"Z", b"X"):
                return True
    return False


def stop(mark: ProcessIdentity, patience: float) -> bool:
    """SIGTERM, and SIGKILL after `patience` seconds; False when that was needed."""
    try:
        process = os.pidfd_open(mark.pid)
    except ProcessLookupError:
        return True
    try:
        if not is_alive(mark):  # looked at after the opening: what we hold now cannot become another
            return True
        signal.pidfd_send_signal(process, signal.SIGTERM)
        if _ends(process, patience):
            return True
        signal.pidfd_send_signal(process, signal.SIGKILL)
        _ends(process, patience)
        return False
    except ProcessLookupError:
        return True
    finally:
        os.close(process)


def launch(argv: Sequence[str], log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a program that outlives us and holds nothing of ours."""
    make_private_directory(log.parent)
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_name(log.name + ".1"))
    kept = {name: value for name, value in environment.items() if name not in NOT_FOR_SERVICES}
    with open(log, "ab", opener=open_privately) as output:
        return subprocess.Popen(
            argv,
            env=kept,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def tail(log: Path, lines: int = 10) -> str:
    """The last words of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""


def _ends(process: int, patience: float) -> bool:
    news = select.poll()
    news.register(process, select.POLLIN)
    return bool(news.poll(patience * 1000))


def _read(descriptor: int) -> str:
    return os.pread(descriptor, 1000, 0).decode(errors="replace")


def _parse(text: str) -> ProcessIdentity | None:
    words = text.split()
    if len(words) != 2 or not words[0].isdigit():
        return None
    return ProcessIdentity(int(words[0]), words[1])
