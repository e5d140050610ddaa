"""Measure, and print the table: `scripts/bench --help`."""

import argparse
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.bench.table import Row, render, write, write_short

NAMES = (
    "submission",
    "stat",
    "first-task",
    "cycle",
    "share",
    "matching",
    "idle",
    "service",
    "page",
    "commands",
    "simulate",
    "local",
    "waves",
    "staging",
    "slurm",
    "books",
)
SMALL: Mapping[str, Mapping[str, int]] = {
    "submission": {"size": 10_000},
    "stat": {"size": 10_000, "runs": 1},
    "first-task": {"runs": 1},
    "cycle": {"size": 10_000, "runs": 1},
    "share": {"size": 10, "runs": 1},
    "matching": {"size": 900, "pools": 5, "runs": 1},
    "idle": {"size": 1, "seconds": 1},
    "service": {"size": 1000, "streams": 20, "seconds": 1, "rounds": 1, "runs": 1},
    "page": {"size": 1000, "seconds": 1},
    "commands": {"size": 10},
    "simulate": {"size": 20},
    "local": {"size": 100},
    "waves": {"size": 2, "seconds": 1},
    "staging": {"size": 50, "large": 5, "far": 50, "rounds": 1},
    "slurm": {"size": 20, "rounds": 1},
    "books": {"size": 2, "seconds": 3},
}
"""A hundredth of each, or less."""
SMOKE = tuple(name for name in NAMES if name not in ("slurm", "books"))  # which need clusters of their own for a while
LONG = ("grouping", "reality", "chaos", "scheduling")  # minutes to hours: only when they are named
IN_README = (
    "submission",
    "first task",
    "local",
    "slurm",
    "grouping",
    "waves",
    "chaos",
)  # what rows begin with; the first of each
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
        "--smoke", action="store_true", help="all at a hundredth of their size or less: do they still run?"
    )
    parser.add_argument("--mark", action="store_true", help="measure nothing: mark rows older than what they measure")
    parser.add_argument(
        "--write", action="store_true", help="put these rows into docs/explanation/figures.md, and some into README.md"
    )
    options = parser.parse_args(argv)
    if unknown := set(options.names) - {*NAMES, *LONG}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join((*NAMES, *LONG))}")
    if options.write and (options.size or options.smoke):
        parser.error("--write puts figures into the documentation: it does not go with --size, nor with --smoke")
    if options.mark:
        _write([])
        return 0
    if options.smoke and (options.size or set(options.names) & set(LONG)):
        parser.error(f"--smoke has sizes of its own: it does not go with --size, nor with {', '.join(LONG)}")
    rows: list[Row] = []
    for name in options.names or (SMOKE if options.smoke else NAMES):
        sizes = SMALL[name] if options.smoke else {"size": options.size} if options.size else {}
        for one in _measured(name, sizes):
            print(f"{one.what}: {one.figure} {one.beside} {one.ratio}", file=sys.stderr, flush=True)
            rows.append(one)
    print(render(rows))
    if options.write:
        _write(rows)
    return 0


def _measured(name: str, sizes: Mapping[str, int]) -> Iterator[Row]:
    module = importlib.import_module(f"tests.bench.{name.replace('-', '_')}")
    rows: Iterator[Row] = module.measure(**sizes)
    return rows


def _write(rows: Sequence[Row]) -> None:
    table = write(rows, ROOT / "docs" / "explanation" / "figures.md")
    write_short([next(one for one in table if one.subject == subject) for subject in IN_README], ROOT / "README.md")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
