"""Checkpoints on a cluster: who is signalled and when, and that nothing of it stays behind."""

import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.errors import UnreadableOutput
from cigri.shell.results import ShellResult
from cigri.shell.words import ShellWord
from cigri.wrapper import (
    CheckpointRequestFile,
    CheckpointRequestState,
    CheckpointSignal,
    JobKey,
    JobSpec,
    TaskSpec,
    ask_checkpoints,
    parse_checkpoints,
)
from cigri.wrapper.batch import wrapper_text

from .cluster import BASE, Cluster, call, quoted, task, until

ON_REQUEST = CheckpointSignal("USR2", 12, 10, None)
SAVES = 'trap "echo saved; exit 99" USR2; touch "$HOME/here"; while :; do sleep 0.02; done'
COUNTS = """
trap 'echo x; touch "$HOME/again"' USR2; touch "$HOME/here"; until [ -e "$HOME/over" ]; do sleep 0.02; done
"""


NO_PEAKS = " cigri_peaks=/nowhere"  # the batch system keeps them, and only checkpoints have a watcher


def _quick(cluster: Cluster) -> dict[str, str]:
    """An environment in which the watcher looks often."""
    return cluster.program("sleep", '[ "$1" != 5 ] || echo x >>"$HOME/naps"; exec /bin/sleep 0.02')


def _start(
    cluster: Cluster, *commands: str, asks: CheckpointSignal = ON_REQUEST, walltime: int = 3661, is_quick: bool = True
) -> subprocess.Popen[bytes]:
    """A job with a task for each of these commands, the first of which has begun."""
    tasks = tuple(task(number, "sh", "-c", command) for number, command in enumerate(commands, 1))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)], checkpoint=asks, walltime=walltime))
    job = cluster.start(environment=_quick(cluster)) if is_quick else cluster.start()
    until((cluster.home / "here").exists)
    return job


def _request(cluster: Cluster) -> Path:
    path = cluster.batch / "checkpoint.1"
    path.touch()
    return path


def _end(job: subprocess.Popen[bytes]) -> int:
    job.communicate(timeout=120)
    return job.returncode


def _sessions(job: subprocess.Popen[bytes]) -> list[int]:
    """The processes that are left of a job, which has a session of its own."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended
            continue
        if int(session) == job.pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def test_task_is_signalled_on_request_and_the_request_is_gone(cluster: Cluster) -> None:
    job = _start(cluster, SAVES)
    request = _request(cluster)
    assert _end(job) == 99
    assert cluster.ends() == [(99, "exit")]
    assert cluster.out() == "saved\n"
    assert not request.exists()
    until(lambda: not _sessions(job))


def test_nothing_waits_for_the_watcher_when_the_task_has_ended(cluster: Cluster) -> None:
    plan = replace(
        cluster.plan, jobs=[call(1, "sh", "-c", 'until [ -e "$HOME/over" ]; do :; done')], checkpoint=ON_REQUEST
    )
    cluster.write(plan=plan)
    job = cluster.start()
    until(lambda: any(_command(pid) == "sleep 5 " for pid in _sessions(job)))
    (cluster.home / "over").touch()
    assert _end(job) == 0
    until(lambda: not _sessions(job))
    assert cluster.records()[0].duration_ms < 4000


def test_task_that_goes_on_can_be_asked_again(cluster: Cluster) -> None:
    job = _start(cluster, COUNTS)
    for _ in range(2):
        request = _request(cluster)
        until((cluster.home / "again").exists)
        until(lambda path=request: not path.exists())  # type: ignore[misc]
        (cluster.home / "again").unlink()
    (cluster.home / "over").touch()
    assert _end(job) == 0
    assert cluster.out() == "x\nx\n"


def test_task_is_signalled_once_before_the_walltime(cluster: Cluster) -> None:
    job = _start(cluster, COUNTS, asks=CheckpointSignal("USR2", 12, 3600, None), walltime=3601)
    until((cluster.home / "again").exists)
    naps = cluster.home / "naps"
    until(naps.exists)
    many = len(naps.read_text()) + 10
    until(lambda: len(naps.read_text()) > many)
    (cluster.home / "over").touch()
    assert _end(job) == 0
    assert cluster.out() == "x\n"


def test_task_is_signalled_every_period(cluster: Cluster) -> None:
    job = _start(cluster, COUNTS, asks=CheckpointSignal("USR2", 12, 10, 1))
    until(lambda: len(cluster.out()) >= 6)
    (cluster.home / "over").touch()
    assert _end(job) == 0
    record = cluster.records()[0]
    assert len(cluster.out()) // 2 <= record.duration_ms // 1000


def test_no_task_is_begun_after_the_signal_before_the_walltime(cluster: Cluster) -> None:
    job = _start(cluster, SAVES, 'touch "$HOME/second"', asks=CheckpointSignal("USR2", 12, 3600, None), walltime=3601)
    assert _end(job) == 99
    assert cluster.ends() == [(99, "exit")]
    assert not (cluster.home / "second").exists()


def test_each_task_of_a_job_is_watched(cluster: Cluster) -> None:
    job = _start(cluster, 'touch "$HOME/here"', SAVES)
    request = _request(cluster)
    assert _end(job) == 99
    assert cluster.ends() == [(0, "exit"), (99, "exit")]
    assert not request.exists()


def test_signal_goes_down_to_the_program_that_listens(cluster: Cluster) -> None:
    job = _start(cluster, f"sh -c {quoted(SAVES)}; status=$?; echo after; exit $status")
    _request(cluster)
    assert _end(job) == 99
    assert cluster.out() == "saved\nafter\n"


def test_program_that_does_not_listen_lives_and_is_asked_as_soon_as_it_does(cluster: Cluster) -> None:
    deaf = 'touch "$HOME/here"; until [ -e "$HOME/ready" ]; do sleep 0.02; done'
    job = _start(cluster, f"{deaf}; {SAVES}")
    request = _request(cluster)
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(1)
    assert request.exists()
    (cluster.home / "ready").touch()
    assert _end(job) == 99
    assert not request.exists()


def test_other_signals_can_be_chosen(cluster: Cluster) -> None:
    job = _start(cluster, SAVES.replace("USR2", "ALRM"), asks=CheckpointSignal("ALRM", 14, 10, None))
    _request(cluster)
    assert _end(job) == 99


def test_suspended_job_is_signalled_once_when_it_goes_on(cluster: Cluster) -> None:
    job = _start(cluster, COUNTS, asks=CheckpointSignal("USR2", 12, 10, 1))
    until((cluster.home / "again").exists)
    os.killpg(job.pid, signal.SIGSTOP)
    before = len(cluster.out())
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(3.5)
    (cluster.home / "over").touch()
    os.killpg(job.pid, signal.SIGCONT)
    assert _end(job) == 0
    assert len(cluster.out()) <= before + 4  # one mark and its line end, and perhaps one on the way
    until(lambda: not _sessions(job))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGXCPU])
def test_watcher_ends_with_a_job_that_is_ended(cluster: Cluster, number: signal.Signals) -> None:
    job = _start(cluster, SAVES.replace("USR2", "TERM"), is_quick=False)  # its time to end in is a sleep, too
    job.send_signal(number)
    assert _end(job) == 99
    until(lambda: not _sessions(job))


def test_watcher_does_not_outlive_a_wrapper_that_is_killed(cluster: Cluster) -> None:
    job = _start(cluster, SAVES)
    job.kill()
    _end(job)  # nobody holds its output
    tasks = {pid: _parent(pid) for pid in _sessions(job) if "exit 99" in _command(pid)}
    # between fork and exec a child of it has its words
    [left] = [pid for pid, parent in tasks.items() if parent and parent not in tasks]
    until(lambda: all(pid == left or _parent(pid) == left for pid in _sessions(job)))
    os.kill(left, signal.SIGKILL)


def test_signals_that_the_batch_system_sends_to_all_do_not_end_the_watcher(cluster: Cluster) -> None:
    cluster.prelude += NO_PEAKS
    job = _start(cluster, SAVES.replace("USR2", "ALRM"), asks=CheckpointSignal("ALRM", 14, 10, None))
    [watcher] = [pid for pid in _sessions(job) if _parent(pid) == job.pid and str(cluster.batch) in _command(pid)]
    os.kill(watcher, signal.SIGUSR2)
    _request(cluster)
    assert _end(job) == 99


def test_task_that_continues_is_told_and_no_other(cluster: Cluster) -> None:
    show = ("sh", "-c", 'echo "${CIGRI_CHECKPOINT-absent}"')
    words = tuple(ShellWord(text) for text in show)
    continued = JobSpec(1, 901, (TaskSpec(1001, 1, 2, words, continues=True), task(2, *show)))
    cluster.write(plan=replace(cluster.plan, jobs=[continued, call(2, *show)], checkpoint=ON_REQUEST))
    for index in (1, 2):
        assert cluster.run(index, {"CIGRI_CHECKPOINT": "1"}).status == 0
    assert (cluster.out(1, 1), cluster.out(1, 2), cluster.out(2)) == ("1\n", "absent\n", "absent\n")


def test_campaign_without_checkpoints_has_no_watcher(cluster: Cluster) -> None:
    cluster.prelude += NO_PEAKS
    cluster.write("cat /proc/$PPID/task/$PPID/children")
    assert cluster.run(environment={"cigri_checkpoint": "USR2", "cigri_minder": "1"}).status == 0
    assert len(cluster.out().split()) == 1


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:  # it has ended
        return ""


def test_wishes_are_put_beside_running_jobs_and_looked_for(cluster: Cluster) -> None:
    job = _start(cluster, COUNTS)
    there, missing = JobKey(12, 34, 1), JobKey(12, 34, 2)
    asked = _ask(cluster, CheckpointRequestFile(there, True), CheckpointRequestFile(missing, True))
    assert asked == [CheckpointRequestState.WAITING, CheckpointRequestState.ABSENT]
    until(lambda: _ask(cluster, CheckpointRequestFile(there, False)) == [CheckpointRequestState.HEARD])
    until((cluster.home / "again").exists)
    (cluster.home / "over").touch()
    assert _end(job) == 0


def test_wish_that_cannot_be_written_is_told(dash: Cluster) -> None:
    dash.write(":")
    dash.run()
    (dash.batch / "checkpoint.1").mkdir()
    assert _ask(dash, CheckpointRequestFile(JobKey(12, 34, 1), True)) == [CheckpointRequestState.UNWRITTEN]


@pytest.mark.parametrize(
    "answer",
    [
        ShellResult(0, "", ""),
        ShellResult(1, "cigri-checkpoint 1\nheard\ncigri-checkpoint end\n", ""),
        ShellResult(0, "cigri-checkpoint 1\nheard\n", ""),
        ShellResult(0, "cigri-checkpoint 1\ncigri-checkpoint end\n", ""),
        ShellResult(0, "cigri-checkpoint 1\nherd\ncigri-checkpoint end\n", ""),
    ],
)
def test_answer_that_is_not_whole_tells_nothing(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        parse_checkpoints(answer, [CheckpointRequestFile(JobKey(12, 34, 1), False)])


def _ask(cluster: Cluster, *wishes: CheckpointRequestFile) -> list[CheckpointRequestState]:
    return parse_checkpoints(cluster.ask(ask_checkpoints(BASE, wishes)), wishes)


def test_no_part_of_the_wrapper_overwrites_a_function_of_another() -> None:
    defined = re.findall(r"^(cigri_\w+)\(\)", wrapper_text("checkpoint", "features"), re.MULTILINE)
    assert len(defined) > 20
    assert len(set(defined)) == len(defined)
