"""Core-seconds beside those of the batch systems' own accounting, however late the grid comes to see the ends."""

import pytest

from cigri.flow.accounting import list_accounted
from cigri.flow.grid_identity import grid_key
from tests.batch_accounting import BOOKS, CLOSE, booked_core_seconds, running_core_seconds
from tests.grid import Grid, until
from tests.waiting import PATIENCE

pytestmark = pytest.mark.cluster

JOBS, CORES, SECONDS = 6, 2, 150
LATE = 20  # seconds after the last end


@pytest.mark.parametrize("name", BOOKS)
def test_what_is_accounted_is_what_the_batch_system_accounts(request: pytest.FixtureRequest, name: str) -> None:
    """Of the job that waited least for its node, as on a busy machine they take seconds to begin and to end.

    OAR books a job from before it launches it; its own log says how long it ran.
    """
    grid: Grid = request.getfixturevalue(name)
    with grid.database.begin() as conn:
        tag = f"cigri.{grid_key(conn)}."
    tasks, wide = [str(number) for number in range(JOBS)], {"cpu": CORES}
    grid.submit(tasks, command=f"sleep {SECONDS}", temporal_grouping=False, resources=wide)
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == JOBS)

    def has_ended_for_a_while() -> bool:
        booked = BOOKS[name](grid.site, tag)
        return len(booked) == JOBS and float(grid.site.sh("date +%s")) > max(one.end for one in booked) + LATE

    until(has_ended_for_a_while, SECONDS + PATIENCE, longest=5.0)
    theirs = BOOKS[name](grid.site, tag)
    grid.run_to_end()
    with grid.database.begin() as conn:
        (ours,) = list_accounted(conn, 2)
    assert {one.cores for one in theirs} == {CORES}
    assert JOBS * CORES * SECONDS <= ours.well <= running_core_seconds(theirs) * (1 + CLOSE)
    assert ours.well <= booked_core_seconds(theirs) * (1 + CLOSE)
    least = JOBS * CORES * min(one.running for one in theirs)
    assert least * (1 - CLOSE) <= ours.well
    assert ours.lost == 0
