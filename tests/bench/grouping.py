"""Tasks of 10 ms through real batch systems, several in a job, beside HyperQueue inside an allocation of that size."""

import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cigri.flow.operator_to_updator import put_cluster
from tests.bench.ground import Ground, ground
from tests.bench.slurm import NotHereError, testbed
from tests.bench.table import Row, row
from tests.grid import Site, gridengine_site, oar_site, slurm_site

SIZE = 100_000
RIVALS = 20_000
"""HyperQueue's rate falls with the number of tasks that its server holds: of 100,000 it had done 62 % in 11 minutes."""
CORES = 16  # of each cluster of the testbed
SHORT = ("sleep", "0.01")
BUSY = {"poll_interval": 1.0}
HYPERQUEUE = Path(__file__).with_name("hyperqueue_run.py")
SITES = {"Slurm": slurm_site("alpha"), "Grid Engine": gridengine_site(), "OAR": oar_site()}


def measure(size: int = SIZE) -> Iterator[Row]:
    settings = ", ".join(f"{name} {value:g}" for name, value in BUSY.items())
    rivals = min(size, RIVALS)
    for kind, site in SITES.items():
        what = f"grouping: {size:,} tasks of 10 ms through {kind}, gridsub to campaign ended, over SSH, {CORES} slots"
        try:
            with cluster(site.name):
                ours = _time_ours(site, size)
                theirs = rivals / _time_hyperqueue(rivals) if kind == "Slurm" else None
        except NotHereError as error:
            yield row(f"{kind} is not here: left out ({error})", "")
            continue
        beside = f"HyperQueue inside one allocation, {rivals:,} of them: {theirs:.0f} tasks/s" if theirs else ""
        ratio = f"{size / ours / theirs:.2f}" if theirs else ""
        yield row(f"{what} (period 1, {settings})", f"{size / ours:.0f} tasks/s, {ours:.0f} s", beside, ratio)


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
