"""The page of one very large campaign, some of whose tasks failed: what a reader waits for, alone and among others."""

import time
from collections.abc import Iterator

from cigri.states import Outcome
from tests.bench.cycle import put
from tests.bench.ground import Ground, ground
from tests.bench.readers import HOST, Reading, Seen, reading
from tests.bench.service import cookie, free_port
from tests.bench.submission import portal
from tests.bench.table import Row, row
from tests.factories import end_jobs, submitted_jobs

SIZE = 1_000_000
FAILED = 2_000  # tasks at most
USER = "root"
ONE, SEVERAL = 1, 8  # people
LONGEST = {ONE: 0.1, SEVERAL: 0.3}  # seconds in which 99 of 100 are to have the page
SECONDS = 15.0
PAGE, STRIP = "/campaigns/1", "/campaigns/1/strip"
PARTS = ((PAGE, "the page"), (STRIP, "the strip of all tasks, which comes behind it"))


def measure(size: int = SIZE, seconds: float = SECONDS) -> Iterator[Row]:
    port = free_port()
    with ground(portal__address=f"{HOST}:{port}") as grid, portal(grid):
        put(grid, "page", ["localhost"], "sleep 1000", size, USER)
        failed = min(FAILED, size // 2)
        _fail(grid, failed)
        for path, what in PARTS:
            for people in (ONE, SEVERAL):
                with reading(Reading(port, [], path, cookie(grid, port, USER), 0, people)) as seen:
                    time.sleep(seconds)
                about = f"page: {what}, by {people} at a time, {size:,} tasks, {failed:,} failed"
                yield _read(about, seen[0], LONGEST[people] if path == PAGE else None)


def _read(about: str, seen: Seen, longest: float | None) -> Row:
    figure, waits, size = f"{seen.rate:.0f}/s", f"p99 {seen.p99 * 1000:.0f} ms", f"{seen.size / 1000:.0f} kB"
    if longest is None:
        return row(about, figure, f"{waits}; {size}")
    return row(about, figure, f"{waits}, at most {longest * 1000:.0f}; {size}", f"{seen.p99 / longest:.2f}")


def _fail(grid: Ground, number: int) -> None:
    with grid.database.begin() as conn:
        jobs = submitted_jobs(conn, 1, 1, number)
        end_jobs(conn, 1, jobs, Outcome.FAILURE, exit_code=3)
