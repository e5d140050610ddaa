"""Tasks of 10 ms through real batch systems, several in a job, beside a bare array of the same batch system.

Through Slurm also beside HyperQueue inside an allocation of that size.
"""

import getpass
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cigri.flow.clusters import put_cluster
from tests.bench.ground import Ground, ground
from tests.bench.slurm import NotHereError, testbed
from tests.bench.table import Row, row
from tests.grid import Site, gridengine_site, oar_site, slurm_site

SIZE = 100_000
RIVALS = 20_000
"""HyperQueue's rate falls with the number of tasks that its server holds: of 100,000 it had done 62 % in 11 minutes."""
BARE = 200  # these take a minute with OAR
ARRAYS = {
    "Slurm": "sbatch --wait -p normal -o /dev/null --array=1-{tasks} --wrap '{command}'",
    "Grid Engine": "qsub -sync y -b y -o /dev/null -e /dev/null -t 1-{tasks} {command}",
    "OAR": """\
oarsub -n bare --array {tasks} -l /core=1,walltime=0:10:0 -O /dev/null -E /dev/null '{command}' || exit
while oarstat -u | grep -qw bare; do sleep 1; done""",
}
CORES = 16  # of each cluster of the testbed
SHORT = ("sleep", "0.01")
BUSY = {"poll_interval": 1.0}
HYPERQUEUE = Path(__file__).with_name("hyperqueue_run.py")
SITES = {"Slurm": slurm_site("alpha"), "Grid Engine": gridengine_site(), "OAR": oar_site()}


def measure(size: int = SIZE) -> Iterator[Row]:
    settings = ", ".join(f"{name} {value:g}" for name, value in BUSY.items())
    for kind, site in SITES.items():
        what = f"grouping: {size:,} tasks of 10 ms through {kind}, gridsub to campaign ended, over SSH, {CORES} slots"
        try:
            with cluster(site.name):
                ours = size / _time_ours(site, size)
                rivals = {name: tasks / timed(tasks) for name, (tasks, timed) in _rivals(kind, site, size).items()}
        except NotHereError as error:
            yield row(f"{kind} is not here: left out ({error})", "")
            continue
        for name, rate in rivals.items():
            figure, beside = f"{ours:.0f} tasks/s, {size / ours:.0f} s", f"{name}: {rate:.3g} tasks/s"
            yield row(f"{what} (period 1, {settings})", figure, beside, f"{ours / rate:.2f}")


def _rivals(kind: str, site: Site, size: int) -> dict[str, tuple[int, Callable[[int], float]]]:
    """By name: how many tasks, and what times them."""
    many, few = min(size, RIVALS), min(size, BARE)
    rivals = {f"a bare array of {few:,}": (few, lambda tasks: _time_bare(kind, site, tasks))}
    if kind == "Slurm":
        rivals[f"HyperQueue inside one allocation, {many:,} of them"] = many, _time_hyperqueue
    return rivals


@contextmanager
def cluster(name: str) -> Iterator[None]:
    """It is up; afterwards it is as it was."""
    was_up = testbed("exec", name, "root", "true").returncode == 0
    done = testbed("up", name)
    if done.returncode != 0:
        raise NotHereError(done.stderr.strip().splitlines()[-1])
    try:
        yield
    finally:
        if not was_up:
            testbed("down", name)


def _time_ours(site: Site, size: int) -> float:
    """Seconds; each task must have been done once, as its outputs on the cluster show."""
    directory = f"bench-{os.getpid()}"
    with ground(almighty__period=1) as grid:
        try:
            declare(grid, site, directory)
            grid.start()
            command, parameter = SHORT
            fields = {"exec_file": command, "params": [parameter] * size, "walltime": 1800, "clusters": {site.name: {}}}
            taken = grid.time_campaign(grid.describe("short", **fields))
            runs = int(site.sh(f"find {directory} -name '*.out' | wc -l"))
            if runs != size:
                raise RuntimeError(f"{size} tasks were begun {runs} times")
            return taken
        finally:
            site.sh(f"rm -rf {directory}")


def declare(grid: Ground, site: Site, directory: str) -> None:
    said = {"driver", "transport", "ssh", "options"}
    config = {name: value for name, value in site.config.items() if name in said}
    with grid.database.begin() as conn:
        put_cluster(conn, site.name, {**config, **BUSY, "directory": directory})
    grid.run("cigri", "cluster", "map", site.name, getpass.getuser(), site.user)


def _time_bare(kind: str, site: Site, tasks: int) -> float:
    """Seconds from the submission to the end of the last one, to one second with OAR."""
    script = ARRAYS[kind].format(tasks=tasks, command=" ".join(SHORT))
    started = time.perf_counter()
    done = testbed("exec", site.name, site.user, "sh", "-c", script)
    if done.returncode != 0:
        raise RuntimeError(f"a bare array of {kind}: {done.stderr}{done.stdout}")
    return time.perf_counter() - started


def _time_hyperqueue(size: int) -> float:
    """Seconds that it takes itself, once its server and worker are up in an allocation of the whole cluster."""
    run = " ".join([sys.executable, str(HYPERQUEUE), str(size), str(CORES), *SHORT])
    options = f"-p normal -N 2 -n {CORES} -J hyperqueue -t 30 -o /dev/null"
    script = f"""\
place=$(mktemp -d) && cd "$place" || exit
TMPDIR=$place sbatch --wait {options} -D "$place" -e err --wrap '{run} >seconds' >/dev/null || cat err >&2
cat seconds
cd / && rm -rf "$place"
"""
    done = testbed("exec", "alpha", "root", "sh", "-c", script)
    if not done.stdout:
        raise RuntimeError(f"hyperqueue inside Slurm: {done.stderr}")
    return float(done.stdout.split()[-1])
