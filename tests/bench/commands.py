"""How many remote commands a pass gives: by clusters and users, whatever the number of jobs."""

import getpass
from collections import Counter
from collections.abc import Iterator

from tests.bench.cycle import CYCLE, declare_clusters, put, tools
from tests.bench.ground import ground
from tests.bench.table import Row, row

SIZE = 1000
CLUSTERS = 3
CAMPAIGNS = 5
LONGEST = 1000  # passes


def measure(size: int = SIZE) -> Iterator[Row]:
    most: Counter[str] = Counter()
    with ground() as grid, tools(grid) as given:
        names = declare_clusters(grid, CLUSTERS)
        for _ in range(CAMPAIGNS):
            put(grid, "commands", names, "true", size // CAMPAIGNS, getpass.getuser())
        passes = 0
        while passes < LONGEST and grid.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL"):
            passes += 1
            for module in CYCLE:
                before = given.gateway.commands.total()
                module.run_once(given)
                name = module.__name__.removeprefix("modules.")
                most[name] = max(most[name], given.gateway.commands.total() - before)
        total = given.gateway.commands.total()
    clusters = CLUSTERS + 1  # the one of `cigri up` is looked at as well
    about = f"{size:,} tasks of {CAMPAIGNS} campaigns of one user on {clusters} clusters, {passes} cycles"
    for name in ("updator", "runner", "killer"):
        figure, limit = most[name], clusters * (2 if name == "updator" else 1)  # now and then what nodes there are, too
        yield row(
            f"commands: the most in a pass of the {name}", f"{figure}", f"at most {limit}", f"{figure / limit:.2f}"
        )
    yield row(f"commands: {about}", f"{total} in all", f"{size:,} tasks", f"{total / size:.2f}")
