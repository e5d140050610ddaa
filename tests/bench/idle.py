"""What a grid costs that has nothing to do: a cycle of the modules, and the almighty's share of a core."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from cigri.settings.sections import Settings
from tests.bench.cycle import cycle, tools
from tests.bench.ground import Ground, ground
from tests.bench.table import Row, row

RUNS = 20
SECONDS = 20


def measure(size: int = RUNS, seconds: int = SECONDS) -> Iterator[Row]:
    with ground() as grid, tools(grid) as given:
        grid.change("localhost", {"poll_interval": 0})
        cycle(given)
        taken = statistics.median(sum(cycle(given).values()) for _ in range(size))
        yield row("idle: a cycle with nothing to do, one local cluster visited each time", f"{taken * 1000:.0f} ms")
        grid.change("localhost", {"poll_interval": 1})
        grid.start()
        share = _share_of_a_core(grid, seconds)
    yield row(f"idle: the almighty, period {Settings().almighty.period:g} s", f"{share:.1%} of a core")


def _share_of_a_core(grid: Ground, seconds: int) -> float:
    """Of the almighty and its workers; the database and the local cluster are not counted."""
    almighty = int((grid.directory / "almighty.pid").read_text().split()[0])
    before = _seconds(almighty)
    time.sleep(seconds)
    return (_seconds(almighty) - before) / seconds


def _seconds(pid: int) -> float:
    """Processor time of a process and all below it, living and dead."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    own = sum(map(int, words[11:15])) / 100
    children = [one.read_text().split() for one in Path(f"/proc/{pid}/task").glob("*/children")]
    return own + sum(_seconds(int(child)) for some in children for child in some)
