"""Put each fault into a copy of the tree, and expect that its tests find it: `scripts/mutants --help`."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants import ROOT, Fault, list_faults

CODE = ("cigri", "modules", "migrations", "etc", "scripts", "tests", "docs")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md")
FAILED = 1  # pytest ran, and tests failed; every other status says nothing of the fault


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description="Try whether the tests find small faults.")
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only faults whose rule or file has one of these words"
    )
    words = parser.parse_args(argv).words
    faults = [one for one in list_faults() if not words or any(word in one.rule + one.file for word in words)]
    missed = [one for one in faults if not _is_found(one)]
    print(f"{len(faults) - len(missed)} of {len(faults)} faults were found")
    return 1 if missed or not faults else 0


def _is_found(fault: Fault) -> bool:
    with tempfile.TemporaryDirectory(prefix="cigri-mutant-") as place:
        tree = Path(place)
        _copy(tree)
        broken = tree / fault.file
        broken.write_text(broken.read_text().replace(fault.old, fault.new))
        started = time.monotonic()
        command = [
            sys.executable,
            "-P",
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "not cluster",
            *fault.tests,
        ]
        environment = {**os.environ, "PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    verdict = {FAILED: "found", 0: "NOT FOUND"}.get(done.returncode, f"pytest could not run: {done.stdout[-500:]}")
    print(f"{verdict} in {time.monotonic() - started:.0f} s: {fault.rule} ({fault.file})", flush=True)
    return done.returncode == FAILED


def _copy(tree: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in CODE:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
