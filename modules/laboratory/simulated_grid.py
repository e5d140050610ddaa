"""A grid in virtual time: the real modules on a real database, and clusters that are simulated."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cigri import jdl
from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.clusters import put_cluster
from cigri.flow.event_fixes import fix_events
from cigri.flow.submissions import NewCampaign, put_campaign
from cigri.flow.views.laboratory import has_work, list_doubts
from cigri.identity.callers import SUPERUSER, Caller
from cigri.submission.new_campaign import new_campaign
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.front_end import SimulatedFrontEnd, Workload
from modules.laboratory.cluster.simulated_jobs import SimulatedTask
from modules.laboratory.load import LocalJob, jobs_of
from modules.laboratory.past_campaigns import ClusterPower, run_before
from modules.laboratory.scenario import Scenario, SimulatedCampaign
from modules.laboratory.simulation_loop import SimulationLoop
from modules.laboratory.without_inputs import without_inputs

WORLD_START = datetime(2026, 1, 5, tzinfo=UTC)
"""Second 0 of every scenario: a Monday, at midnight."""

EARLIER_LOAD = timedelta(days=7)
"""So long before second 0 campaigns were run that come again."""

USERS_LOOK = 600.0
"""Seconds between two looks of the users at what went wrong."""


class CampaignArrival(NamedTuple):
    """A campaign that is submitted at `at`."""

    at: float
    described: SimulatedCampaign
    number: int


class SimulatedGrid(SimulationLoop):
    """One run of a scenario; `directory` is where the files lie that it names. The database must be empty."""

    def __init__(self, scenario: Scenario, database: VirtualTimeDatabase, directory: Path) -> None:
        self.scenario = scenario
        self._looked_at = 0.0
        self.campaigns: dict[int, CampaignArrival] = {}
        """Those submitted, by id."""
        self._tasks: dict[int, list[SimulatedTask]] = {}
        self._loads = dict(_loads(scenario, directory))
        speeds = {name: cluster.speed for cluster in scenario.clusters for name in cluster.names}
        sites = {
            name: SimulatedFrontEnd(system, self._workload(speeds[name]), WORLD_START.timestamp())
            for name, system in self._systems()
        }
        super().__init__(database, scenario.tuned, sites, WORLD_START)
        self._arrivals = sorted(_arrivals(scenario), key=lambda arrival: (arrival.at, arrival.number), reverse=True)
        with database.begin() as conn:
            for cluster in scenario.clusters:
                for name in cluster.names:
                    put_cluster(conn, name, cluster.declared.model_dump(mode="json"))

    def run(self, watch: Callable[["SimulatedGrid"], None] = lambda _: None) -> None:
        """Until nothing is left to do, or the scenario's length is over; `watch` is called after each cycle.

        Who submits wakes the almighty: there is a cycle at once, and the next one is when it would have been.
        """
        due = 0.0
        while self.now < self.scenario.length and (self._arrivals or self._has_work()):
            if self.now >= due:
                due = self.now + self.scenario.cycle
            self._submit_due()
            self.cycle()
            self._look_at_events()
            watch(self)
            submitted = self._arrivals[-1].at if self._arrivals else due
            self.advance(max(min(due, submitted) if self._has_work() else submitted, self.now))
        self.advance(max(self.scenario.length, self.now))

    def tasks(self, campaign_id: int) -> Sequence[SimulatedTask]:
        """What the tasks of a campaign do, by number, on a cluster of speed 1."""
        return self._tasks[campaign_id]

    def width(self, campaign_id: int) -> int:
        """Cores of each of its tasks."""
        return self.campaigns[campaign_id].described.width

    def local_jobs(self, cluster: str) -> Iterator[LocalJob]:
        """The local load of a cluster, from its begin."""
        return self._loads[cluster]()

    def without_us(self) -> Iterator[tuple[str, SimulatedBatchSystem]]:
        """Each cluster as it would have gone without the grid, up to now."""
        for name, system in self._systems():
            system.advance(self.now)
            yield name, system

    def _has_work(self) -> bool:
        with self.database.begin() as conn:
            return has_work(conn)

    def _submit_due(self) -> None:
        while self._arrivals and self._arrivals[-1].at <= self.now:
            arrival = self._arrivals.pop()
            text = json.dumps(_description(arrival, list(self.sites)))
            description = jdl.parse(text, format="json", base=Path("/"), home=Path("/"))
            tasks = _tasks(arrival, self.scenario.seed)
            new = new_campaign(description, arrival.described.user)
            if arrival.described.known:
                source = Random(f"{self.scenario.seed} before campaign {arrival.number}")
                self.database.set_time(WORLD_START - EARLIER_LOAD)
                with self.database.begin() as conn:
                    run_before(conn, new, description.parameters(), tasks, self._forces(new), source)
                self.database.set_time(self.clock())
            with self.database.begin() as conn:
                campaign_id = put_campaign(conn, without_inputs(new), description.parameters())
            self.campaigns[campaign_id] = arrival
            self._tasks[campaign_id] = tasks

    def _forces(self, campaign: NewCampaign) -> list[ClusterPower]:
        return [
            ClusterPower(name, cluster.speed, cluster.hardware.cores)
            for cluster in self.scenario.clusters
            for name in cluster.names
            if name in campaign.clusters
        ]

    def _look_at_events(self) -> None:
        """Every USERS_LOOK seconds, as careful users do: tasks whose results are doubted are done again."""
        if self.now < self._looked_at + USERS_LOOK:
            return
        self._looked_at = self.now
        with self.database.begin() as conn:
            if doubts := list_doubts(conn):
                fix_events(conn, doubts, Caller(SUPERUSER), resubmit=True)

    def _systems(self) -> Iterator[tuple[str, SimulatedBatchSystem]]:
        for cluster in self.scenario.clusters:
            for name in cluster.names:
                seed = _seed(self.scenario, name)
                yield name, SimulatedBatchSystem(name, cluster.hardware, self._loads[name](), cluster.faults, seed)

    def _workload(self, speed: float) -> Workload:
        def task(campaign_id: int, number: int) -> SimulatedTask:
            drawn = self._tasks[campaign_id][number]
            return SimulatedTask(drawn.seconds / speed, drawn.exit_code)

        return task


def _loads(scenario: Scenario, directory: Path) -> Iterator[tuple[str, Callable[[], Iterator[LocalJob]]]]:
    for cluster in scenario.clusters:
        for name in cluster.names:
            cores, seed = cluster.hardware.cores, _seed(scenario, name)
            yield name, partial(jobs_of, cluster.load, cores, scenario.length, seed, directory)


def _seed(scenario: Scenario, cluster: str) -> int:
    return Random(f"{scenario.seed} {cluster}").getrandbits(32)


def _arrivals(scenario: Scenario) -> Iterator[CampaignArrival]:
    number = 0
    for described in scenario.campaigns:
        for place in range(described.count):
            yield CampaignArrival(described.at + place * described.every, described, number)
            number += 1


def _description(arrival: CampaignArrival, clusters: Sequence[str]) -> dict[str, Any]:
    """As a user would hand it over (docs/reference/jdl.md); tasks that are drawn anew are those of another program."""
    campaign = arrival.described
    return {
        "name": campaign.name,
        "project": campaign.project,
        "campaign_type": campaign.type,
        "clusters": {name: {} for name in campaign.clusters or clusters},
        "exec_file": f"task{arrival.number}",
        "nb_jobs": campaign.tasks,
        "resources": {"cpu": campaign.width},
        "walltime": campaign.walltime,
        **campaign.settings,
    }


def _tasks(arrival: CampaignArrival, seed: int) -> list[SimulatedTask]:
    """What each task does, the same in every run of the scenario whatever else happens."""
    source = Random(f"{seed} campaign {arrival.number}")
    described = arrival.described
    return [
        SimulatedTask(described.seconds.draw(source), int(source.random() < described.failing))
        for _ in range(described.tasks)
    ]
