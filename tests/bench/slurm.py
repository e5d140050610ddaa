"""Very many `true` through a real Slurm behind a real sshd, beside a bare `sbatch --array` on the same partition."""

import getpass
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.ground import Ground, ground
from tests.bench.table import Row, row

SIZE = 2000
TESTBED = Path(__file__).parents[2] / "scripts" / "testbed"
STATE = Path(os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed"))
CLUSTER, ACCOUNT, LOOK = "alpha", "alice", 0.5
ROUNDS = 2  # of a minute or two each
BUSY = {"poll_interval": 0.5, "keep_waiting": 2000, "n_max_queued_jobs": 2000, "max_waiting": 2000}


def measure(size: int = SIZE, rounds: int = ROUNDS) -> Iterator[Row]:
    try:
        with slurm(), ground(almighty__period=1) as grid:
            directory = f"bench-{os.getpid()}"
            try:
                _declare(grid, directory)
                grid.start()
                description = grid.describe("true", nb_jobs=size, walltime=600, clusters={CLUSTER: {}})
                times = [(grid.time_campaign(description), _time_bare(directory, size)) for _ in range(rounds)]
            finally:
                names = f"cigri[.]{grid.one('SELECT key FROM grid')}[.]|{directory}"
                inside(f"squeue -h -u {ACCOUNT} -o '%A %j' | sed -nE 's/ ({names}).*//p' | sort -u | xargs -r scancel")
                inside(f"rm -rf {directory}")
    except NotHereError as error:
        yield row(f"Slurm is not here: left out ({error})", "")
        return
    settings = ", ".join(f"{name} {value}" for name, value in BUSY.items())
    ours, bare = (statistics.median(some) for some in zip(*times, strict=True))
    what = f"slurm: {size:,} `true`, gridsub to campaign ended, over SSH, {rounds} times in turn (period 1, {settings})"
    yield row(
        what, f"{size / ours:.1f} tasks/s", f"bare sbatch --array: {size / bare:.1f} tasks/s", f"{bare / ours:.2f}"
    )


class NotHereError(Exception):
    """This machine cannot run the testbed, and why."""


@contextmanager
def slurm() -> Iterator[None]:
    """The cluster is up; afterwards it is as it was."""
    was_up = testbed("exec", CLUSTER, "root", "true").returncode == 0
    done = testbed("up", CLUSTER)
    if done.returncode != 0:
        raise NotHereError(done.stderr.strip().splitlines()[-1])
    try:
        yield
    finally:
        if not was_up:
            testbed("down", CLUSTER)


def testbed(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(TESTBED), *words], capture_output=True, text=True, check=False)


def inside(script: str) -> str:
    """What a script of the account says on the cluster, without CiGri."""
    done = testbed("exec", CLUSTER, ACCOUNT, "sh", "-c", script)
    if done.returncode != 0:
        raise RuntimeError(f"{script}: {done.stderr}")
    return done.stdout


def _declare(grid: Ground, directory: str) -> None:
    place = ["--ssh", "cigri@127.0.8.1:22022", "--key-file", str(STATE / "ssh/keys/cigri")]
    place += ["--known-hosts", str(STATE / "ssh/known_hosts"), "--driver", "slurm", "--option", "partition=normal"]
    wishes = {**BUSY, "directory": directory}
    place += [word for name, value in wishes.items() for word in ("--set", f"{name}={value}")]
    grid.run("cigri", "cluster", "add", CLUSTER, *place)
    grid.run("cigri", "cluster", "map", CLUSTER, getpass.getuser(), ACCOUNT)


def _time_bare(name: str, size: int) -> float:
    """From sbatch to an empty queue."""
    started = time.perf_counter()
    options = f"--parsable -J {name} -p normal -t 10 -i /dev/null -o /dev/null -e /dev/null --array=1-{size}"
    number = inside(f"sbatch {options} --wrap true").strip()
    while inside(f"squeue -h -j {number} -o %i | head -n 1").strip():
        time.sleep(LOOK)
    return time.perf_counter() - started
