"""`gridstat` of a campaign of a million tasks, as a person waits for it."""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from tests.bench.ground import ground
from tests.bench.submission import SIZE, submit
from tests.bench.table import Row, row

SECONDS = 0.5  # what it may take at the most
RUNS = 15  # the first ones run beside what PostgreSQL does after a million rows


def measure(size: int = SIZE, runs: int = RUNS) -> Iterator[Row]:
    with ground() as grid:
        small = grid.submit(grid.describe("small", nb_jobs=10))
        submit(grid, size)
        large = grid.one("SELECT max(id) FROM campaigns")
        taken, usual = (median(partial(grid.run, "gridstat", str(one)), runs) for one in (large, small))
    beside = f"at most {SECONDS} s; of 10 tasks: {usual:.2f} s"
    yield row(f"stat: gridstat of {size:,} tasks", f"{taken:.2f} s", beside, f"{taken / SECONDS:.2f}")


def median(action: Callable[[], object], runs: int) -> float:
    """Seconds that an action takes."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
