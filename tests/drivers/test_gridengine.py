"""What the Grid Engine driver asks, and refuses to ask."""

import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.drivers import BatchRequest, JobControl, ResourceRequest, load
from cigri.drivers.gridengine.output_parsing import to_name, to_tag
from cigri.errors import ConfigError

GRID_ENGINE = load("gridengine", {})
TAG = "cigri-recorded-many"
REQUEST = BatchRequest(TAG, 30, 600)


def words(script: str) -> list[str]:
    """The words of the last line of a script, which is the command."""
    return shlex.split(script.splitlines()[-1])


def pairs(asked: list[str]) -> set[tuple[str, str]]:
    return set(pairwise(asked))


def test_a_submission_asks_for_what_is_wished() -> None:
    driver = load("gridengine", {"pe": "smp", "project": "grid", "priority": -5, "disk": "tmpfs"})
    wish = ResourceRequest(cpu=4, mem=1001, others={"gpu": 2, "disk": 1, "none": 0}, tmp=1001)
    asked = words(driver.submit(BatchRequest(TAG, 7, 3661, wish, notice=45)))
    assert asked[0] == "qsub"
    assert asked[-3:] == ["/bin/sh", "$PWD/job", "$PWD"]
    limits = "h_rt=3661,s_rt=3616,h_vmem=251M,disk=1,gpu=2"
    expected = {("-t", "1-7"), ("-N", TAG), ("-r", "n"), ("-w", "e"), ("-l", limits), ("-pe", "smp"), ("smp", "4")}
    expected.add(("-l", "tmpfs=251$cigri_unit0"))
    assert pairs(asked) >= expected | {("-P", "grid"), ("-p", "-5"), ("-o", "/dev/null"), ("-m", "n")}


def test_a_walltime_shorter_than_the_notice_has_none() -> None:
    assert ("-l", "h_rt=20") in pairs(words(GRID_ENGINE.submit(BatchRequest(TAG, 1, 20, notice=30))))
    assert ("-l", "h_rt=20") in pairs(words(GRID_ENGINE.submit(BatchRequest(TAG, 1, 20, notice=0))))


def test_nodes_take_the_parallel_environment_of_their_size() -> None:
    driver = load("gridengine", {"pe": "smp", "node_pes": {"8": "mpi8", "16": "mpi16"}})
    asked = words(driver.submit(BatchRequest(TAG, 1, 60, ResourceRequest(cpu=8, nodes=3))))
    assert asked[asked.index("-pe") :][:3] == ["-pe", "mpi8", "24"]


def test_besteffort_takes_its_own_queue_and_properties() -> None:
    options = {"queue": "day.q", "besteffort_queue": "night.q", "properties": "a=1", "besteffort_properties": "b"}
    driver = load("gridengine", options)
    besteffort = pairs(words(driver.submit(REQUEST)))
    assert {("-q", "night.q"), ("-l", "b")} <= besteffort
    assert ("-l", "a=1") not in besteffort
    normal = pairs(words(driver.submit(BatchRequest(TAG, 1, 60, besteffort=False, project="mine"))))
    assert {("-q", "day.q"), ("-l", "a=1"), ("-P", "mine")} <= normal
    assert ("-q", "own.q@node7") in pairs(words(driver.submit(BatchRequest(TAG, 1, 60, queue="own.q@node7"))))


def test_what_is_preferred_comes_after_all_that_must_be_met() -> None:
    properties = "-soft -l mem_free=4G -hard -l arch=lx*,gpu -q fast.q,slow.q -soft fast=1"
    asked = words(GRID_ENGINE.submit(BatchRequest(TAG, 1, 60, properties=properties)))
    soft = asked.index("-soft")
    assert pairs(asked[:soft]) >= {("-l", "arch=lx*,gpu"), ("-q", "fast.q,slow.q")}
    assert asked[soft:] == ["-soft", "-l", "mem_free=4G", "-l", "fast=1", "/bin/sh", "$PWD/job", "$PWD"]


@pytest.mark.parametrize(
    "properties",
    ["-o /etc/passwd", "-b y", "-l", "-q", "-q -S", "-soft -q all.q", "h_rt=9", "-l a=1,slots=3", "-l -x=1", "a=$(id)"],
)
def test_no_other_option_of_qsub_is_passed_on(properties: str) -> None:
    request = BatchRequest(TAG, 1, 60, properties=properties)
    assert any(problem.startswith("properties: ") for problem in GRID_ENGINE.problems(request))
    with pytest.raises(ValueError, match="properties: "):
        GRID_ENGINE.submit(request)


@pytest.mark.parametrize(
    ("wishes", "problem"),
    [
        ({"resources": ResourceRequest(cpu=2)}, "write cpu = 1"),
        ({"resources": ResourceRequest(tmp=2)}, "leave tmp out"),
        ({"resources": ResourceRequest(cpu=2, nodes=2)}, "write nodes = 1"),
        ({"resources": ResourceRequest(others={"h_rt": 5})}, "qconf -sc"),
        ({"resources": ResourceRequest(others={"h_vmem": 5})}, "qconf -sc"),
        ({"resources": ResourceRequest(others={"-o": 5})}, "qconf -sc"),
        ({"resources": ResourceRequest(native=("/core=4",))}, "/core=4"),
        ({"types": ("deploy",)}, "deploy"),
        ({"queue": "a q"}, "name of a queue"),
        ({"queue": "-S"}, "name of a queue"),
        ({"project": "$(id)"}, "name of a project"),
        ({"properties": "it's"}, "properties: "),
    ],
)
def test_what_can_never_be_asked_for_is_a_problem(wishes: dict[str, Any], problem: str) -> None:
    [told] = GRID_ENGINE.problems(BatchRequest(TAG, 1, 60, **wishes))
    assert problem in told
    assert GRID_ENGINE.problems(REQUEST) == []


@pytest.mark.parametrize(
    "options",
    [
        {"queeu": "x"},
        {"priority": 5},
        {"priority": "-5"},
        {"queue": ""},
        {"queue": "a b"},
        {"settings": "settings.sh"},
        {"properties": "-o x"},
        {"node_pes": {"eight": "x"}},
        {"memory": "h_vmem=1"},
    ],
)
def test_wrong_options_are_named(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        load("gridengine", options)


@given(st.from_regex(r"[a-z0-9.-]+", fullmatch=True))
def test_a_tag_can_be_read_from_its_name(tag: str) -> None:
    assert to_tag(to_name(tag)) == tag
    assert not to_name(tag)[0].isdigit()


def run_script(script: str, folder: Path) -> list[list[str]]:
    """Run it with commands that write down their words; say the words of each."""
    for command in ("qdel", "qhold", "qrls", "qmod"):
        (folder / command).write_text(f'#!/bin/sh\necho {command} "$@" >>"{folder}/said"\n')
        (folder / command).chmod(0o755)
    (folder / "said").write_text("")
    script = script.replace("/usr/lib/gridengine", "/nowhere")
    subprocess.run(["sh"], input=script, text=True, env={"PATH": f"{folder}:/usr/bin:/bin"}, check=True)
    return [line.split() for line in (folder / "said").read_text().splitlines()]


@given(st.sets(st.tuples(st.integers(1, 3), st.integers(1, 30)), min_size=1))
def test_a_cancel_names_exactly_the_jobs(jobs: set[tuple[int, int]]) -> None:
    script = GRID_ENGINE.cancel([f"{array}.{index}" for array, index in jobs])
    command = next(line for line in script.splitlines() if line.startswith("qdel"))
    named = set()
    for word in shlex.split(command.removesuffix(" || status=$?"))[1:]:
        array, _, part = word.partition(".")
        first, _, last = part.partition("-")
        named |= {(int(array), index) for index in range(int(first), int(last) + 1)}
    assert named == jobs


@pytest.mark.process
def test_many_cancels_are_several_commands(tmp_path: Path) -> None:
    said = run_script(GRID_ENGINE.cancel([f"12.{index}" for index in range(1, 10_000, 2)]), tmp_path)
    assert [command[0] for command in said] == ["qdel"] * 3
    assert sum(len(command) - 1 for command in said) == 5000


@pytest.mark.process
def test_each_control_has_its_command(tmp_path: Path) -> None:
    commands = {
        JobControl.HOLD: "qhold -h u 5.1-2",
        JobControl.RELEASE: "qrls -h u 5.1-2",
        JobControl.SUSPEND: "qmod -sj 5.1-2",
        JobControl.RESUME: "qmod -usj 5.1-2",
    }
    for verb, command in commands.items():
        assert run_script(GRID_ENGINE.control(verb, ["5.2", "5.1"]), tmp_path) == [command.split()]


def test_a_queue_that_ends_jobs_instead_suspends_none() -> None:
    assert GRID_ENGINE.controls == set(JobControl)
    assert load("gridengine", {"suspends": False}).controls == {JobControl.HOLD, JobControl.RELEASE}


def run_prelude(body: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    known = {"SGE_TASK_ID": "3", "JOB_ID": "12", "HOSTNAME": "n7", "PATH": "/usr/bin:/bin", **environment}
    command = ["/bin/sh", "-c", f"{GRID_ENGINE.prelude}{body}"]
    return subprocess.run(command, capture_output=True, text=True, env=known, timeout=120)


@pytest.mark.process
def test_a_job_knows_itself_and_its_nodes(tmp_path: Path) -> None:
    body = 'cigri_nodes; echo "$CIGRI_INDEX $CIGRI_REMOTE_ID $CIGRI_NODE"'
    assert run_prelude(body).stdout == "n7\n3 12.3 n7\n"
    (tmp_path / "hosts").write_text("n7 4 all.q@n7 <NULL>\nn8 4 all.q@n8 <NULL>\n")
    assert run_prelude(body, PE_HOSTFILE=str(tmp_path / "hosts")).stdout == "n7\nn8\n3 12.3 n7\n"


@pytest.mark.process
def test_the_notice_is_heard_and_exit_statuses_with_a_meaning_are_others() -> None:
    assert run_prelude("trap 'echo warned' XCPU; kill -USR1 $$").stdout == "warned\n"
    found = {status: run_prelude(f"exit {status}").returncode for status in (0, 1, 66, 98, 99, 100, 101)}
    assert found == {0: 0, 1: 1, 66: 66, 98: 98, 99: 1, 100: 1, 101: 101}


def test_the_capacity_is_that_of_the_queues_of_our_jobs() -> None:
    driver = load("gridengine", {"queue": "day.q@@fast", "besteffort_queue": "night.q"})
    assert "'day.q night.q'" in driver.capacity("")
    assert " own.q " in driver.capacity("own.q")


@pytest.mark.parametrize(
    ("properties", "requests"),
    [
        ("", ["h=!(n1|n2.site)"]),
        ("arch=lx*,h=big*|fat*", ["arch=lx*", "h=(big*|fat*)&!(n1|n2.site)"]),
        ("-l hostname=big*  -l gpu", ["gpu", "h=(big*)&!(n1|n2.site)"]),
    ],
)
def test_sick_nodes_are_left_out_beside_the_users_own_wishes(properties: str, requests: list[str]) -> None:
    asked = words(GRID_ENGINE.submit(BatchRequest(TAG, 1, 60, properties=properties, exclude=("n1", "n2.site"))))
    assert [word for before, word in pairwise(asked) if before == "-l"][1:] == requests
    strange = BatchRequest(TAG, 1, 60, exclude=("n1)|(*",))
    assert GRID_ENGINE.problems(strange) == ["'n1)|(*' cannot be the name of a node of Grid Engine"]
