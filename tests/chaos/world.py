"""What is attacked: a grid with its own PostgreSQL and almighty, and four real clusters with a local user each."""

import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import OperationalError

from cigri.database import Database, embedded, schema
from cigri.errors import DatabaseUnavailable
from cigri.flow.tasks import redo_tasks
from cigri.identity.callers import Caller
from cigri.states import TaskState
from tests.chaos.clocks import put_clock_right
from tests.faults.memories import forget_copy, repair
from tests.faults.test_kill import kill_group, start_almighty
from tests.grid import TESTBED, Grid, Site, gridengine_site, oar_site, slurm_site, until
from tests.last_words import LastWord, read_words

CLEAN = {  # what root says to end all jobs
    "alpha": "scancel -u alice; scancel -u bob",
    "beta": "scancel -u alice; scancel -u bob",
    "gamma": "qdel -u '*' >/dev/null || true",
    "delta": "oardel --sql \"state NOT IN ('Terminated', 'Error')\" >/dev/null",
}

FORGE = """
cd .cigri/{key} 2>/dev/null || exit 0
set -- $(grep -ls '^end [12] ' c*/b*/journal.* | xargs -r ls -t | head -n 8)
[ $# -gt 0 ] || exit 0
shift $(awk -v many=$# 'BEGIN {{ print int(many * {chance}) }}')
forged=$(grep '^end [12] ' "$1" | tail -n 1 | awk '{{ $9 += 82800000; $10 = 0; print }}')
batch=${{1%/journal.*}}
echo "$forged" >>"$1"
echo "$forged" >>"outbox/${{batch##*/b}}-${{1##*.}}"
echo "$forged"
"""
REPAIRED_EVERY = 5.0  # seconds


@dataclass
class World:
    """`almighty` is the one that runs now."""

    grid: Grid
    sites: Mapping[str, Site]
    database: Path
    almighty: "subprocess.Popen[bytes]" = field(init=False)
    campaign_id: int = 0
    repaired_at: float = 0.0
    resubmitted: list[int] = field(default_factory=list)  # tasks

    def start_almighty(self) -> None:
        with (self.database / "almighty.log").open("ab") as log:
            self.almighty = start_almighty(self.grid, log)

    def kill_almighty(self) -> None:
        kill_group(self.almighty)

    def repair(self) -> None:
        """As operators do, who do not look at each moment."""
        if time.monotonic() >= self.repaired_at + REPAIRED_EVERY:
            for site in self.sites.values():
                repair(site)
            self.repaired_at = time.monotonic()

    def resubmit(self) -> None:
        """As a user does with tasks that have failed: `gridsub --resubmit`."""
        self.resubmitted += [row["number"] for row in self.grid.rows("SELECT number FROM tasks WHERE state = 'failed'")]
        with self.grid.database.begin() as conn:
            redo_tasks(conn, self.campaign_id, Caller(self.grid.site.user), chosen=None, states=[TaskState.FAILED])

    def done(self, cluster: str = "") -> int:
        """Tasks done so far, on that cluster or anywhere; none while the database is away."""
        statement = (
            "SELECT count(*) FROM attempts JOIN jobs ON jobs.id = job_id JOIN clusters c ON c.id = jobs.cluster_id"
            " WHERE attempts.outcome = 'success' AND (c.name = :cluster OR :cluster = '')"
        )
        with suppress(DatabaseUnavailable, OperationalError):
            count: int = self.grid.one(statement, cluster=cluster)
            return count
        return 0

    def is_submitting(self, cluster: str) -> bool:
        """Is a batch on its way to that cluster?"""
        statement = (
            "SELECT count(*) FROM batches JOIN clusters ON clusters.id = cluster_id"
            " WHERE batches.state = 'launching' AND clusters.name = :cluster"
        )
        return bool(self.grid.one(statement, cluster=cluster))

    def waiting(self) -> int:
        return self.grid.counts().get("waiting", 0)

    def is_over(self) -> bool:
        is_over: bool = self.grid.one("SELECT bool_and(ended_at IS NOT NULL) FROM campaigns")
        return is_over

    def said(self) -> Counter[LastWord]:
        """Which attempts came to their ends, as their own lines on the clusters say."""
        said: Counter[LastWord] = Counter()
        for site in self.sites.values():
            said.update(read_words(site.sh(f"cat {self.grid.place}/ran 2>/dev/null; true")))
        return said

    def story(self, number: int) -> list[str]:
        """Each attempt at a task, in words for whoever looks for the fault."""
        statement = (
            "SELECT a.number, c.name, b.tag, j.array_index, j.remote_id, a.outcome::text, a.exit_code, j.reason,"
            " a.started_at, j.submitted_at, j.ended_at"
            " FROM attempts a JOIN tasks t ON t.id = a.task_id JOIN jobs j ON j.id = a.job_id"
            " JOIN clusters c ON c.id = j.cluster_id LEFT JOIN batches b ON b.id = j.batch_id"
            " WHERE t.number = :number ORDER BY a.number"
        )
        rows = self.grid.rows(statement, number=number)
        return [f"task {number}: " + ", ".join(f"{name} {value}" for name, value in row.items()) for row in rows]


@contextmanager
def world() -> Iterator[World]:
    """All clusters of the testbed are up, and empty afterwards."""
    subprocess.run([str(TESTBED), "up"], check=True, capture_output=True)
    sites = {site.name: site for site in (slurm_site("alpha"), slurm_site("beta"), gridengine_site(), oar_site())}
    with tempfile.TemporaryDirectory(prefix="cigri-chaos-") as name:
        directory = Path(name)
        database = Database(embedded.start(directory))
        schema.upgrade(database)
        grid = Grid(database, sites["alpha"], f"/home/alice/chaos-{os.getpid()}")
        for site in list(sites.values())[1:]:
            grid.add(site)
            site.sh(f"mkdir -p {grid.place}")
        attacked = World(grid, sites, directory)
        attacked.start_almighty()
        try:
            yield attacked
        finally:
            attacked.kill_almighty()
            for site in sites.values():
                site.sh(CLEAN[site.name], user="root")
            for site in sites.values():
                put_clock_right(site)
                repair(site)
                forget_copy(site)
                site.sh(f"rm -rf {grid.place}")
            grid.gateway.close()
            database.close()
            embedded.stop(directory)


def kill_job(world: World, group: int) -> None:
    """A job's wrapper and its task at once, as the kernel does when memory runs out."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def forge_record(world: World, cluster: str, chance: float) -> None:
    """Write one of the latest records there once more: begun 23 hours later, and over at once.

    `chance`, from 0 to 1, says which of them; nothing is written where no task has ended yet.
    """
    world.sites[cluster].sh(FORGE.format(key=world.grid.one("SELECT key FROM grid"), chance=chance))


def restart_database(world: World) -> None:
    embedded.kill(world.database)
    embedded.start(world.database)
    until(lambda: world.grid.one("SELECT 1"), what="the database answers")
