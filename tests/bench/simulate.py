"""`gridsub --simulate` of a large campaign: when would it end? Once the server for the runs has been made."""

import time
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, getrusage

from tests.bench.ground import ground
from tests.bench.table import Row, row

SIZE = 20_000
SECONDS = 5  # that it may take at the most


def measure(size: int = SIZE) -> Iterator[Row]:
    """The processor time is that of all but PostgreSQL, and hardly depends on what else the machine does."""
    with ground() as grid:
        grid.environment["XDG_CACHE_HOME"] = str(grid.directory / "cache")
        grid.run("cigri", "run", "updator", "--quiet")  # the cluster is visited
        words = ("gridsub", "--simulate", grid.describe("large", nb_jobs=size, duration=60, walltime=600))
        grid.run(*words)
        started, before = time.perf_counter(), _processor_time()
        grid.run(*words)
        taken, used = time.perf_counter() - started, _processor_time() - before
    what = f"simulate: when {size:,} tasks would end, asked of gridsub, local cluster"
    yield row(what, f"{taken:.1f} s", f"at most {SECONDS} s", f"{taken / SECONDS:.2f}")
    yield row("simulate: processor time of that, without PostgreSQL's", f"{used:.1f} s")


def _processor_time() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
