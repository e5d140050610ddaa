"""One campaign over every kind of batch system at once, with all that clusters and their local users do to it."""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest

from cigri.database import Database
from cigri.flow.clusters import list_every_cluster
from cigri.flow.grid_identity import grid_key
from modules.operator.job_differences import JobDifferences, compare
from modules.updator.job_conclusions import ArrayElement
from tests.faults.test_kill import kill_group, start_almighty
from tests.grid import Grid, Site, gridengine_site, oar_site, slurm_site, until
from tests.last_words import LastWord, done_twice, never_said, read_words, saying

pytestmark = pytest.mark.cluster
STATE = os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed")
TASKS = 1200
CORES = 16
PATIENCE = 8.0  # seconds between two local jobs
LONG = 6  # seconds that every eighth task takes, so that there is something to preempt at any time
LONGER = 40  # OAR takes its time to tell a job that it must give way, and shorter ones are done by then

RIVALS = {  # a local user's job that wants a whole cluster for a moment
    "alpha": f"sbatch -p normal -N 2 -n {CORES} -o /dev/null --wrap 'sleep 1'",
    "beta": f"sbatch -p normal -N 2 -n {CORES} -o /dev/null --wrap 'sleep 1'",
    "gamma": f"echo 'sleep 1' | qsub -q all.q -pe smp {CORES} -l h_rt=60 -o /dev/null -e /dev/null",
    "delta": f"oarsub -l /core={CORES},walltime=0:1:0 -O /dev/null -E /dev/null 'sleep 1'",
}


Book = dict[ArrayElement, bool]
"""Jobs of ours that began on a cluster, and whether they ended well."""

Outcomes = dict[ArrayElement, str]
"""How our jobs on a cluster ended, for us."""


class Everywhere(NamedTuple):
    grid: Grid
    sites: Mapping[str, Site]

    def said(self) -> Counter[LastWord]:
        """Over all clusters: each has a home of its own."""
        said: Counter[LastWord] = Counter()
        for site in self.sites.values():
            said.update(read_words(site.sh(f"cat {self.grid.place}/ran 2>/dev/null; true")))
        return said

    def done(self) -> int:
        return self.grid.counts().get("done", 0)

    def preempted(self) -> set[str]:
        statement = (
            "SELECT DISTINCT name FROM jobs JOIN clusters ON clusters.id = cluster_id WHERE jobs.outcome = 'preempted'"
        )
        return {row["name"] for row in self.grid.rows(statement)}

    def running(self, cluster: str) -> int:
        statement = (
            "SELECT count(*) FROM jobs JOIN clusters c ON c.id = cluster_id WHERE c.name = :name AND state = 'running'"
        )
        count: int = self.grid.one(statement, name=cluster)
        return count

    def has_sessions_everywhere(self) -> bool:
        """As the pages of the clusters tell it."""
        open_on: int = self.grid.one("SELECT count(DISTINCT cluster_id) FROM command_counts WHERE sessions > 0")
        return open_on == len(self.sites)

    def is_over(self) -> bool:
        is_over: bool = self.grid.one("SELECT bool_and(ended_at IS NOT NULL) FROM campaigns")
        return is_over

    def our_books(self) -> dict[str, Outcomes]:
        statement = (
            "SELECT name, tag, array_index, jobs.outcome::text FROM jobs"
            " JOIN clusters ON clusters.id = cluster_id JOIN batches ON batches.id = batch_id"
            " WHERE submitted_at IS NOT NULL"
        )
        books: dict[str, Outcomes] = {name: {} for name in self.sites}
        for row in self.grid.rows(statement):
            books[row["name"]][ArrayElement(row["tag"], row["array_index"])] = row["outcome"]
        return books

    def their_books(self) -> dict[str, Book]:
        with self.grid.database.begin() as conn:
            tag = f"cigri.{grid_key(conn)}."
        return {name: dict(BOOKS[name](site, tag)) for name, site in self.sites.items()}

    def odd_jobs(self) -> list[tuple[str, ArrayElement, str]]:
        """Those that began for us and not for them, or for them and not for us."""
        ours, theirs = self.our_books(), self.their_books()
        began = {(name, job) for name in ours for job, outcome in ours[name].items() if outcome != "withdrawn"}
        odd = began ^ {(name, job) for name in theirs for job in theirs[name]}
        return [(name, job, ours[name].get(job, "not ours")) for name, job in sorted(odd)]

    def differences(self) -> list[JobDifferences]:
        """Between every queue and the database."""
        with self.grid.database.begin() as conn:
            clusters, key = list_every_cluster(conn), grid_key(conn)
        return [compare(self.grid.database, self.grid.gateway, cluster, key) for cluster in clusters]

    def agrees(self) -> bool:
        return self.differences() == [JobDifferences({}, [], [])] * len(self.sites)


def _slurm_file(site: Site, tag: str) -> Iterator[tuple[ArrayElement, bool]]:
    """Slurm without accounting writes a line for each job that ended."""
    for line in site.sh(f"cat {STATE}/{site.name}/jobs/jobcomp.log", user="root").splitlines():
        words = dict(re.findall(r"(\w+)=(\S+)", line))
        if words["Name"].startswith(tag) and words["NodeCnt"] != "0":
            yield ArrayElement(words["Name"], int(words["ArrayTaskId"])), words["JobState"] == "COMPLETED"


def _slurm_accounting(site: Site, tag: str) -> Iterator[tuple[ArrayElement, bool]]:
    for line in site.sh("sacct -X -n -P -S now-1hours -o JobName,JobID,Start,State").splitlines():
        name, job_id, start, state = line.split("|")
        if name.startswith(tag) and start not in ("Unknown", "None"):
            yield ArrayElement(name, int(job_id.partition("_")[2])), state == "COMPLETED"


def _gridengine(site: Site, tag: str) -> Iterator[tuple[ArrayElement, bool]]:
    for record in site.sh("qacct -o alice -j").split("=" * 62)[1:]:
        words = dict(re.findall(r"^(\w+) +(\S+)", record, re.MULTILINE))
        if words.get("jobname", "").startswith(tag):  # the last one is the sum of all
            is_well = words["failed"] == "0" and words["exit_status"] == "0"
            yield ArrayElement(words["jobname"], int(words["taskid"])), is_well


def _oar(site: Site, tag: str) -> Iterator[tuple[ArrayElement, bool]]:
    for job in json.loads(site.sh(f"oarstat -J -f --sql \"job_name like '{tag}%'\"") or "{}").values():
        if job["startTime"]:
            yield ArrayElement(job["name"], job["array_index"]), job["state"] == "Terminated" and job["exit_code"] == 0


BOOKS: Mapping[str, Callable[[Site, str], Iterator[tuple[ArrayElement, bool]]]] = {
    "alpha": _slurm_file,
    "beta": _slurm_accounting,
    "gamma": _gridengine,
    "delta": _oar,
}


@pytest.fixture
def everywhere(
    database: Database, alpha_up: None, beta_up: None, gamma_up: None, delta_up: None
) -> Iterator[Everywhere]:
    sites = [slurm_site("alpha"), slurm_site("beta"), gridengine_site(), oar_site()]
    grid = Grid(database, sites[0], f"/home/alice/everywhere-{os.getpid()}")
    for site in sites[1:]:
        grid.add(site)
        site.sh(f"mkdir -p {grid.place}")
    yield Everywhere(grid, {site.name: site for site in sites})
    grid.gateway.close()


def test_each_task_of_a_campaign_on_all_clusters_is_done_once_whatever_happens(everywhere: Everywhere) -> None:
    grid, sites = everywhere
    rivals = Rivals(everywhere)
    done = saying(f"{grid.place}/ran")
    some_are_long = f"sh -c '[ $(($1 % 8)) != 0 ] || sleep {LONG} && {done}' task"
    clusters: dict[str, object] = {name: {} for name in sites}
    clusters["delta"] = {"exec_file": f"sh -c 'sleep {LONGER} && {done}' task", "max_jobs": 8}  # OAR costs much CPU
    grid.submit([str(n) for n in range(TASKS)], exec_file=some_are_long, clusters=clusters)
    process = start_almighty(grid)
    try:
        rivals.until_done(0.1 * TASKS)
        until(everywhere.has_sessions_everywhere, what="sessions are told of each cluster")
        kill_group(process)
        process = start_almighty(grid)
        sites["beta"].daemon("pause", "sshd")
        try:
            rivals.until_done(0.3 * TASKS)
            kill_group(process)
            process = start_almighty(grid)
            rivals.until_done(0.4 * TASKS)
        finally:
            sites["beta"].daemon("cont", "sshd")
        rivals.until_done(TASKS)
        until(everywhere.is_over)
    finally:
        kill_group(process)
    said = everywhere.said()
    assert done_twice(grid, said) == []
    assert never_said(grid, said) == []
    assert {word.number for word in said} == set(range(TASKS))
    assert grid.counts() == {"done": TASKS}
    grid.assert_sane()
    assert everywhere.preempted() == set(sites)
    # a batch system may note an end after the task's own record of it, and lists the job until then
    until(everywhere.agrees, what=lambda: f"queues that hold what the database holds: {everywhere.differences()}")
    until(lambda: not everywhere.odd_jobs(), what=lambda: f"the same jobs in all books: {everywhere.odd_jobs()}")
    ours, theirs = everywhere.our_books(), everywhere.their_books()
    for name in sites:
        # a job that must give way at the moment at which its task has ended is done all the same
        assert not [job for job, is_well in theirs[name].items() if is_well and ours[name][job] != "success"]
        assert list(ours[name].values()).count("success") - sum(theirs[name].values()) <= CORES


class Rivals:
    """Local users, who come between on every cluster until some of our jobs have given way there."""

    def __init__(self, everywhere: Everywhere) -> None:
        self._everywhere = everywhere
        self._came: dict[str, float] = {}

    def until_done(self, tasks: float) -> None:
        def is_done() -> bool:
            self._compete()
            return self._everywhere.done() >= tasks

        until(is_done, 400, f"{tasks} tasks done")

    def _compete(self) -> None:
        now = time.monotonic()
        for name in self._everywhere.sites.keys() - self._everywhere.preempted():
            if now - self._came.get(name, 0.0) > PATIENCE and self._everywhere.running(name) > 2:
                self._everywhere.sites[name].sh(RIVALS[name], user="bob")
                self._came[name] = now
