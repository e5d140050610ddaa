"""Very many `true` on this host: the real gridsub and the real almighty, beside HyperQueue and GNU parallel."""

from collections.abc import Iterator

from tests.bench.ground import BUSY, ground
from tests.bench.rivals import SLOTS, has_parallel, time_hyperqueue, time_parallel
from tests.bench.table import Row, row

SIZE = 10_000


def measure(size: int = SIZE) -> Iterator[Row]:
    with ground(almighty__period=1) as grid:
        grid.change("localhost", BUSY)
        grid.start()
        ours = size / grid.time_campaign(grid.describe("true", nb_jobs=size))
    settings = ", ".join(f"{name} {value}" for name, value in BUSY.items())
    what = f"local: {size:,} `true`, gridsub to campaign ended, {SLOTS} slots (period 1, {settings})"
    rivals = {"HyperQueue": time_hyperqueue}
    if has_parallel():
        rivals["GNU parallel --joblog"] = time_parallel
    else:
        yield row("GNU parallel is not installed (as root: scripts/testbed packages): left out", "")
    for name, time_rival in rivals.items():
        theirs = size / time_rival(size)
        yield row(what, f"{ours:.0f} tasks/s", f"{name}: {theirs:.0f} tasks/s", f"{ours / theirs:.2f}")
