"""Batch systems that are killed and come back with the state of a while ago: none done unrun, none done twice.

They know nothing of jobs that run, begin others anew, and give ids that still run to new jobs.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from cigri.flow.kill_requests import request_kills
from cigri.states import KillReason
from tests.clusters import run_testbed
from tests.faults.memories import MEMORIES, fall_back, forget_copy, is_repaired, remember, repair
from tests.grid import Grid, until
from tests.last_words import LastWord, done_twice, never_said, read_words, saying

pytestmark = pytest.mark.cluster

CORES = 16  # of a cluster of the testbed
WALLTIME = 120  # seconds, for which jobs are waited that are forgotten
PATIENCE = 150  # seconds: a launch costs OAR some, and so does a busy machine


@pytest.fixture(params=list(MEMORIES))
def forgetful(request: pytest.FixtureRequest) -> Iterator[Grid]:
    """A cluster whose batch system may be put back to what it remembered."""
    grid: Grid = request.getfixturevalue(request.param)
    repair(grid.site)
    yield grid
    forget_copy(grid.site)
    repair(grid.site)  # a drained node is not ready
    run_testbed("up", request.param)
    # whatever still runs of the forgotten would cost the next test a node, once its id is given anew
    for group in grid.running_groups():
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    until(lambda: not grid.running_groups())
    until(lambda: is_repaired(grid.site))


def submit(grid: Grid, name: str, tasks: int, walltime: int = 600) -> int:
    """Tasks that say their last word as soon as the file of this name is there; from then on TERM cannot end them."""
    wait = f"until [ -e {grid.place}/{name} ]; do sleep 0.2; done"
    finish = saying(f"{grid.place}/finished")
    return grid.submit([str(n) for n in range(tasks)], command=f"{wait}; trap : TERM; {finish}", walltime=walltime)


def finished(grid: Grid) -> Counter[LastWord]:
    return read_words(grid.site.sh(f"cat {grid.place}/finished 2>/dev/null; true"))


def release(grid: Grid, *names: str) -> None:
    grid.site.sh(f"cd {grid.place} && touch {' '.join(names)}")


def reach(grid: Grid, fact: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Cycle until the fact is true, while its operator repairs the batch system."""

    def repaired() -> object:
        repair(grid.site)
        return fact()

    grid.run_until(repaired, seconds)


def has_ended(grid: Grid) -> bool:
    return bool(grid.one("SELECT bool_and(ended_at IS NOT NULL) FROM campaigns"))


def test_a_batch_system_that_comes_back_with_older_state(forgetful: Grid) -> None:
    """It has forgotten jobs that run and wait, and remembers some that have ended, or were killed in its queue."""
    grid = forgetful
    submit(grid, "ended-since", CORES)
    reach(grid, lambda: len(grid.executions()) == CORES)
    doomed = submit(grid, "killed-since", 2, WALLTIME)
    waits = "SELECT count(*) FROM jobs WHERE campaign_id = :id AND submitted_at IS NOT NULL"
    reach(grid, lambda: grid.one(waits, id=doomed) == 2)
    remember(grid.site)

    killed = [row["id"] for row in grid.rows("SELECT id FROM jobs WHERE campaign_id = :id", id=doomed)]
    with grid.database.begin() as conn:
        assert request_kills(conn, killed, KillReason.FLOOD, "test") == 2
    release(grid, "ended-since")
    reach(grid, lambda: grid.counts().get("done") == CORES)
    submit(grid, "forgotten", 6, WALLTIME)
    reach(grid, lambda: sum(grid.executions().values()) >= CORES + 6)
    fall_back(grid.site)

    submit(grid, "new", 6)
    release(grid, "killed-since", "forgotten", "new")
    reach(grid, lambda: has_ended(grid), 300)
    assert grid.counts() == {"done": CORES + 2 + 6 + 6}
    said = finished(grid)
    assert done_twice(grid, said) == []
    assert never_said(grid, said) == []
    assert len({(word.campaign, word.number) for word in said}) == CORES + 2 + 6 + 6
    grid.assert_sane()
