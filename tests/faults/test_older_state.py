"""Batch systems that are killed and come back with the state of a while ago: none done unrun, none done twice.

They know nothing of jobs that run, begin others anew, and give ids that still run to new jobs.
"""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from cigri.flow.anyone_to_killer import ask_kills
from cigri.states import KillReason
from tests.faults.conftest import bring_up
from tests.faults.test_gridengine import restart
from tests.grid import TESTBED, Grid, until

pytestmark = pytest.mark.cluster

STATE = Path(os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed"))
CORES = 16  # of a cluster of the testbed
WALLTIME = 120  # seconds, for which jobs are waited that are forgotten
PATIENCE = 150  # seconds: a launch costs OAR some, and so does a busy machine


class Memory(NamedTuple):
    """What a batch system remembers, in a directory, and the daemons that write there, as they are stopped."""

    directory: Path
    daemons: tuple[str, ...]

    @property
    def copy(self) -> Path:
        return self.directory.with_name(f"{self.directory.name}.older")


MEMORIES = {
    "alpha": Memory(STATE / "alpha" / "state", ("slurmctld",)),
    "beta": Memory(STATE / "beta" / "state", ("slurmctld",)),
    "gamma": Memory(STATE / "gamma" / "sge" / "spool", ("sge_qmaster",)),
    "delta": Memory(STATE / "delta" / "db", ("almighty", "postgres")),
}


@pytest.fixture(params=list(MEMORIES))
def memory(request: pytest.FixtureRequest) -> Iterator[tuple[Grid, Memory]]:
    """A cluster, and what its batch system remembers of it."""
    memory = MEMORIES[request.param]
    grid: Grid = request.getfixturevalue(request.param)
    yield grid, memory
    subprocess.run(["rm", "-rf", str(memory.copy)], check=True)
    bring_up(request.param)


def remember(grid: Grid, memory: Memory) -> None:
    """Copy the directory while nobody writes there."""
    for daemon in memory.daemons:
        grid.site.daemon("stop", daemon)
    subprocess.run(["cp", "-a", str(memory.directory), str(memory.copy)], check=True)
    come_back(grid)


def fall_back(grid: Grid, memory: Memory) -> None:
    """Kill the daemons with all that they have started, and bring them back with the copy."""
    listed = subprocess.run(
        [str(TESTBED), "daemon", grid.site.name, "list"], capture_output=True, text=True, check=True
    )
    pids = {name: int(pid) for name, pid in map(str.split, listed.stdout.splitlines()) if pid.isdigit()}
    doomed = [pid for daemon in memory.daemons for pid in family(pids[daemon])]
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in doomed))
    subprocess.run(["rm", "-rf", str(memory.directory)], check=True)
    subprocess.run(["cp", "-a", str(memory.copy), str(memory.directory)], check=True)
    come_back(grid)


def come_back(grid: Grid) -> None:
    if grid.site.name == "gamma":
        restart(grid)
    else:
        bring_up(grid.site.name)


def family(pid: int) -> list[int]:
    """A process and all below it; some hold the ports of their ancestor."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


# without cpusets OAR suspects a node as soon as it cannot find a job there that is to die, until its operator says more
ALIVE = "oarnodesetting --sql \"state = 'Suspected'\" -s Alive >/dev/null 2>&1 || true"


def repair(grid: Grid) -> None:
    """What an operator does after such a fault."""
    if grid.site.name == "delta":
        grid.site.sh(ALIVE, user="root")


def submit(grid: Grid, name: str, tasks: int, walltime: int = 600) -> int:
    """Tasks that append their campaign and number to `finished` as soon as the file of this name is there."""
    wait = f"until [ -e {grid.place}/{name} ]; do sleep 0.2; done"
    finish = f'echo "$CIGRI_CAMPAIGN_ID.$CIGRI_TASK_NUMBER" >>{grid.place}/finished'
    return grid.submit([str(n) for n in range(tasks)], command=f"{wait}; {finish}", walltime=walltime)


def finished(grid: Grid) -> Counter[str]:
    return Counter(grid.site.sh(f"cat {grid.place}/finished 2>/dev/null; true").split())


def release(grid: Grid, *names: str) -> None:
    grid.site.sh(f"cd {grid.place} && touch {' '.join(names)}")


def has_ended(grid: Grid) -> bool:
    repair(grid)
    return bool(grid.one("SELECT bool_and(ended_at IS NOT NULL) FROM campaigns"))


@pytest.mark.timeout(450)
def test_a_batch_system_that_comes_back_with_older_state(memory: tuple[Grid, Memory]) -> None:
    """It has forgotten jobs that run and wait, and remembers some that have ended, or were killed in its queue."""
    grid, state = memory
    submit(grid, "ended-since", CORES)
    grid.run_until(lambda: sum(grid.executions().values()) == CORES, PATIENCE)
    doomed = submit(grid, "killed-since", 2, WALLTIME)
    waits = "SELECT count(*) FROM jobs WHERE campaign_id = :id AND submitted_at IS NOT NULL"
    grid.run_until(lambda: grid.one(waits, id=doomed) == 2)
    remember(grid, state)

    killed = [row["id"] for row in grid.rows("SELECT id FROM jobs WHERE campaign_id = :id", id=doomed)]
    with grid.database.begin() as conn:
        assert ask_kills(conn, killed, KillReason.FLOOD, "test") == 2
    release(grid, "ended-since")
    grid.run_until(lambda: grid.counts().get("done") == CORES, PATIENCE)
    submit(grid, "forgotten", 6, WALLTIME)
    grid.run_until(lambda: sum(grid.executions().values()) >= CORES + 6, PATIENCE)
    fall_back(grid, state)

    submit(grid, "new", 6)
    release(grid, "killed-since", "forgotten", "new")
    grid.run_until(lambda: has_ended(grid), 300)
    assert grid.counts() == {"done": CORES + 2 + 6 + 6}
    assert set(finished(grid).values()) == {1}
    assert len(finished(grid)) == CORES + 2 + 6 + 6
    grid.assert_sane()
