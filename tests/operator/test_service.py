import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.errors import CigriError
from modules.operator import detached_process
from modules.operator.detached_process import PidFile, ProcessIdentity
from tests.operator.conftest import until

pytestmark = pytest.mark.process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def write(path: Path, mark: ProcessIdentity) -> PidFile:
    path.write_text(f"{mark.pid} {mark.start}\n")
    return PidFile(path)


def test_a_claimed_file_tells_the_living_process(tmp_path: Path) -> None:
    mine = PidFile(tmp_path / "new" / "pid")
    mine.claim()
    assert mine.pid() == os.getpid()
    assert not mine.has_died()
    mine.release()
    assert mine.pid() is None
    assert not mine.has_died()


def test_a_second_process_cannot_claim(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    other = write(tmp_path / "pid", ProcessIdentity(sleeper.pid, detached_process.start_of(sleeper.pid)))
    with pytest.raises(CigriError, match=f"running already, as process {sleeper.pid}"):
        other.claim()


def test_a_reused_pid_is_recognised_and_never_signalled(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    boot, _, ticks = detached_process.start_of(sleeper.pid).partition(":")
    for start in (f"{boot}:{int(ticks) - 1}", f"another-boot:{ticks}"):
        stale = write(tmp_path / "pid", ProcessIdentity(sleeper.pid, start))
        assert stale.pid() is None
        assert stale.has_died()
        assert stale.stop(1.0)
        assert sleeper.poll() is None
    stale.claim()
    assert stale.pid() == os.getpid()


def test_a_killed_process_has_died(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    known = write(tmp_path / "pid", ProcessIdentity(sleeper.pid, detached_process.start_of(sleeper.pid)))
    assert not known.has_died()
    sleeper.kill()
    until(known.has_died)  # even while it is a zombie


def test_what_was_launched_is_known_at_once_and_forgotten_when_it_was_asked_to_end(tmp_path: Path) -> None:
    file = PidFile(tmp_path / "data" / "pid")
    process = file.launch(["sleep", "600"], tmp_path / "log", os.environ)
    assert file.pid() == process.pid
    assert file.stop(10.0)
    assert process.wait() == -signal.SIGTERM
    assert not file.has_died()


def test_a_launch_leaves_the_mark_of_one_that_lives(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    file = write(tmp_path / "pid", ProcessIdentity(sleeper.pid, detached_process.start_of(sleeper.pid)))
    file.launch(["true"], tmp_path / "log", os.environ).wait()
    assert file.pid() == sleeper.pid


@pytest.mark.parametrize("text", ["", "x y", "12", "1 2 3", "-1 2"])
def test_an_unreadable_file_is_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid").write_text(text)
    assert PidFile(tmp_path / "pid").mark() is None
    assert PidFile(tmp_path / "pid").stop(0.1)


def test_a_process_that_ends_when_asked_is_not_killed(sleeper: subprocess.Popen[bytes]) -> None:
    assert detached_process.stop(ProcessIdentity(sleeper.pid, detached_process.start_of(sleeper.pid)), 10.0)
    assert sleeper.wait() == -signal.SIGTERM


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = (
        "import signal, pathlib, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"pathlib.Path({str(ready)!r}).touch(); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    until(ready.exists)
    assert not detached_process.stop(ProcessIdentity(process.pid, detached_process.start_of(process.pid)), 0.2)
    assert process.wait() == -signal.SIGKILL


def test_what_is_launched_holds_nothing_of_ours(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "log"
    readable, writable = os.pipe()
    os.set_inheritable(writable, True)
    script = (
        "import os; print(sorted(os.readlink(f'/proc/self/fd/{n}') for n in map(int, os.listdir('/proc/self/fd')) "
        "if os.path.exists(f'/proc/self/fd/{n}')), os.getcwd(), os.getsid(0) == os.getpid(), "
        "os.environ.get('CIGRI_LOCAL_JOB'))"
    )
    process = detached_process.launch([sys.executable, "-c", script], log, {**os.environ, "CIGRI_LOCAL_JOB": "x"})
    process.wait()
    os.close(readable)
    os.close(writable)
    assert log.read_text() == f"{['/dev/null', str(log), str(log)]} / True None\n"


def test_a_large_log_makes_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detached_process, "LARGEST_LOG", 10)
    log = tmp_path / "log"
    for word in ("a long first line", "second"):
        detached_process.launch(["echo", word], log, os.environ).wait()
    assert (log.read_text(), (tmp_path / "log.1").read_text()) == ("second\n", "a long first line\n")
    assert detached_process.tail(log) == "second"


def test_a_group_lives_as_long_as_one_of_its_processes() -> None:
    leader = subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo $!"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert leader.stdout is not None
    child = int(leader.stdout.readline())
    leader.wait()
    assert detached_process.is_group_alive(leader.pid)
    os.kill(child, signal.SIGKILL)
    until(lambda: not detached_process.is_group_alive(leader.pid), what="the end of the group")
    leader.stdout.close()
