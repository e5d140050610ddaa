"""Put each fault into a copy of the tree, and expect that its tests find it: `scripts/mutants --help`."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants import LIST, ROOT, SEEDS_LIST, Fault, list_faults
from tests.seeds.test_sentences import list_seed_tests

CODE = ("cigri", "modules", "migrations", "etc", "scripts", "tests", "docs")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md")
FAILED = 1  # pytest ran, and tests failed; every other status says nothing of the fault


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description="Try whether the tests find small faults.")
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only faults whose rule or file has one of these words"
    )
    parser.add_argument(
        "--seeds", action="store_true", help="break what the seeds want; each of the tests named with a fault must fail"
    )
    options = parser.parse_args(argv)
    listed = list_faults(SEEDS_LIST if options.seeds else LIST)
    words = options.words
    faults = [one for one in listed if not words or any(word in one.rule + one.file for word in words)]
    missed = [one for one in faults if not _is_found(one, by_each=options.seeds)]
    print(f"{len(faults) - len(missed)} of {len(faults)} faults were found")
    if options.seeds:
        named, tried = list_seed_tests(), {test for one in faults for test in one.tests}
        print(f"of {len(named)} tests that sentences of the seeds name {len(named & tried)} were tried")
    return 1 if missed or not faults else 0


def _is_found(fault: Fault, *, by_each: bool) -> bool:
    """By some of its tests, or by each of them."""
    with tempfile.TemporaryDirectory(prefix="cigri-mutant-") as place:
        tree = Path(place)
        _copy(tree)
        broken = tree / fault.file
        broken.write_text(broken.read_text().replace(fault.old, fault.new))
        started = time.monotonic()
        report = tree / "report.xml"
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not cluster"]
        command += [f"--junitxml={report}" if by_each else "-x", *fault.tests]
        environment = {**os.environ, "PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        blind = [test for test in fault.tests if by_each and test not in _failed(report)]
    verdict = {FAILED: "found", 0: "NOT FOUND"}.get(done.returncode, f"pytest could not run: {done.stdout[-500:]}")
    if done.returncode == FAILED and blind:
        verdict = f"NOT FOUND by {', '.join(blind)}"
    print(f"{verdict} in {time.monotonic() - started:.0f} s: {fault.rule} ({fault.file})", flush=True)
    return done.returncode == FAILED and not blind


def _failed(report: Path) -> set[str]:
    """The tests that failed, as FILE::NAME, with any of their parameters; none where pytest could not run."""
    if not report.exists():
        return set()
    cases = ElementTree.parse(report).iter("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    return {
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}" for case in failed
    }


def _copy(tree: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in CODE:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
