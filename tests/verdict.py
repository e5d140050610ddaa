"""Says at the end of scripts/test what failed in all of its stages, and tries once more what only missed a deadline.

`python -m tests.verdict DIRECTORY STAGE...`: it holds STAGE.status ("exit-status seconds") and, of pytest's, STAGE.xml.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.waiting import looks

ADVISORY = {"fuzz"}
"""Stages that tell what they found and do not decide."""

CLUSTERS = {"alpha", "beta", "gamma", "delta", "several"}
TESTS_FAILED = 1  # pytest's exit status
MAX_TRIED_AGAIN = 3
CALM_LOAD = 2.0
MAX_CALMING_SECONDS = 300.0
FORGIVEN = Path(__file__).with_name("forgiven.toml")
TESTBED = Path(__file__).parents[1] / "scripts" / "testbed"
TRIED_AGAIN_SECONDS = 900


class Failure(NamedTuple):
    """A test that failed, or a stage that failed without naming one."""

    stage: str
    test: str
    message: str
    seconds: float
    load: str = ""
    is_missed_deadline: bool = False


class Stage(NamedTuple):
    name: str
    status: int
    seconds: int
    failures: list[Failure]


def read_stage(directory: Path, name: str) -> Stage:
    """A stage that left no exit status, or one that pytest has not for tests that failed, has failed by itself."""
    path = directory / f"{name}.status"
    has_ended = path.exists()
    status, seconds = map(int, path.read_text().split()) if has_ended else (-1, 0)
    failures = list(_read_failures(name, directory / f"{name}.xml"))
    if status and not (status == TESTS_FAILED and failures):
        failures.append(
            Failure(name, "", f"exit status {status}, see its output" if has_ended else "did not end", seconds)
        )
    return Stage(name, status, seconds, failures)


def _read_failures(stage: str, path: Path) -> Iterator[Failure]:
    if not path.exists():
        return
    for case in ElementTree.parse(path).iter("testcase"):
        found = next((part for part in case if part.tag in ("failure", "error")), None)
        if found is None:
            continue
        properties = [(str(part.get("name")), str(part.get("value"))) for part in case.iter("property")]
        told = dict(properties)
        yield Failure(
            stage,
            told.get("test", f"{case.get('classname')}::{case.get('name')}"),
            (found.get("message") or "").partition("\n")[0],
            float(case.get("time") or 0),
            told.get("load", ""),
            {value for name, value in properties if name == "missed_deadline"} == {"True"},
        )


def choose_second_tries(failures: Sequence[Failure], forgiven: Mapping[str, object]) -> list[Failure]:
    """All failures if each of them, of few, missed a deadline and was never forgiven before; else none."""
    may_pass = all(failure.is_missed_deadline and failure.test not in forgiven for failure in failures)
    return list(failures) if may_pass and len(failures) <= MAX_TRIED_AGAIN else []


def is_green(failures: Sequence[Failure], passed_again: Sequence[str]) -> bool:
    return all(failure.test in passed_again for failure in failures)


def try_again(failures: Sequence[Failure]) -> list[str]:
    """The tests that pass alone, on a fresh testbed, once the load has fallen."""
    for left in looks(MAX_CALMING_SECONDS, longest=5.0):
        if os.getloadavg()[0] < CALM_LOAD or left <= 0:
            break
    if any(failure.stage in CLUSTERS for failure in failures):
        subprocess.run([TESTBED, "down", "--purge"], check=True)
        subprocess.run([TESTBED, "up"], check=True)
    return [failure.test for failure in failures if _passes(failure.test)]


def _passes(test: str) -> bool:
    command = [sys.executable, "-P", "-m", "pytest", "--hypothesis-profile", "repeatable", test]
    try:
        return subprocess.run(command, check=False, timeout=TRIED_AGAIN_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def render(stages: Sequence[Stage], passed_again: Sequence[str], second_tries: Sequence[Failure]) -> Iterator[str]:
    yield "Stages: " + ", ".join(f"{stage.name} {stage.seconds} s" for stage in stages)
    again = {failure.test: "failed again" for failure in second_tries} | dict.fromkeys(
        passed_again, "passed again alone"
    )
    for stage in stages:
        for failure in stage.failures:
            load = f", load {failure.load}" if failure.load else ""
            outcome = f" -> {again[failure.test]}" if failure.test in again else ""
            advisory = ", does not decide" if stage.name in ADVISORY else ""
            yield f"{stage.name}{advisory}: {failure.test} ({failure.seconds:.0f} s{load}){outcome}"
            yield f"    {failure.message[:200]}"


def judge(directory: Path, names: Sequence[str], retry: Callable[[Sequence[Failure]], list[str]] = try_again) -> int:
    """Print the verdict; return the exit status: 0 if nothing failed, or what failed passed when it was tried again."""
    stages = [read_stage(directory, name) for name in names]
    failures = [failure for stage in stages if stage.name not in ADVISORY for failure in stage.failures]
    forgiven = tomllib.loads(FORGIVEN.read_text())
    second_tries = choose_second_tries(failures, forgiven)
    passed_again = retry(second_tries) if second_tries else []
    print("\n".join(render(stages, passed_again, second_tries)))
    for test in passed_again:
        print(f'Forgiven this once; add it to tests/forgiven.toml: ["{test}"]')
    for test in forgiven:
        print(f"Forgiven before: {test}")
    if not is_green(failures, passed_again):
        print(f"{len(failures) - len(passed_again)} failures. CiGri is not as it should be.")
        return 1
    print("All is as it should be.")
    return 0


if __name__ == "__main__":
    sys.exit(judge(Path(sys.argv[1]), sys.argv[2:]))
