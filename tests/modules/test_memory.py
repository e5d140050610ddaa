"""Memory from description to what is told: a task that has more than it asked for is ended, and peaks are known."""

import shlex
import sys
from pathlib import Path

from sqlalchemy import text

from cigri.states import Outcome
from tests.grid import Grid

HOLD = "import os, time; x = b'x' * ({} * 2**20)"
SEEN = """
while not seen():
    time.sleep(0.05)
"""
LOOK = """
def seen():
    try:
        return any(int(line.split()[1]) >= {} * 1024 for line in open(os.environ["CIGRI_LOCAL_FEATURES"] + "/peaks"))
    except OSError:
        return False
"""
TOLD = text("""
    SELECT a.outcome, a.exit_code, a.peak_memory, j.reason FROM attempts a JOIN jobs j ON j.id = a.job_id
""")


def program(grid: Grid, text: str) -> str:
    path = Path(grid.place, "hold.py")
    path.write_text(text)
    return f"{shlex.quote(sys.executable)} {path}"


def test_a_task_with_more_than_it_asked_for_has_failed_for_that(local: Grid) -> None:
    command = program(local, HOLD.format(150) + "\nwhile True: time.sleep(60)")
    local.submit(["a"], command=command, resources={"mem": 100})
    local.run_until(lambda: local.counts() == {"failed": 1})
    with local.database.begin() as conn:
        [told] = conn.execute(TOLD)
    assert (told.outcome, told.exit_code) == (Outcome.OUT_OF_MEMORY, 137)
    assert told.reason.startswith("it asked for 100 MB of memory and had 1")


def test_the_peak_of_each_task_is_known(local: Grid) -> None:
    local.submit(["a"], command=program(local, HOLD.format(150) + LOOK.format(150) + SEEN), resources={"mem": 400})
    local.run_to_end()
    with local.database.begin() as conn:
        [told] = conn.execute(TOLD)
        most = conn.scalar(text("SELECT most_memory FROM campaign_clusters"))
    assert told.outcome == Outcome.SUCCESS
    assert 150 * 2**20 <= told.peak_memory <= 180 * 2**20
    assert most == told.peak_memory
