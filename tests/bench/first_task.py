"""From the start of gridsub to the first task running, on an idle grid with the settings of `cigri up`."""

import statistics
import time
from collections.abc import Iterator

from tests.bench.ground import Ground, ground
from tests.bench.table import Row, row

RUNS = 5
SECONDS = 1.0  # what it may take at the most


def measure(size: int = 1, runs: int = RUNS) -> Iterator[Row]:
    with ground() as grid:
        grid.start()
        taken = statistics.median(_time_one(grid, run, size) for run in range(runs))
    what = "first task: from gridsub to its first task running, local cluster, default settings"
    yield row(what, f"{taken:.2f} s", f"at most {SECONDS:.0f} s", f"{taken / SECONDS:.2f}")


def _time_one(grid: Ground, run: int, size: int) -> float:
    """The task itself writes the time down."""
    told = grid.directory / f"told.{run}"
    program = f"sh -c 'date +%s.%N >>{told}'"
    started = time.time()
    campaign_id = grid.submit(grid.describe("first", nb_jobs=size, exec_file=program))
    grid.wait_for(campaign_id)
    return float(told.read_text().split()[0]) - started
