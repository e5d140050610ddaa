"""Notes of a run, cycle by cycle, and the results made of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.database import Database
from cigri.flow.views.laboratory import (
    CampaignTimes,
    CoreDemand,
    EndedTask,
    LostCoreSeconds,
    list_demands,
    list_ended_tasks,
    list_foretellings,
    list_lost,
    list_seen_campaigns,
)
from cigri.states import CampaignType
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.meters import ClusterMeters, WasteKind
from modules.laboratory.evaluation.avoidable_losses import ClusterHistory, avoidable
from modules.laboratory.evaluation.clairvoyant import IdleProfile, TaskLoad, makespan_bound
from modules.laboratory.evaluation.list_scheduling_bound import blind_makespan
from modules.laboratory.evaluation.metrics import (
    EndForecast,
    ForecastCampaign,
    LocalJobStart,
    ServiceInterval,
    TaskTimes,
    expectation,
    fairness,
    latencies,
    local_delay,
    slowdowns,
)
from modules.laboratory.evaluation.results import CampaignResults, ClusterResults, SeriesPoint, SimulationResults
from modules.laboratory.simulated_grid import WORLD_START, SimulatedGrid

NOTHING_LOST = LostCoreSeconds(0.0, 0.0)


class MeterReading(NamedTuple):
    """A cluster's meters at one moment; `received`: core-seconds of each user."""

    harvestable: float
    ours: float
    received: Mapping[str, float]


class RunRecorder:
    """Give `note` to World.run, and ask for the results afterwards."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._harvestable: dict[str, float] = defaultdict(float)
        self._harvested: dict[str, float] = defaultdict(float)
        self._services: list[ServiceInterval] = []
        self._last: tuple[float, Sequence[CoreDemand], Mapping[str, MeterReading]] | None = None

    def note(self, world: SimulatedGrid) -> None:
        """The cycle is over; count what became of the time since the one before."""
        with self._database.begin() as conn:
            demands = list_demands(conn)
        readings = {name: _read(site.system.meters, world.now) for name, site in world.sites.items()}
        if self._last is not None:
            then, wanted, before = self._last
            seconds = world.now - then
            self._count(seconds, wanted, before, readings)
            self._services += service(seconds, wanted, demands, _gained(before, readings))
        self._last = (world.now, demands, readings)

    def results(self, world: SimulatedGrid, scheduler: str) -> SimulationResults:
        """All figures of the report, once the run is over; the local load is played again, without us, for this."""
        with self._database.begin() as conn:
            tasks = [task for task in list_ended_tasks(conn) if task.campaign_id in world.campaigns]
            campaigns = [campaign for campaign in list_seen_campaigns(conn) if campaign.id in world.campaigns]
            foretold, lost = _foretold(conn, campaigns), list_lost(conn)
        alone = {name: system for name, system in world.without_us()}
        speeds = {name: cluster.speed for cluster in world.scenario.clusters for name in cluster.names}
        idle = {
            name: IdleProfile(system.meters.idle.points, speeds[name], system.machine.cores_per_node)
            for name, system in alone.items()
        }
        seen = [_campaign(world, campaign, idle) for campaign in campaigns]
        ends = [campaign.ended for campaign in campaigns]
        first = min((_seconds(campaign.submitted) for campaign in campaigns), default=0.0)
        last = max((_seconds(end) for end in ends if end is not None), default=None) if None not in ends else None
        could = avoidable({name: _past(site.system.meters) for name, site in world.sites.items()})
        users = {campaign.id: campaign.user for campaign in campaigns}
        bags = [(_seconds(campaign.submitted), _bag(world, campaign.id)) for campaign in campaigns]
        bag = [work for _, works in bags for work in works]
        blind = blind_makespan(list(idle.values()), bags)
        return SimulationResults(
            world.scenario.name,
            scheduler,
            world.scenario.seed,
            world.now,
            tuple(
                self._cluster(world, name, alone[name], could[name], lost.get(name, NOTHING_LOST))
                for name in world.sites
            ),
            tuple(seen),
            slowdowns(_times(task, users[task.campaign_id]) for task in tasks),
            None if last is None else last - first,
            makespan_bound(list(idle.values()), bag, first),
            fairness(self._services, {}),
            latencies(
                [_latency(test) for test in campaigns if test.type is CampaignType.TEST and test.last_first_start]
            ),
            expectation(foretold, world.now),
            blind if isfinite(blind) else None,
        )

    def _count(
        self,
        seconds: float,
        wanted: Sequence[CoreDemand],
        before: Mapping[str, MeterReading],
        now: Mapping[str, MeterReading],
    ) -> None:
        """Of what a cluster had free, as much counts as waiting tasks that may go there would have filled."""
        for name, reading in now.items():
            used = reading.ours - before[name].ours
            could = sum(demand.wanted for demand in wanted if name in demand.clusters) * seconds
            self._harvested[name] += used
            self._harvestable[name] += min(reading.harvestable - before[name].harvestable, used + could)

    def _cluster(
        self, world: SimulatedGrid, name: str, alone: SimulatedBatchSystem, avoidable: float, lost: LostCoreSeconds
    ) -> ClusterResults:
        system = world.sites[name].system
        meters = system.meters
        starts = [
            LocalJobStart(job.seconds, alone.meters.local_starts.get(number), meters.local_starts.get(number))
            for number, job in enumerate(world.local_jobs(name))
        ]
        delay = local_delay(starts, world.now)
        return ClusterResults(
            name,
            system.machine.cores,
            self._harvestable[name],
            self._harvested[name],
            max(0.0, avoidable - lost.killed),
            sum(loss.work for loss in meters.losses) + meters.wasted[WasteKind.BLACK_HOLE] - avoidable,
            delay.jobs,
            delay.seconds,
            delay.delay,
            world.gateway.commands[name],
            _points(meters.waiting.points),
            lost.seconds,
        )


def service(
    seconds: float, before: Sequence[CoreDemand], after: Sequence[CoreDemand], received: Mapping[str, float]
) -> list[ServiceInterval]:
    """What those got who wanted something when the interval began, if there were several.

    They wanted what they got, and cores for their tasks that had none: the mean of those at its begin and at its end.
    """
    left = {demand.campaign_id: demand.wanted for demand in after}
    wanted: dict[str, float] = defaultdict(float)
    for demand in before:
        wanted[demand.user] += (demand.wanted + left.get(demand.campaign_id, 0)) / 2 * seconds
    got = {user: received.get(user, 0.0) for user in wanted}
    return [ServiceInterval(got, {user: most + got[user] for user, most in wanted.items()})] if len(got) > 1 else []


def _gained(before: Mapping[str, MeterReading], now: Mapping[str, MeterReading]) -> dict[str, float]:
    gained: dict[str, float] = defaultdict(float)
    for name, reading in now.items():
        for user, seconds in reading.received.items():
            gained[user] += seconds - before[name].received.get(user, 0.0)
    return gained


def _campaign(world: SimulatedGrid, campaign: CampaignTimes, idle: Mapping[str, IdleProfile]) -> CampaignResults:
    submitted = _seconds(campaign.submitted)
    places = world.campaigns[campaign.id].described.clusters or idle.keys()
    bound = makespan_bound([idle[name] for name in places], _bag(world, campaign.id), submitted)
    makespan = None if campaign.ended is None else _seconds(campaign.ended) - submitted
    return CampaignResults(campaign.name, campaign.user, makespan, bound)


def _bag(world: SimulatedGrid, campaign_id: int) -> list[TaskLoad]:
    width = world.width(campaign_id)
    return [TaskLoad(task.seconds, width) for task in world.tasks(campaign_id)]


def _foretold(conn: Connection, campaigns: Sequence[CampaignTimes]) -> list[ForecastCampaign]:
    forecasts: dict[int, list[EndForecast]] = defaultdict(list)
    for foretelling in list_foretellings(conn):
        forecasts[foretelling.campaign_id].append(EndForecast(*map(_seconds, foretelling[1:])))
    return [
        ForecastCampaign(
            _seconds(campaign.submitted),
            None if campaign.ended is None else _seconds(campaign.ended),
            forecasts[campaign.id],
        )
        for campaign in campaigns
    ]


def _times(task: EndedTask, user: str) -> TaskTimes:
    return TaskTimes(user, _seconds(task.submitted), _seconds(task.ended), task.seconds)


def _latency(campaign: CampaignTimes) -> float:
    start = campaign.last_first_start or campaign.submitted
    return (start - campaign.submitted).total_seconds()


def _points(steps: Sequence[tuple[float, float]]) -> tuple[SeriesPoint, ...]:
    return tuple(SeriesPoint(at, value) for at, value in steps)


def _read(meters: ClusterMeters, now: float) -> MeterReading:
    return MeterReading(meters.harvestable, meters.ours, meters.received(now))


def _past(meters: ClusterMeters) -> ClusterHistory:
    return ClusterHistory(meters.losses, meters.free_cores.points, meters.our_cores.points)


def _seconds(moment: datetime) -> float:
    """Since the scenario's start."""
    return (moment - WORLD_START).total_seconds()
