"""What tasks are to bring lies beside their standard output when they are done, whole, under each shell."""

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from cigri.identity.file_sharing import FileSharing
from cigri.shell.words import OutputPattern, ShellWord
from cigri.wrapper import JobSpec, TaskSpec
from cigri.wrapper.batch import wrapper_text
from cigri.wrapper.records import TaskEndCause, parse_end
from tests.groups import access, other_group

from .cluster import Cluster, small_disk, until

OWN = ShellWord("")
TOUCH = (ShellWord("touch"), ShellWord("made"))
RESULT, LOGS = OutputPattern("result.h5", is_name=True), OutputPattern("log/*.txt", is_name=False)
WRITES = "mkdir log; printf 12345 >result.h5; printf 1 >log/a.txt; printf 2 >log/b.txt; : >log/c.dat; : >other"


def write(
    cluster: Cluster,
    *commands: str,
    wanted: tuple[OutputPattern, ...] = (RESULT, LOGS),
    directory: ShellWord = OWN,
    always: bool = False,
    side: int = 1,
    keeps: bool = False,
) -> None:
    """A job whose tasks run these commands."""
    tasks = tuple(
        TaskSpec(
            1000 + n, n, 1, (ShellWord("sh"), ShellWord("-c"), ShellWord(text)), directory=directory, outputs=wanted
        )
        for n, text in enumerate(commands, 1)
    )
    jobs = [JobSpec(1, 901, tasks, side=side)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, collects_always=always, keep_tmp=keeps))


def brought(cluster: Cluster, position: int = 1) -> dict[str, str]:
    """What lies there; nothing else than what is whole ever does."""
    assert not list(cluster.batch.glob(".*"))
    place = cluster.batch / f"1.{position}.d"
    return {str(path.relative_to(place)): path.read_text() for path in place.rglob("*") if path.is_file()}


def sums(cluster: Cluster) -> list[tuple[int, int, str, int]]:
    return [(record.position, record.exit_code, record.cause, record.files) for record in cluster.records()]


def test_what_matches_is_moved_and_told_in_the_record(cluster: Cluster) -> None:
    write(cluster, WRITES, f"test ! -e other && {WRITES}")
    assert cluster.run().status == 0
    for position in (1, 2):
        assert brought(cluster, position) == {"result.h5": "12345", "log/a.txt": "1", "log/b.txt": "2"}
    assert [(record.files, record.bytes) for record in cluster.records()] == [(3, 7)] * 2
    assert cluster.ends() == [(0, "exit")] * 2
    assert not list(cluster.batch.glob("*.work"))
    assert (cluster.err(1, 1), cluster.err(1, 2)) == ("", "")


def test_tasks_side_by_side_do_not_mix(cluster: Cluster) -> None:
    write(cluster, *[f"{WRITES}; printf {n} >result.h5" for n in range(12)], side=4)
    assert cluster.run().status == 0
    numbers = {record.position: record.task_id - 1001 for record in cluster.records()}
    assert len(numbers) == 12
    assert all(brought(cluster, at)["result.h5"] == str(number) for at, number in numbers.items())


def test_a_directory_that_is_made_is_shared_and_one_that_was_there_is_not(cluster: Cluster) -> None:
    group = other_group()
    (cluster.home / "there").mkdir(0o700)
    jobs = [JobSpec(1, 901, (TaskSpec(1000, 1, 1, TOUCH, directory=ShellWord("/there/deep//runs/", at_home=True)),))]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, sharing=FileSharing(0o640, group.gr_name)))
    assert cluster.run().status == 0
    there = cluster.home / "there"
    assert access(there)[0] == 0o700
    for made in (there / "deep", there / "deep" / "runs"):
        assert access(made) == (0o2750, group.gr_gid)
    assert access(there / "deep" / "runs" / "made")[1] == group.gr_gid, "what is made in it is the group's"
    assert access(cluster.batch)[0] == 0o700
    assert cluster.err() == ""


def test_a_group_that_a_cluster_does_not_know_is_told_and_the_task_runs(cluster: Cluster) -> None:
    jobs = [JobSpec(1, 901, (TaskSpec(1000, 1, 1, TOUCH, directory=ShellWord("/runs", at_home=True)),))]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, sharing=FileSharing(0o640, "nobody-knows-it")))
    assert cluster.run().status == 0
    assert access(cluster.home / "runs")[0] == 0o700
    said = f"cigri: outputs_mode: {cluster.home}/runs on node7 stays yours alone: "
    assert cluster.err().startswith(said)
    assert "nobody-knows-it" in cluster.err()


def test_from_a_directory_that_is_named_the_rest_stays(cluster: Cluster) -> None:
    write(cluster, WRITES, directory=ShellWord("/runs", at_home=True))
    assert cluster.run().status == 0
    assert set(brought(cluster)) == {"result.h5", "log/a.txt", "log/b.txt"}
    left = {path.name for path in (cluster.home / "runs").rglob("*")}
    assert left == {"log", "c.dat", "other"}


def test_a_name_that_is_not_there_is_a_failure_that_says_which(cluster: Cluster) -> None:
    write(cluster, "mkdir log; : >log/a.txt", WRITES)
    assert cluster.run().status == 71
    assert sums(cluster) == [(1, 71, TaskEndCause.MISSING, 0), (2, 0, TaskEndCause.EXIT, 3)]
    place = cluster.batch / "1.1.work"
    assert cluster.err() == f"cigri: the output result.h5 is not in {place} on node7\n"
    assert not (cluster.batch / "1.1.d").exists()


def test_a_pattern_may_match_nothing(cluster: Cluster) -> None:
    write(cluster, "true", wanted=(LOGS,))
    assert cluster.run().status == 0
    assert sums(cluster) == [(1, 0, TaskEndCause.EXIT, 0)]
    assert not (cluster.batch / "1.1.d").exists()


@pytest.mark.parametrize("always", [False, True])
def test_outputs_of_a_failure_come_where_that_is_wanted(cluster: Cluster, always: bool) -> None:
    write(cluster, f"{WRITES}; rm result.h5; exit 7", "exit 66", always=always)
    assert cluster.run().status == 7
    assert sums(cluster) == [(1, 7, TaskEndCause.EXIT, 2 * always), (2, 66, TaskEndCause.EXIT, 0)]
    assert set(brought(cluster)) == ({"log/a.txt", "log/b.txt"} if always else set())
    assert cluster.err() == ""


def test_a_name_that_is_missing_leaves_the_others_where_all_are_wanted(cluster: Cluster) -> None:
    write(cluster, f"{WRITES}; rm result.h5", always=True)
    assert cluster.run().status == 71
    assert sums(cluster) == [(1, 71, TaskEndCause.MISSING, 2)]
    assert set(brought(cluster)) == {"log/a.txt", "log/b.txt"}


ODD_NAMES = ["a b", "-n", "--", "it's", 'a"b', "$(touch x)", "é", "a\nb", "*", "[a]", "a\\b", "~", "#", "!"]


def test_names_are_only_names(cluster: Cluster) -> None:
    for name in ODD_NAMES:
        (cluster.home / "from" / "in").mkdir(parents=True, exist_ok=True)
        (cluster.home / "from" / "in" / name).write_text(name)
        (cluster.home / "from" / f"by {name}").write_text(name)
    named = tuple(OutputPattern(f"by {name}", is_name=True) for name in ODD_NAMES)
    write(
        cluster,
        "true",
        wanted=(*named, OutputPattern("in/*", is_name=False)),
        directory=ShellWord("/from", at_home=True),
    )
    assert cluster.run().status == 0
    assert brought(cluster) == {f"in/{n}": n for n in ODD_NAMES} | {f"by {n}": n for n in ODD_NAMES}
    assert [(record.files, record.exit_code) for record in cluster.records()] == [(2 * len(ODD_NAMES), 0)]


def test_a_directory_is_taken_with_what_is_in_it(cluster: Cluster) -> None:
    file = OutputPattern("log/a.txt", is_name=True)
    names = (OutputPattern("log", is_name=True), OutputPattern("lo*", is_name=False), LOGS, file)
    write(cluster, WRITES, wanted=names)
    assert cluster.run().status == 0
    assert set(brought(cluster)) == {"log/a.txt", "log/b.txt", "log/c.dat"}


LEADS_OUT = ["../1.1.out", "/etc/hostname", "log/../../1.1.out", "", ".", "log/.", "log//a.txt"]


@pytest.mark.parametrize("name", LEADS_OUT)
def test_what_leads_out_is_not_there(dash: Cluster, name: str) -> None:
    """Submission refuses it, but what fills in a name is seen only here."""
    write(dash, WRITES, wanted=(OutputPattern(name, is_name=True),))
    assert dash.run().status == 71
    assert sums(dash) == [(1, 71, TaskEndCause.MISSING, 0)]


@pytest.mark.parametrize("pattern", ["../*", ".*", "*/../*", "/etc/host*"])
def test_a_pattern_does_not_lead_out(cluster: Cluster, pattern: str) -> None:
    write(cluster, "mkdir log; : >.hidden; : >log/a", wanted=(OutputPattern(pattern, is_name=False),))
    assert cluster.run().status == 0
    assert set(brought(cluster)) == ({".hidden"} if pattern == ".*" else set())


def test_links_are_left_out(cluster: Cluster) -> None:
    (cluster.home / "secret").mkdir()
    (cluster.home / "secret" / "a.txt").write_text("mine")
    links = 'ln -s "$HOME/secret" log; ln -s "$HOME/secret/a.txt" link.txt'
    write(cluster, f"{links}; mkfifo pipe.txt; : >a.txt", wanted=(OutputPattern("*.txt", is_name=False), LOGS))
    assert cluster.run().status == 0
    assert brought(cluster) == {"a.txt": ""}
    assert (cluster.home / "secret" / "a.txt").read_text() == "mine"


def test_a_link_by_its_name_is_not_there(dash: Cluster) -> None:
    write(dash, "ln -s /etc/hostname result.h5", wanted=(RESULT,))
    assert dash.run().status == 71


def test_its_own_directory_stays_where_its_user_wants_to_look_at_it(dash: Cluster) -> None:
    write(dash, WRITES, keeps=True)
    assert dash.run().status == 0
    assert {path.name for path in (dash.batch / "1.1.work").iterdir()} == {"log", "other"}


@pytest.fixture
def full(cluster: Cluster) -> Iterator[Path]:
    """The grid's directory is small, the task's is not."""
    with small_disk(cluster.base, 256) as place:
        yield place


@pytest.mark.usefixtures("full")
def test_a_full_disk_is_told_as_such_and_leaves_nothing(cluster: Cluster) -> None:
    large = "head -c 90000 /dev/zero >result.h5; mkdir log; head -c 200000 /dev/zero >log/a.txt"
    write(cluster, large, "true", directory=ShellWord("/runs", at_home=True), wanted=(RESULT, LOGS))
    assert cluster.run().status == 73
    assert sums(cluster)[0] == (1, 73, TaskEndCause.DISK, 0)
    assert "cannot be kept: " in cluster.err()
    assert "No space left on device" in cluster.err()
    assert brought(cluster) == {}
    assert (cluster.home / "runs" / "log" / "a.txt").stat().st_size == 200000


@pytest.mark.usefixtures("full")
def test_across_filesystems_they_are_moved_too(cluster: Cluster) -> None:
    write(cluster, WRITES, directory=ShellWord("/runs", at_home=True))
    assert cluster.run().status == 0
    assert brought(cluster) == {"result.h5": "12345", "log/a.txt": "1", "log/b.txt": "2"}
    assert not (cluster.home / "runs" / "result.h5").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1])
def test_a_task_that_has_ended_is_done_though_its_job_is_ended_while_they_are_moved(
    cluster: Cluster, number: signal.Signals
) -> None:
    waits = 'touch "$HOME/moving"; until [ -e "$HOME/on" ]; do sleep 0.02; done'
    slow = cluster.program("mv", f'{waits}; exec /bin/mv "$@"')
    write(cluster, WRITES, "touch $HOME/second")
    job = cluster.start(environment=slow)
    until((cluster.home / "moving").exists)
    subprocess.run(["pkill", f"-{number.value}", "-s", str(job.pid)], check=True)  # as batch systems do: each process
    (cluster.home / "on").touch()
    job.communicate(timeout=120)
    assert sums(cluster)[0] == (1, 0, TaskEndCause.EXIT, 3)
    assert set(brought(cluster)) == {"result.h5", "log/a.txt", "log/b.txt"}
    assert (cluster.home / "second").exists() == (number is signal.SIGUSR1)


def test_a_mover_that_is_killed_leaves_no_success(cluster: Cluster) -> None:
    deadly = cluster.program("mv", "kill -KILL $PPID")
    write(cluster, WRITES)
    cluster.start(environment=deadly).communicate(timeout=120)
    assert sums(cluster) == [(1, 73, TaskEndCause.UNMOVED, 0)]
    assert not (cluster.batch / "1.1.d").exists()


def test_a_wrapper_without_outputs_knows_nothing_of_them() -> None:
    part = files("cigri.wrapper").joinpath("outputs.sh").read_text()
    able = wrapper_text("features", has_outputs=True)
    assert able.count(part) == 1
    assert able.count("    cigri_record_outputs\n") == 1
    assert wrapper_text("features") == able.replace(part, "").replace("cigri_record_outputs", "cigri_record")


def test_records_of_both_kinds_are_read() -> None:
    common = "901 1001 1 1 0 exit 1700000000000 5 n r"
    first, second = parse_end(f"end 1 {common} ."), parse_end(f"end 2 {common} 3 70 .")
    assert first
    assert second == first._replace(files=3, bytes=70)
