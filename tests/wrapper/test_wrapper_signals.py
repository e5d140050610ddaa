"""Signals, kills and full disks: what is written down when a job does not end by itself."""

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.wrapper import JobKey, JobSpec, journal, parse_end, parse_journal, parse_start

from .cluster import BASE, Cluster, call, quoted, small_disk, task, until

OTHER_NAP = (
    '[ "$1" = 2 ] || exec /bin/sleep "$@"'  # of whatever watches the task; the wrapper's patience takes 2 seconds
)
WAIT = 'touch "$HOME/here"; while :; do sleep 0.02; done'


def _started(cluster: Cluster, command: str, environment: Mapping[str, str] = {}) -> subprocess.Popen[bytes]:
    """A job of two tasks, the first of which is running this command."""
    tasks = (task(1, "sh", "-c", command), task(2, "touch", "second"))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    job = cluster.start(environment=environment)
    until((cluster.home / "here").exists)
    return job


def _wait_for_lines(path: Path, number: int) -> None:
    until(lambda: path.exists() and len(path.read_text().splitlines()) >= number)


def _end(job: subprocess.Popen[bytes]) -> int:
    job.communicate(timeout=120)
    return job.returncode


@pytest.mark.parametrize(("number", "cause"), [(signal.SIGTERM, "terminated"), (signal.SIGXCPU, "walltime")])
def test_task_is_asked_to_end_and_the_next_is_not_started(cluster: Cluster, number: signal.Signals, cause: str) -> None:
    job = _started(cluster, WAIT)
    job.send_signal(number)
    assert _end(job) == 143
    assert cluster.ends() == [(143, cause)]
    assert not (cluster.home / "second").exists()
    assert list(cluster.tmp.iterdir()) == []


def test_task_may_end_well_within_the_grace(cluster: Cluster) -> None:
    job = _started(cluster, f"trap 'echo saved; exit 9' TERM; {WAIT}")
    job.send_signal(signal.SIGTERM)
    assert _end(job) == 9
    assert cluster.ends() == [(9, "terminated")]
    assert cluster.out() == "saved\n"


def test_task_that_the_batch_system_has_ended_itself_was_terminated(cluster: Cluster) -> None:
    job = _started(cluster, f'echo $$ >"$HOME/pid"; {WAIT}')
    job.send_signal(signal.SIGSTOP)
    os.kill(int((cluster.home / "pid").read_text()), signal.SIGTERM)
    job.send_signal(signal.SIGTERM)
    job.send_signal(signal.SIGCONT)
    assert _end(job) == 143
    assert cluster.ends() == [(143, "terminated")]
    assert cluster.records()[0].duration_ms < 4000  # no grace for what is gone


@pytest.mark.parametrize(("number", "cause"), [(signal.SIGTERM, "terminated"), (signal.SIGXCPU, "walltime")])
def test_task_that_got_the_batch_systems_signal_first_did_not_fail(
    cluster: Cluster, number: signal.Signals, cause: str
) -> None:
    job = _started(cluster, f'echo $$ >"$HOME/pid"; {WAIT}')
    task_pid = int((cluster.home / "pid").read_text())
    os.kill(task_pid, number)
    until(lambda: not Path(f"/proc/{task_pid}").exists())
    job.send_signal(number)
    _end(job)
    assert [found for _, found in cluster.ends()] == [cause]
    assert not (cluster.home / "second").exists()


def test_notice_of_the_walltime_stays_the_cause(cluster: Cluster) -> None:
    grace = cluster.program("sleep", '[ "$1" != 5 ] || until [ -e "$HOME/over" ]; do :; done; exec /bin/sleep 0.02')
    job = _started(cluster, f"trap 'touch $HOME/asked' TERM; {WAIT}", grace)
    job.send_signal(signal.SIGXCPU)
    until((cluster.home / "asked").exists)
    job.send_signal(signal.SIGTERM)
    assert job.poll() is None
    (cluster.home / "over").touch()
    assert _end(job) == 137
    assert cluster.ends() == [(137, "walltime")]


def test_notice_that_all_processes_get_ends_a_task_as_any_other_does(cluster: Cluster) -> None:
    cluster.prelude += "\ncigri_notice=USR1"
    job = _started(cluster, f"trap 'echo saved; exit 9' TERM; {WAIT}")
    os.killpg(job.pid, signal.SIGUSR1)
    assert _end(job) == 9
    assert cluster.ends() == [(9, "walltime")]
    assert cluster.out() == "saved\n"


def test_whole_group_of_a_task_is_asked_to_end(cluster: Cluster) -> None:
    job = _started(cluster, f"sh -c {quoted(WAIT)}; exit 1")
    with (cluster.batch / "1.1.out").open() as written:  # inherited by all of them
        assert len(_holders(written.name)) > 2
        job.send_signal(signal.SIGTERM)
        _end(job)
        until(lambda: len(_holders(written.name)) == 1)


def test_group_that_is_shared_is_left_alone(cluster: Cluster) -> None:
    cluster.write(WAIT)
    job = f"{' '.join(cluster.argv)} {quoted(cluster.batch / 'job')} {quoted(cluster.batch)}"
    script = f"{job} & echo $! >pid; wait $!; echo still here"
    starter = subprocess.Popen(
        ["bash", "-c", script],
        cwd=cluster.home,
        env={**cluster.environment, "TEST_INDEX": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until((cluster.home / "here").exists)
    os.kill(int((cluster.home / "pid").read_text()), signal.SIGTERM)
    assert starter.communicate(timeout=120)[0] == b"still here\n"
    assert cluster.ends() == [(143, "terminated")]


@pytest.mark.parametrize("name", ["HUP", "INT", "USR1", "USR2"])
def test_other_signals_are_only_passed_on(cluster: Cluster, name: str) -> None:
    program = f"""
import os, signal
signal.signal(signal.SIG{name}, lambda *_: print("heard", flush=True) or os._exit(7))
open(os.environ["HOME"] + "/here", "w").close()
while True:
    signal.pause()
"""
    job = _started(cluster, f"exec python3 -c {quoted(program)}")
    job.send_signal(signal.Signals[f"SIG{name}"])
    assert _end(job) == 7
    assert cluster.out() == "heard\n"
    assert cluster.ends() == [(7, "exit"), (0, "exit")]


def test_signal_that_a_task_survives_does_not_end_the_waiting(cluster: Cluster) -> None:
    job = _started(cluster, f"trap 'touch $HOME/first' USR1; trap 'exit 8' USR2; {WAIT}")
    job.send_signal(signal.SIGUSR1)
    until((cluster.home / "first").exists)
    assert job.poll() is None
    job.send_signal(signal.SIGUSR2)
    assert _end(job) == 8


def test_killed_task_is_a_signal(cluster: Cluster) -> None:
    cluster.write("kill -KILL $$", "exit 255")
    assert cluster.run(1).status == 137
    assert cluster.ends(1) == [(137, "signal")]
    assert cluster.run(2).status == 255
    assert cluster.ends(2) == [(255, "exit")]


def test_killed_wrapper_leaves_the_start_alone(cluster: Cluster) -> None:
    job = _started(cluster, WAIT)
    os.killpg(job.pid, signal.SIGKILL)
    _end(job)
    [line] = cluster.journal()
    assert parse_start(line)
    assert list(cluster.outbox.iterdir()) == []
    assert cluster.run().status == 76


def test_end_before_the_first_task_starts_none(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    dying = cluster.program("mkdir", 'kill -TERM "$PPID"; exec /bin/mkdir "$@"')
    assert cluster.run(environment=dying).status == 143
    assert cluster.ends() == []
    assert not (cluster.home / "ran").exists()


def test_record_is_written_as_soon_as_the_disk_has_room_again(cluster: Cluster) -> None:
    journal = '"$HOME"/.cigri/grid-1/c12/b34/journal.1'
    pad = f"head -c $((4090 - $(wc -c <{journal}))) /dev/zero | tr '\\0' '\\n' >>{journal}"  # the page has 6 bytes left
    with small_disk(cluster.home / ".cigri"):
        cluster.write(f'{pad}; cat /dev/zero >"$HOME/.cigri/full" 2>/dev/null; exit 3')
        relief = cluster.program("sleep", f'{OTHER_NAP}; cp {journal} "$HOME"; rm -f "$HOME/.cigri/full"')
        assert cluster.run(environment=relief).status == 3
        assert (cluster.home / "journal.1").read_bytes().endswith(b"\nend 1 ")  # it was cut, and did have to wait
        assert cluster.ends() == [(3, "exit")]


def test_record_that_cannot_be_written_is_given_up_in_time(cluster: Cluster) -> None:
    with small_disk(cluster.home / ".cigri"):
        fill = 'cat /dev/zero >"$HOME/.cigri/full" 2>/dev/null; exit 3'
        tasks = (task(1, "sh", "-c", fill), task(2, "touch", "second"))
        jobs = [JobSpec(1, 901, tasks)]
        cluster.write(plan=replace(cluster.plan, jobs=jobs, patience=600, walltime=11))
        slow = cluster.program("sleep", f'{OTHER_NAP}; echo x >>"$HOME/slept"; exec /bin/sleep 0.2')
        assert cluster.run(environment=slow).status == 74
        assert 1 < len((cluster.home / "slept").read_text()) < 20
        assert not any(
            map(parse_end, (cluster.outbox / "34-1").read_text().splitlines())
        )  # the file is there, no record
        assert not (cluster.home / "second").exists()


def test_task_does_not_run_when_nothing_can_be_written(cluster: Cluster) -> None:
    with small_disk(cluster.home / ".cigri") as disk:
        cluster.write(plan=replace(cluster.plan, jobs=[call(1, "touch", "ran")], patience=0))
        with pytest.raises(OSError, match="No space"):
            (disk / "full").write_bytes(bytes(100_000))
        assert cluster.run().status == 74
        assert not (cluster.home / "ran").exists()


def test_job_of_a_purged_campaign_does_not_wait(cluster: Cluster) -> None:
    cluster.write('rm -rf "$HOME/.cigri"; exit 3')
    waiting = cluster.program("sleep", f'{OTHER_NAP}; echo x >>"$HOME/slept"')
    assert cluster.run(environment=waiting).status == 74
    assert (cluster.home / "slept").read_text() == "x\n"


def _holders(path: str) -> list[str]:
    """The processes that have a file open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(entry) == path for entry in (process / "fd").iterdir()):
                found.append(process.name)
        except OSError:  # it has ended
            continue
    return found


def test_group_that_is_killed_keeps_what_was_done(cluster: Cluster) -> None:
    """Whenever it is: each task that ended has its record, and at most one more was begun."""
    tasks = tuple(task(number, "sh", "-c", f"echo {number} >>$HOME/ran") for number in range(1, 201))
    jobs = [JobSpec(index, 900 + index, tasks) for index in range(1, 6)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs))
    for index in range(1, 6):
        job, ran = cluster.start(index), cluster.home / "ran"
        _wait_for_lines(ran, 7 * index)
        os.killpg(job.pid, signal.SIGKILL)
        _end(job)
        numbers = [int(line) for line in ran.read_text().split()]
        ran.unlink()
        done = [record.position for line in cluster.journal(index) if (record := parse_end(line))]
        assert done == list(range(1, len(done) + 1))
        assert numbers in (done, [*done, len(done) + 1])
        posted = len((cluster.outbox / f"34-{index}").read_text().splitlines())
        assert posted in (len(done), len(done) - 1)
        assert cluster.run(index).status == 76
        assert not ran.exists()


def test_group_that_is_ended_says_that_it_began_no_other_task(cluster: Cluster) -> None:
    tasks = (task(1, "true"), task(2, "sh", "-c", f"touch $HOME/started; {WAIT}"), task(3, "touch", "third"))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    job = cluster.start()
    until((cluster.home / "started").exists)
    job.send_signal(signal.SIGTERM)
    _end(job)
    key = JobKey(12, 34, 1)
    found = parse_journal(cluster.ask(journal(BASE, [key])), [key])[key]
    assert ([record.position for record in found.records], found.is_stopped) == ([1, 2], True)
    assert not (cluster.home / "third").exists()
