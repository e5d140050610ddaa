"""scripts/test tells every failure, tries a missed deadline once more, and ends what a killed run has left."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from modules.operator.detached_process import start_of
from tests.grid import TESTBED, Grid, slurm_site
from tests.verdict import MAX_TRIED_AGAIN, Failure, choose_second_tries, judge, read_stage
from tests.waiting import MissedDeadline, looks

TEST_OF_GATE = """
import subprocess
import pytest
from tests.waiting import looks

def test_waits():
    for _ in looks(0.01, what="the moon is green"):
        pass

def test_compares():
    assert 1 == 2

def test_hangs():
    raise subprocess.TimeoutExpired("sleep", 1)

@pytest.fixture
def broken_afterwards():
    yield
    raise OSError("not removed")

def test_waits_and_breaks(broken_afterwards):
    for _ in looks(0.01):
        pass

def test_passes():
    pass
"""


def write(directory: Path, name: str, status: int, cases: str = "") -> None:
    (directory / f"{name}.status").write_text(f"{status} 12")
    if cases:
        (directory / f"{name}.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")


def case(test: str, *, missed: bool) -> str:
    told = f'<property name="test" value="{test}"/><property name="missed_deadline" value="{missed}"/>'
    return f'<testcase name="t" time="3"><properties>{told}</properties><failure message="boom&#10;more"/></testcase>'


def nobody_tries_again(_: Sequence[Failure]) -> list[str]:
    raise AssertionError("nothing may be tried again")


def test_each_stage_that_failed_is_in_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "lint", 1)
    write(tmp_path, "main", 1, case("tests/test_a.py::test_b", missed=False))
    write(tmp_path, "alone", 0, '<testcase name="fine"/>')
    write(tmp_path, "delta", 3, case("tests/test_c.py::test_d", missed=True))
    assert judge(tmp_path, ["lint", "main", "alone", "delta", "several"], nobody_tries_again) == 1
    told = capsys.readouterr().out
    assert "lint:  (12 s)\n    exit status 1, see its output" in told
    assert "main: tests/test_a.py::test_b (3 s)\n    boom\n" in told
    assert "delta: tests/test_c.py::test_d (3 s)" in told
    assert "delta:  (12 s)\n    exit status 3" in told, "an internal error of pytest is no missed deadline"
    assert "several:  (0 s)\n    did not end" in told
    assert "alone:" not in told


def test_a_stage_that_failed_at_once_has_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "testbed.status").write_text("1 0\n")
    assert judge(tmp_path, ["testbed"], nobody_tries_again) == 1
    assert "testbed:  (0 s)\n    exit status 1, see its output" in capsys.readouterr().out


def test_fuzzing_tells_and_does_not_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "fuzz", 1, case("tests/fuzz/test_fuzz.py::test_b", missed=False))
    assert judge(tmp_path, ["fuzz"], nobody_tries_again) == 0
    assert "fuzz, does not decide: tests/fuzz/test_fuzz.py::test_b" in capsys.readouterr().out


@pytest.mark.parametrize(("passes", "status", "word"), [(True, 0, "passed again"), (False, 1, "failed again")])
def test_a_missed_deadline_is_tried_once_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], passes: bool, status: int, word: str
) -> None:
    write(tmp_path, "alpha", 1, case("tests/test_a.py::test_b", missed=True))
    tried: list[str] = []

    def retry(failures: Sequence[Failure]) -> list[str]:
        tried.extend(failure.test for failure in failures)
        return tried if passes else []

    assert judge(tmp_path, ["alpha"], retry) == status
    assert tried == ["tests/test_a.py::test_b"]
    assert f"tests/test_a.py::test_b (3 s) -> {word}" in capsys.readouterr().out


def test_what_is_not_tried_once_more() -> None:
    missed = [Failure("main", f"test_{n}", "", 1.0, is_missed_deadline=True) for n in range(MAX_TRIED_AGAIN + 1)]
    wrong = Failure("main", "test_x", "", 1.0)
    assert choose_second_tries(missed[1:], {}) == missed[1:]
    assert choose_second_tries(missed, {}) == [], "too many"
    assert choose_second_tries([*missed[2:], wrong], {}) == [], "one of them is wrong whatever the others do"
    assert choose_second_tries(missed[1:], {"test_1": {}}) == [], "one has been forgiven before"


def test_reports_tell_which_tests_missed_a_deadline(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.reports import pytest_runtest_makereport")
    pytester.makepyfile(test_it=TEST_OF_GATE)
    pytester.runpytest_inprocess("--junitxml=main.xml", "-p", "no:randomly")
    write(pytester.path, "main", 1)
    failures = read_stage(pytester.path, "main").failures
    assert {failure.test: failure.is_missed_deadline for failure in failures} == {
        "test_it.py::test_waits": True,
        "test_it.py::test_compares": False,
        "test_it.py::test_hangs": True,
        "test_it.py::test_waits_and_breaks": False,
    }
    assert all(failure.load.isdigit() for failure in failures)
    assert any("the moon is green" in failure.message for failure in failures)


RUNS = Path(__file__).with_name("runs.sh")
SERVER = 'trap "" TERM; while :; do sleep 0.2; done'  # it has to be killed


def start_server(run: Path, *, as_argument: bool) -> subprocess.Popen[bytes]:
    """A daemon of a test, which knows the run's directory from its arguments or from its environment."""
    argv = ["sh", "-c", SERVER, *([f"{run}/spool"] if as_argument else [])]
    environment = {"PATH": os.environ["PATH"], **({} if as_argument else {"HOME": f"{run}/home"})}
    return subprocess.Popen(argv, env=environment, start_new_session=True)


def call(command: str, *words: Path) -> None:
    subprocess.run(
        ["sh", "-euc", f'. {RUNS}; {command} "$@"', "sh", *words], check=True, env={"PATH": os.environ["PATH"]}
    )


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces")
def test_clusters_that_a_killed_run_has_left_are_ended(tmp_path: Path) -> None:
    run = tmp_path / "cigri-test-dead"
    run.mkdir()
    (run / "owner").write_text(f"{os.getpid()} 1\n")
    holder = subprocess.Popen([TESTBED, "apart", run / "testbed", "sleep", "infinity"])
    for _ in looks():
        if (run / "testbed" / "ready").exists():
            break
    (run / "namespace").write_text(f"{holder.pid} {start_of(holder.pid).partition(':')[2]}\n")
    enter = ["nsenter", "--target", str(holder.pid), "--net", "--mount", "--"]
    daemon = subprocess.Popen([*enter, "env", "-i", "sh", "-c", SERVER], start_new_session=True)
    seen = subprocess.run([*enter, "ip", "-brief", "address"], check=True, capture_output=True, text=True).stdout
    assert [line.split()[0].partition("@")[0] for line in seen.splitlines()] == ["lo", "apart1", "apart0"]
    call("end_dead_runs", tmp_path)
    assert (daemon.wait(120), holder.wait(120), run.exists()) == (-9, -9, False)


@pytest.mark.process
def test_what_a_killed_run_has_left_is_ended_and_a_living_one_is_left_alone(tmp_path: Path) -> None:
    dead, living = tmp_path / "cigri-test-dead", tmp_path / "cigri-test-living"
    for run in (dead, living):
        run.mkdir()
    began = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(") ")[2].split()[19]
    (dead / "owner").write_text(f"{os.getpid()} {int(began) + 1}\n")  # a pid that was given anew
    (living / "owner").write_text(f"{os.getpid()} {began}\n")
    left = [start_server(dead, as_argument=True), start_server(dead, as_argument=False)]
    other = start_server(living, as_argument=True)
    try:
        call("end_dead_runs", tmp_path)
        assert [process.wait(120) for process in left] == [-9, -9]
        assert (dead.exists(), living.exists(), other.poll()) == (False, True, None)
        call("end_run", living)
        assert other.wait(120) == -9
    finally:
        for process in (*left, other):
            process.kill()


def test_a_missed_deadline_tells_how_the_grid_stands(local: Grid) -> None:
    local.submit(["a"], "sleep 30")
    local.cycle()
    with pytest.raises(MissedDeadline) as missed:
        local.run_until(lambda: False, 0.1)
    told = str(missed.value)
    assert "not within 0.1 s: tasks {'assigned': 1}" in told
    for part in (
        "'what': 'campaign'",
        "'what': 'jobs', 'name': 'here'",
        "'what': 'cluster'",
        "enabled",
        "load average",
    ):
        assert part in told


def test_a_cluster_that_a_test_did_not_ask_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test on alpha ran on beta as well, and took places of the limit that a test on beta counted beside it."""
    monkeypatch.setattr("tests.grid.USED_CLUSTERS", {"alpha"})
    for site in (slurm_site("beta"), replace(slurm_site("beta"), name="also-beta")):
        with pytest.raises(AssertionError, match="ask for the fixture beta_up"):
            site.sh("true")
    replace(slurm_site("alpha"), name="also-alpha").require_use()
