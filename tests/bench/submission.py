"""A campaign of a million lines, handed over by the real gridsub: its time and its memory."""

import os
import time
from collections.abc import Iterator

from tests.bench.ground import PROGRAMS, Ground, ground
from tests.bench.table import Row, row

SIZE = 1_000_000
SECONDS, MEGABYTES = 15, 300  # what it may take at the most


def measure(size: int = SIZE) -> Iterator[Row]:
    with ground() as grid:
        taken, peak = submit(grid, size)
    what = f"submission: {size:,} lines of parameters, by gridsub"
    yield row(what, f"{taken:.1f} s", f"at most {SECONDS} s", f"{taken / SECONDS:.2f}")
    yield row("submission: memory of gridsub", f"{peak:.0f} MB", f"at most {MEGABYTES} MB", f"{peak / MEGABYTES:.2f}")


def submit(grid: Ground, size: int) -> tuple[float, float]:
    """Seconds and megabytes."""
    lines = grid.directory / "lines.txt"
    with lines.open("w") as file:
        file.writelines(f"frame{number} --seed {number}\n" for number in range(size))
    program, description = str(PROGRAMS / "gridsub"), grid.describe("large", param_file=str(lines))
    started = time.perf_counter()
    pid = os.posix_spawn(
        program,
        ["gridsub", description],
        grid.environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    taken = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"gridsub {description} failed")
    return taken, usage.ru_maxrss / 1024
