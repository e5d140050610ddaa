"""Measure, and print the table: `scripts/bench --help`."""

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
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
SMOKE = tuple(name for name in NAMES if name != "slurm")  # which needs a cluster of its own for a while
PART = 100  # of its size, in --smoke
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
    parser.add_argument("--smoke", action="store_true", help="all at a hundredth of their size: do they still run?")
    parser.add_argument("--mark", action="store_true", help="measure nothing: mark rows older than what they measure")
    parser.add_argument(
        "--write", action="store_true", help="put these rows into the table in docs/figures.md, and some into README.md"
    )
    options = parser.parse_args(argv)
    if unknown := set(options.names) - {*NAMES, *LONG}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join((*NAMES, *LONG))}")
    if options.write and (options.size or options.smoke):
        parser.error("--write puts figures into the documentation: it does not go with --size, nor with --smoke")
    if options.mark:
        _write([])
        return 0
    rows: list[Row] = []
    for name in options.names or (SMOKE if options.smoke else NAMES):
        for one in _measured(name, options.size, is_smoke=options.smoke):
            print(f"{one.what}: {one.figure} {one.beside} {one.ratio}", file=sys.stderr, flush=True)
            rows.append(one)
    print(render(rows))
    if options.write:
        _write(rows)
    return 0


def _measured(name: str, size: int | None, *, is_smoke: bool) -> Iterator[Row]:
    module = importlib.import_module(f"tests.bench.{name.replace('-', '_')}")
    if is_smoke:
        size = max(1, getattr(module, "SIZE", 1) // PART)
    rows: Iterator[Row] = module.measure(size) if size else module.measure()
    return rows


def _write(rows: Sequence[Row]) -> None:
    short = [one for one in rows if one.subject in IN_README]
    for file, some in ((ROOT / "docs" / "figures.md", rows), (ROOT / "README.md", short)):
        if write(some, file):
            print(f"written into {file}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
