"""Put each fault into a copy of the tree, and expect that its tests find it: `scripts/mutants --help`.

A daemon of the local cluster that a grid starts is that of .venv, whatever the copy: faults in cigri/localbatch are
found by tests that start it themselves.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants import LISTS, ROOT, SEEDS_LISTS, Fault, list_faults
from tests.seeds.test_sentences import list_seed_tests

CODE = ("cigri", "modules", "migrations", "etc", "scripts", "tests", "docs")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md")
FAILED = 1  # pytest ran, and tests failed; every other status says nothing of the fault
AT_ONCE = 2  # copies, each with one pytest; one alone has the real clusters
NO_ANSWER = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError")
"""How a test ends where the fault is no program: that does not count as found."""
REASON = 200  # characters


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description="Try whether the tests find small faults.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only faults with it in rule, file, tests, clusters")
    parser.add_argument(
        "--seeds", action="store_true", help="break what the seeds want; each of the tests named with a fault must fail"
    )
    parser.add_argument(
        "--clusters", action="store_true", help="only those that tests on real clusters find (scripts/testbed, as root)"
    )
    options = parser.parse_args(argv)
    listed = list_faults(SEEDS_LISTS if options.seeds else LISTS)
    faults = [one for one in listed if bool(one.clusters) is options.clusters and _is_meant(one, options.words)]
    found = _try_all(faults, 1 if options.clusters else AT_ONCE, by_each=options.seeds)
    print(f"{sum(found)} of {len(faults)} faults were found")
    if options.seeds:
        named, tried = list_seed_tests(), {test for one in faults for test in one.tests}
        print(f"of {len(named)} tests that sentences of the seeds name {len(named & tried)} were tried")
    return 0 if faults and all(found) else 1


def _is_meant(fault: Fault, words: Sequence[str]) -> bool:
    return not words or any(word in " ".join([fault.rule, fault.file, fault.clusters, *fault.tests]) for word in words)


def _try_all(faults: Sequence[Fault], at_once: int, *, by_each: bool) -> list[bool]:
    """In copies that are made once: what Python has compiled of a file stays good until a fault is put into it."""
    trees = queue.SimpleQueue[Path]()
    with tempfile.TemporaryDirectory(prefix="cigri-mutants-") as place, ThreadPoolExecutor(at_once) as pool:
        for number in range(min(at_once, len(faults))):
            trees.put(_copy(Path(place) / str(number)))
        return list(pool.map(partial(_is_found, trees, by_each=by_each), faults))


def _is_found(trees: queue.SimpleQueue[Path], fault: Fault, *, by_each: bool) -> bool:
    """By some of its tests, or by each of them."""
    tree, started = trees.get(), time.monotonic()
    file, report = tree / fault.file, tree / "report.xml"
    whole = file.read_text()
    _rewrite(file, whole.replace(fault.old, fault.new))
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    command += ["-m", f"cluster and {fault.clusters}" if fault.clusters else "not cluster"]
    command += [f"--junitxml={report}", "-o", "junit_family=xunit1", *([] if by_each else ["-x"])]
    command += fault.run or fault.tests
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    failed = find_failed(report)
    report.unlink(missing_ok=True)
    _rewrite(file, whole)
    trees.put(tree)
    blind = [test for test in fault.tests if by_each and test not in failed]
    reasons = {f"    {reason}\n" for reason in failed.values()}
    is_found = done.returncode == FAILED and bool(failed) and not blind
    verdict = "found" if is_found else f"NOT FOUND by {', '.join(blind or fault.tests)}"
    if done.returncode not in (0, FAILED):
        verdict = f"pytest could not run: {done.stdout[-500:]}"
    told = f"{verdict} in {time.monotonic() - started:.0f} s: {fault.rule} ({fault.file})"
    print(f"{told}\n{''.join(sorted(reasons))}", end="", flush=True)
    return is_found


def _rewrite(file: Path, text: str) -> None:
    """Python compares times by the second: what it has compiled of the file before goes."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink(missing_ok=True)
    file.write_text(text)


def find_failed(report: Path) -> dict[str, str]:
    """The tests that failed, as FILE::NAME, with any of their parameters, and why; none where pytest could not run.

    FILE is the one that the test is written in; one that is made of a class elsewhere has the name of its class.
    """
    if not report.exists():
        return {}
    failed = dict[str, str]()
    for case in ElementTree.parse(report).iter("testcase"):
        failure = case.find("failure")
        reason = failure.get("message", "") if failure is not None else ""
        if failure is not None and not reason.startswith(NO_ANSWER):
            module, _, name = case.get("classname", "").rpartition(".")
            of_class = f"{module.replace('.', '/')}.py::{name}"
            of_function = f"{case.get('file')}::{case.get('name', '').partition('[')[0]}"
            failed |= dict.fromkeys((of_class, of_function), reason.partition("\n")[0][:REASON])
    return failed


def _copy(tree: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    tree.mkdir()
    for name in CODE:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    return tree


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
