"""What a task used is in its record, under each shell, and nothing is forked to know it."""

from dataclasses import replace
from importlib.resources import files

import pytest

from cigri.shell.results import ShellResult
from cigri.shell.words import OutputPattern, ShellWord
from cigri.wrapper import JobSpec, TaskUse, parse_end

from .cluster import Cluster, task

MEGABYTE = 10**6
WORK = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
COPY = f"head -c {3 * MEGABYTE} /dev/zero >$HOME/large; cat $HOME/large >/dev/null"
RECORD = "end 1 901 1001 1 1 0 exit 1000 2000 node7 77_1 {}."
BEFORE_TICKS = "S 1 1 1 0 -1 0 0 0 0 0 1 1"


def uses(cluster: Cluster) -> list[TaskUse]:
    found = [record.use for record in sorted(cluster.records(), key=lambda record: record.position)]
    assert all(found), "each of them says something"
    return [use for use in found if use]


@pytest.mark.parametrize("side", [1, 2])
def test_each_task_has_its_own(cluster: Cluster, side: int) -> None:
    tasks = [task(number, "sh", "-c", text) for number, text in enumerate((WORK, "true", COPY, f"({WORK}) & wait"), 1)]
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tuple(tasks), side=side)]))
    assert cluster.run().status == 0
    work, idle, copy, below = uses(cluster)
    assert work.cpu_ms
    assert below.cpu_ms
    assert idle.cpu_ms is not None
    assert min(work.cpu_ms, below.cpu_ms) >= 50, "also that of a process below it"
    assert idle.cpu_ms <= 40
    assert copy.written is not None
    assert 6 * MEGABYTE <= copy.written < 7 * MEGABYTE
    assert copy.read is not None
    assert 6 * MEGABYTE <= copy.read < 7 * MEGABYTE
    assert idle.read is not None
    assert idle.read < MEGABYTE / 10
    assert idle.written is not None
    assert idle.written < MEGABYTE / 10


def test_it_stands_behind_the_outputs(cluster: Cluster) -> None:
    bringing = replace(
        task(1, "sh", "-c", "echo result >r"), directory=ShellWord(""), outputs=(OutputPattern("r", is_name=True),)
    )
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, (bringing,))]))
    assert cluster.run().status == 0
    [record] = cluster.records()
    assert (record.files, record.bytes) == (1, 7)
    assert record.use
    assert record.use.cpu_ms is not None


def test_where_nobody_tells_it_is_not_known(cluster: Cluster) -> None:
    """A host without /proc."""
    cluster.write("true")
    job = cluster.batch / "job"
    job.write_text(job.read_text().replace("/proc/self/", "/nowhere/self/"))
    assert cluster.run().status == 0
    assert uses(cluster) == [TaskUse(None, None, None)]


@pytest.mark.parametrize(
    ("first", "second", "use"),
    [
        ("5", "7", "20"),
        ("7", "5", ""),  # a clock of the kernel that was set back
        ("", "5", ""),
        ("x", "5", ""),
        ("0", "999999999999999999", ""),
    ],
)
def test_an_amount_that_cannot_be_is_left_out_and_no_record_with_it(
    cluster: Cluster, first: str, second: str, use: str
) -> None:
    more = (files("cigri.wrapper") / "job.sh").read_text().partition("cigri_more() {")[2].partition("\n}\n")[0]
    answer = cluster.ask(f"cigri_more() {{{more}\n}}\ncigri_more '{first}' '{second}' 10; echo \"$cigri_found\"")
    assert answer == ShellResult(0, f"{use}\n", "")


@pytest.mark.parametrize(
    "stat",
    ["", "1 (sh) S", "1 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 1 1 x 1 20", "1 (sh) S 1 1 1 0 -1 0 0 0 0 0 1 1 -1 1 20"],
)
def test_a_host_that_tells_rubbish_ends_no_task(cluster: Cluster, stat: str) -> None:
    cluster.write("true")
    told = cluster.home / "told"
    told.mkdir()
    (told / "stat").write_text(f"{stat}\n")
    (told / "io").write_text("rchar: many\nwchar:\n")
    job = cluster.batch / "job"
    job.write_text(job.read_text().replace("/proc/self/", f"{told}/"))
    assert cluster.run() == ShellResult(0, "", "")
    assert uses(cluster) == [TaskUse(None, None, None)]


def test_a_task_that_did_not_run_used_nothing(cluster: Cluster) -> None:
    nowhere = replace(task(1, "true"), directory=ShellWord("/proc/nowhere"))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, (nowhere,))]))
    assert cluster.run().status == 72
    [record] = cluster.records()
    assert (record.exit_code, record.use) == (72, None)


def test_records_of_earlier_jobs_are_read() -> None:
    record = parse_end(RECORD.format(""))
    assert record
    assert record.use is None


@pytest.mark.parametrize(
    ("word", "use"),
    [
        ("use=10:20:30 ", TaskUse(10, 20, 30)),
        ("use=::30 ", TaskUse(None, None, 30)),
        ("3 7 use=1:: ", TaskUse(1, None, None)),
    ],
)
def test_what_the_word_says(word: str, use: TaskUse) -> None:
    record = parse_end(RECORD.format(word))
    assert record
    assert record.use == use


@pytest.mark.parametrize(
    "word", ["use=-1:2:3 ", "use=1:2 ", "use=1:2:3", "use=1e9:2:3 ", f"use=1:{10**15}:3 ", "use=1:2:3 3 7 "]
)
def test_a_word_that_a_task_has_made_up_is_no_record(word: str) -> None:
    assert parse_end(RECORD.format(word)) is None
