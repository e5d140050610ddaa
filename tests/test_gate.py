"""The verdict of scripts/test: every failure is told, and only a deadline that was missed is tried once more."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.verdict import MAX_TRIED_AGAIN, Failure, choose_second_tries, judge, read_stage

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
