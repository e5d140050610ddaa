"""Measure, and print the table: `scripts/bench --help`."""

import argparse
import importlib
import sys
from pathlib import Path

from tests.bench.table import Row, render, write

NAMES = (
    "submission",
    "stat",
    "first-task",
    "cycle",
    "share",
    "matching",
    "idle",
    "commands",
    "simulate",
    "local",
    "waves",
    "slurm",
)
LONG = ("grouping", "reality", "chaos", "scheduling")  # minutes to hours: only when they are named
IN_README = (
    "submission",
    "stat",
    "first task",
    "idle",
    "local",
    "waves",
    "slurm",
    "grouping",
    "reality",
)  # what rows begin with
ROOT = Path(__file__).parents[2]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure CiGri on this machine, beside others where there are any."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure ({', '.join(NAMES)}), or {', '.join(LONG)}"
    )
    parser.add_argument("--size", type=int, help="another number of tasks, to try it")
    parser.add_argument(
        "--write", action="store_true", help="put these rows into the table in docs/figures.md, and some into README.md"
    )
    options = parser.parse_args(argv)
    if unknown := set(options.names) - {*NAMES, *LONG}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join((*NAMES, *LONG))}")
    if options.write and options.size:
        parser.error("--write puts figures into the documentation: it does not go with --size")
    rows: list[Row] = []
    for name in options.names or NAMES:
        measure = importlib.import_module(f"tests.bench.{name.replace('-', '_')}").measure
        for one in measure(options.size) if options.size else measure():
            print(f"{one.what}: {one.figure} {one.beside} {one.ratio}", file=sys.stderr, flush=True)
            rows.append(one)
    print(render(rows))
    if options.write:
        short = [one for one in rows if one.subject in IN_README]
        for file, some in ((ROOT / "docs" / "figures.md", rows), (ROOT / "README.md", short)):
            if write(some, file):
                print(f"written into {file}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
