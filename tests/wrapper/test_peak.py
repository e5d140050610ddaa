"""How much memory a task was seen with is in its record, under each shell, and the watcher is no burden to anybody."""

import os
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from cigri.shell.results import ShellResult
from cigri.wrapper import JobSpec, parse_end

from .cluster import Cluster, task, until

MIB = 2**20
HELD = 300 * MIB
RECORD = "end 1 901 1001 1 1 0 exit 1000 2000 node7 77_1 {}."
HOLD = "import os, sys, time; x = b'x' * ({0} * 2**20); os.close(os.open({1!r}, os.O_CREAT))"
UNTIL = "\nwhile not os.path.exists({0!r}): time.sleep(0.05)"


def holds(cluster: Cluster, megabytes: int, name: str = "a") -> str:
    """Sh text: a process with so much memory, that makes the file NAME and goes on until there is NAME.go."""
    program = HOLD.format(megabytes, str(cluster.home / name)) + UNTIL.format(str(cluster.home / f"{name}.go"))
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


def written(cluster: Cluster) -> dict[int, int]:
    """The most bytes of each process, as the watchers have written them down."""
    found: dict[int, int] = {}
    for path in cluster.tmp.glob("*/peaks*"):
        for line in path.read_text().splitlines():
            pid, kilobytes, _ = line.split(" ", 2)
            found[int(pid)] = max(found.get(int(pid), 0), int(kilobytes) * 1024)
    return found


def let_go_when_seen(cluster: Cluster, least: int, *names: str) -> None:
    """The tasks go on once as many were seen with so much."""
    until(lambda: sum(size >= least for size in written(cluster).values()) >= len(names))
    for name in names:
        (cluster.home / f"{name}.go").touch()


def peaks(cluster: Cluster) -> list[int | None]:
    records = sorted(cluster.records(), key=lambda record: record.position)
    return [record.use.peak if record.use else None for record in records]


def ended(job: "subprocess.Popen[bytes]") -> int:
    """The exit status; what it wrote is nothing but what a shell says of processes that were killed."""
    out, _ = job.communicate(timeout=60)
    assert out == b""
    return job.returncode


def watchers(cluster: Cluster) -> list[str]:
    """Shells that still run this cluster's wrapper, and their naps."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={cluster.home}".encode() in path.read_bytes().split(b"\0"):
                found.append((path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [line for line in found if line]


@pytest.mark.parametrize(
    "below", ["{}", "{} & wait", "({}; true) & wait"], ids=["the task", "its child", "the child of its child"]
)
def test_a_large_task_is_told(cluster: Cluster, below: str) -> None:
    cluster.write(below.format(holds(cluster, 300)))
    job = cluster.start()
    let_go_when_seen(cluster, HELD, "a")
    assert ended(job) == 0
    [peak] = peaks(cluster)
    assert peak is not None
    assert HELD <= peak <= HELD * 1.1
    assert not watchers(cluster)
    assert not list(cluster.tmp.iterdir())


def test_what_processes_share_counts_once(cluster: Cluster) -> None:
    fork = HOLD.format(200, str(cluster.home / "a")) + "\nfor _ in range(3):\n    if not os.fork(): break"
    fork += UNTIL.format(str(cluster.home / "a.go"))
    cluster.write(f"{shlex.quote(sys.executable)} -c {shlex.quote(fork)}; exit 0")
    job = cluster.start()
    let_go_when_seen(cluster, 200 * MIB, "a")
    assert ended(job) == 0
    [peak] = peaks(cluster)
    assert peak is not None
    assert 200 * MIB <= peak <= 300 * MIB, "four processes with the same 200 MiB"


def test_several_at_a_time_count_together(cluster: Cluster) -> None:
    cluster.write(f"{holds(cluster, 100)} & {holds(cluster, 120, 'b')} & wait")
    job = cluster.start()
    until(lambda: max(written(cluster).values(), default=0) >= 220 * MIB)
    for name in ("a.go", "b.go"):
        (cluster.home / name).touch()
    assert ended(job) == 0
    [peak] = peaks(cluster)
    assert peak is not None
    assert 220 * MIB <= peak <= 260 * MIB


@pytest.mark.parametrize("side", [1, 2])
def test_each_task_has_its_own_peak(cluster: Cluster, side: int) -> None:
    """The second is short or small, whatever the first one took."""
    tasks = [task(1, "sh", "-c", holds(cluster, 150)), task(2, "true"), task(3, "sh", "-c", holds(cluster, 40, "b"))]
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tuple(tasks), side=side)]))
    job = cluster.start()
    let_go_when_seen(cluster, 150 * MIB, "a")
    until(lambda: (cluster.home / "b").exists())
    until(lambda: any(40 * MIB <= size < 150 * MIB for size in written(cluster).values()))
    (cluster.home / "b.go").touch()
    assert ended(job) == 0
    large, short, small = peaks(cluster)
    assert large is not None
    assert 150 * MIB <= large <= 180 * MIB
    assert short is None or short < 40 * MIB
    assert small is not None
    assert 40 * MIB <= small <= 70 * MIB
    assert not watchers(cluster)


def test_a_child_that_outlives_its_task_is_nobodys(cluster: Cluster) -> None:
    """The first leaves a large process behind, which the second has nothing to do with."""
    left = f"setsid {holds(cluster, 200)} >/dev/null 2>&1 & until [ -e a ]; do sleep 0.1; done"
    tasks = [task(1, "sh", "-c", left), task(2, "sh", "-c", holds(cluster, 40, "b"))]
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tuple(tasks))]))
    job = cluster.start()
    until(lambda: any(40 * MIB <= size < 100 * MIB for size in written(cluster).values()))
    (cluster.home / "b.go").touch()
    assert ended(job) == 0, "nor is it waited for"
    assert not (cluster.home / "a.go").exists()
    (cluster.home / "a.go").touch()
    second = peaks(cluster)[1]
    assert second is not None
    assert second < 100 * MIB


def test_short_tasks_share_one_watcher_and_are_not_known(cluster: Cluster) -> None:
    naps = cluster.home / "naps"
    environment = cluster.program("sleep", f'echo x >>{naps}; PATH=/usr/bin:/bin exec sleep "$@"')
    quick = tuple(task(number, "true") for number in range(1, 41))
    last = task(41, "sh", "-c", f"until [ -s {naps} ]; do :; done")
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, (*quick, last))]))
    assert cluster.run(environment=environment) == ShellResult(0, "", "")
    assert peaks(cluster)[:40].count(None) >= 35, "one may be met by chance"
    assert naps.read_text().count("x") <= 20, "of one watcher, however busy the host is"
    assert not watchers(cluster)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_watcher_outlives_a_job_that_is_killed(cluster: Cluster, number: signal.Signals) -> None:
    """Not even one whose wrapper alone is killed."""
    cluster.write(f"exec {holds(cluster, 10)}")
    job = cluster.start()
    until(lambda: bool(written(cluster)))
    os.kill(job.pid, number)
    assert ended(job) != 0
    (cluster.home / "a.go").touch()
    until(lambda: not watchers(cluster))


def test_a_watcher_that_somebody_kills_takes_nothing_with_it(cluster: Cluster) -> None:
    cluster.write(holds(cluster, 60))
    job = cluster.start()
    until(lambda: any(size >= 60 * MIB for size in written(cluster).values()))
    for pid in map(int, Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()):
        if pid not in written(cluster):  # the watcher looks at all but itself
            os.kill(pid, signal.SIGKILL)
    (cluster.home / "a.go").touch()
    assert ended(job) == 0
    [peak] = peaks(cluster)
    assert peak is not None
    assert peak >= 60 * MIB


@pytest.mark.parametrize(("there", "naps"), [("/proc/self/stat", 0), ("/children", 0), ("status VmRSS", 2)])
def test_where_the_kernel_tells_nothing_it_is_not_known(cluster: Cluster, there: str, naps: int) -> None:
    """The task goes on until the watcher has looked, where there is one."""
    told = cluster.home / "naps"
    told.touch()
    environment = cluster.program("sleep", f'echo x >>{told}; PATH=/usr/bin:/bin exec sleep "$@"')
    cluster.write(f"until [ $(grep -c x {told}) -ge {naps} ]; do :; done; echo done")
    job = cluster.batch / "job"
    job.write_text(job.read_text().replace(there, "/nowhere"))
    assert cluster.run(environment=environment) == ShellResult(0, "", "")
    assert cluster.out() == "done\n"
    assert peaks(cluster) == [None]


@pytest.mark.parametrize(
    ("text", "peak"),
    [
        ("7 100 .\n8 300 .\n7 200 .\n", "200"),
        ("7 100 .\n7 2", "100"),  # a disk that was full
        ("7 100 .\n7 27 300 .\n", "100"),
        ("7 -1 .\n", ""),
        ("7 0 .\n", ""),
        ("7 1e9 .\n", ""),
        ("7 1234567890123 .\n", ""),
        ("77 100 .\n", ""),
        ("", ""),
    ],
)
def test_what_the_file_of_peaks_says(cluster: Cluster, text: str, peak: str) -> None:
    (cluster.home / "peaks").write_text(text)
    memory = (files("cigri.wrapper") / "memory.sh").read_text()
    answer = cluster.ask(f'{memory}\ncigri_peaks="$HOME/peaks"\ncigri_recall 7; echo "$cigri_found"')
    assert answer == ShellResult(0, f"{peak}\n", "")


@pytest.mark.parametrize(
    ("word", "peak"),
    [
        ("use=10:20:30:712 ", 712 * 1024),
        ("use=10:20:30: ", None),
        ("use=10:20:30:0 ", None),
        ("use=:::712 ", 712 * 1024),
        ("use=10:20:30 ", None),  # of jobs that were in flight during an upgrade
    ],
)
def test_records_with_and_without_it_are_read(word: str, peak: int | None) -> None:
    record = parse_end(RECORD.format(word))
    assert record
    assert record.use
    assert record.use.peak == peak


@pytest.mark.parametrize(
    "word", ["use=1:2:3:-1 ", f"use=1:2:3:{10**12} ", "use=1:2:3:4:5 ", "use=1:2:3:1e3 ", "use=1:2:3:4"]
)
def test_a_peak_that_a_task_has_made_up_is_no_record(word: str) -> None:
    assert parse_end(RECORD.format(word)) is None
