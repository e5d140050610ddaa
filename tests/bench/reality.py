"""Ten minutes of a real Slurm and a real OAR whose local users come and go, beside the laboratory's of the same jobs.

Both run the scenario reality.toml: the same local jobs at the same seconds, the same tasks, CiGri as it is shipped.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

from sqlalchemy import text

from cigri.database import Database, embedded, schema
from cigri.database.virtual import VirtualTimeDatabase
from modules.laboratory.evaluation.results import SimulationResults
from modules.laboratory.evaluation.run_recorder import RunRecorder
from modules.laboratory.load import LocalJob
from modules.laboratory.scenario import Scenario, read
from modules.laboratory.simulated_grid import SimulatedGrid
from tests.bench.ground import Ground, ground
from tests.bench.grouping import CORES, cluster, declare
from tests.bench.local_users import LocalUsers
from tests.bench.slurm import NotHereError
from tests.bench.table import Row, row
from tests.grid import oar_site, slurm_site

SCENARIO = Path(__file__).with_suffix(".toml")
SITES = {"alpha": slurm_site("alpha"), "delta": oar_site()}
HELD = """\
SELECT extract(epoch FROM started_at)::float, extract(epoch FROM ended_at)::float, width
FROM jobs WHERE started_at IS NOT NULL"""
LOST = """\
SELECT coalesce(sum(width * extract(epoch FROM ended_at - started_at) - done), 0)::float, count(*)
FROM jobs CROSS JOIN LATERAL (
    SELECT coalesce(sum(seconds), 0) AS done FROM attempts WHERE job_id = jobs.id AND outcome = 'success'
) AS tasks WHERE outcome = 'preempted' AND started_at IS NOT NULL"""
LAST_START = "SELECT extract(epoch FROM max(started_at))::float FROM attempts"


class Found(NamedTuple):
    """Seconds, and core-seconds: `lost` those of the `killed` jobs that gave way, less what their tasks (of one core)
    had done.
    """

    makespan: float
    harvested: float
    harvestable: float
    lost: float
    killed: int
    local_delay: float


class Held(NamedTuple):
    """So many cores from then till then, in seconds of the clock."""

    begun: float
    ended: float
    cores: int

    def within(self, begun: float, ended: float) -> float:
        """Core-seconds."""
        return max(0.0, min(self.ended, ended) - max(self.begun, begun)) * self.cores


class Drawn(NamedTuple):
    """What the laboratory drew: seconds of tasks; local jobs, and the starts they would have without the grid."""

    tasks: Sequence[float]
    jobs: Mapping[str, Sequence[LocalJob]]
    alone: Mapping[str, Mapping[int, float]]


def measure(size: int | None = None) -> Iterator[Row]:
    """`size`: tasks."""
    scenario = read(SCENARIO, {} if size is None else {"campaigns": [_campaign(size)]})
    simulated, drawn = _simulate(scenario)
    try:
        real = _do(scenario, drawn)
    except NotHereError as error:
        yield row(f"reality: left out, the clusters are not here ({error})", "")
        return
    about = f"reality: {len(drawn.tasks)} tasks on a real Slurm and a real OAR, 16 cores each, beside local users"
    for what, figure in _figures(real).items():
        theirs = _figures(simulated)[what]
        ratio = f"{figure / theirs:.2f}" if theirs else ""
        yield row(f"{about}: {what}", f"{figure:.3g}", f"simulated: {theirs:.3g}", ratio)


def _figures(found: Found) -> dict[str, float]:
    return {
        "makespan, s": found.makespan,
        "idle core-seconds harvested, share": found.harvested / found.harvestable,
        "harvest lost to preemption, share": found.lost / found.harvested,
        "jobs that gave way": found.killed,
        "local jobs waited longer, s in all": found.local_delay,
    }


def _campaign(tasks: int) -> dict[str, object]:
    [described] = read(SCENARIO).campaigns
    return described.model_copy(update={"tasks": tasks}).model_dump()


def _simulate(scenario: Scenario) -> tuple[Found, Drawn]:
    with embedded.temporary() as directory:
        database = VirtualTimeDatabase(embedded.url(directory))
        try:
            database.make_clock()
            schema.upgrade(database)
            world, notebook = SimulatedGrid(scenario, database, SCENARIO.parent), RunRecorder(database)
            world.run(notebook.note)
            found = _found(notebook.results(world, ""), *_lost(database))
        finally:
            database.close()
    [campaign_id] = world.campaigns
    alone = {name: dict(system.meters.local_starts) for name, system in world.without_us()}
    jobs = {name: list(world.local_jobs(name)) for name in world.sites}
    return found, Drawn([task.seconds for task in world.tasks(campaign_id)], jobs, alone)


def _lost(database: Database) -> tuple[float, int]:
    with database.begin() as conn:
        seconds, jobs = conn.execute(text(LOST)).one()
    return seconds, jobs


def _found(results: SimulationResults, lost: float, killed: int) -> Found:
    if results.makespan is None:
        raise RuntimeError("the simulated campaign did not end: make the scenario longer")
    grid = results.grid
    return Found(results.makespan, grid.harvested, grid.harvestable, lost, killed, grid.local_delay)


def _do(scenario: Scenario, drawn: Drawn) -> Found:
    """The same on the real clusters."""
    directory = f"reality-{os.getpid()}"
    with ExitStack() as stack:
        for name in SITES:
            stack.enter_context(cluster(name))
        grid = stack.enter_context(ground(almighty__period=scenario.cycle))
        for site in SITES.values():
            declare(grid, site, directory)
            stack.callback(site.sh, f"rm -rf {directory}")
        grid.start()
        places: dict[str, object] = {name: {} for name in SITES}
        params = [f"{seconds:.2f}" for seconds in drawn.tasks]
        [described] = scenario.campaigns
        description = grid.describe(
            "reality", exec_file="sleep", params=params, walltime=described.walltime, clusters=places
        )
        began = time.time()
        with _local_users(began, drawn, directory) as users:
            grid.wait_for(grid.submit(description), scenario.length)
            return _seen(grid, drawn, users, began, time.time())


@contextmanager
def _local_users(began: float, drawn: Drawn, directory: str) -> Iterator[Sequence[LocalUsers]]:
    """They live on their clusters."""
    users, over = [LocalUsers(name, directory, jobs) for name, jobs in drawn.jobs.items()], Event()
    with ThreadPoolExecutor(len(users)) as pool:
        lives = [pool.submit(each.live, began, over) for each in users]
        try:
            yield users
        finally:
            over.set()
            wait(lives)
            for each in users:
                each.leave()
            for life in lives:
                life.result()


def _seen(grid: Ground, drawn: Drawn, users: Sequence[LocalUsers], began: float, ended: float) -> Found:
    """Idle cores count as harvestable while tasks waited: until the last of them was started."""
    with grid.database.begin() as conn:
        last = conn.execute(text(LAST_START)).scalar_one()
        ours = [Held(*held) for held in conn.execute(text(HELD))]
    harvestable = delay = 0.0
    for each in users:
        jobs, alone = drawn.jobs[each.cluster], drawn.alone[each.cluster]
        harvestable += CORES * (last - began)
        for number, submitted, begun, over in each.begun():
            held = Held(begun or ended, over or ended, jobs[number].cores)
            harvestable -= held.within(began, last)
            delay += max(0.0, held.begun - submitted - (alone[number] - jobs[number].submitted))
    harvested = sum(held.within(began, last) for held in ours)
    return Found(ended - began, harvested, harvestable, *_lost(grid.database), delay)
