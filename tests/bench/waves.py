"""Campaigns whose tasks last equally long, so that all cores come free at once: how much longer than they must."""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from modules.operator import detached_process
from modules.operator.down import ask
from tests.bench.ground import Ground, ground
from tests.bench.table import Row, row

SIZE = 200  # tasks
CAMPAIGNS = 4
CORES = 30
SECONDS = 10
MOST = {"dahu": ("declared with `cigri cluster add`", 1.10), "localhost": ("of `cigri up`", 1.05)}


def measure(size: int = SIZE, seconds: int = SECONDS) -> Iterator[Row]:
    with ground() as grid, ExitStack() as ending:
        declare(grid, ending)
        grid.start()
        for cluster, (name, most) in MOST.items():
            tasks = [len(range(place, size, CAMPAIGNS)) for place in range(CAMPAIGNS)]
            taken = _last_end(grid, cluster, [number for number in tasks if number], seconds)
            limit = math.ceil(size / CORES) * seconds
            what = f"waves: {size} tasks of {seconds} s in {CAMPAIGNS} campaigns, {CORES} cores, a local cluster {name}"
            beside = f"{limit} s, at most {most:.2f} of it"
            yield row(f"{what}, default settings", f"{taken:.1f} s", beside, f"{taken / limit:.2f}")


def declare(grid: Ground, ending: ExitStack) -> None:
    """The same cores twice: those of localhost, and those of another local cluster, as an operator adds it."""
    cores = f"pools={{cpu={CORES}}}"
    grid.run("cigri", "cluster", "change", "localhost", "--option", cores)
    spool = grid.directory / "dahu"
    options = ("--option", f"spool={spool}", "--option", cores)
    grid.run("cigri", "cluster", "add", "dahu", "--driver", "local", *options)
    ending.callback(_end_daemon, spool)


def _end_daemon(spool: Path) -> None:
    """`cigri down` ends that of localhost only."""
    for line in ask(spool, "probe") or []:
        pid = int(line["pid"])
        detached_process.stop(detached_process.ProcessIdentity(pid, detached_process.start_of(pid)), 10.0)


def _last_end(grid: Ground, cluster: str, tasks: list[int], seconds: int) -> float:
    """Seconds from the start of the first gridsub to the end of the last task, as the tasks' own records have it."""
    began = time.time()
    program = {"exec_file": f"sh -c 'sleep {seconds}'", "clusters": {cluster: {}}}  # its parameter is no time to sleep
    ids = [grid.submit(grid.describe("waves", nb_jobs=number, **program)) for number in tasks]
    for campaign_id in ids:
        grid.wait_for(campaign_id, 600)
    last = "SELECT max(extract(epoch FROM started_at) + seconds) FROM attempts JOIN tasks ON tasks.id = task_id"
    return float(grid.one(f"{last} WHERE campaign_id = ANY(:ids)", ids=ids)) - began
