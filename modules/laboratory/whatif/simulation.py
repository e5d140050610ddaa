"""Plays several futures of the grid, and says what they have in common."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

from cigri.database import embedded
from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.grid_snapshot import GridSnapshot
from cigri.formats.units import HOUR
from cigri.settings.sections import Settings
from modules.laboratory.whatif.interval import DURATION_ERRORS, SimulatedEnd, interval
from modules.laboratory.whatif.plan import ProposedCampaign, SimulationPlan, plan
from modules.laboratory.whatif.simulation_run import SimulatedFuture, SimulatedOutcome
from modules.laboratory.whatif.small_grid import board

RUNS = len(DURATION_ERRORS)
FEWEST_RUNS = 2
SIMULATION_SECONDS = 2.5  # seconds for all of them, beyond which no other is begun
LONGEST_SIMULATION = 12.0  # seconds of work of one, which is cut short then
LEAST_OF_PROCESSOR = 0.25  # of the time: what others leave us of it, however busy the host
MOST_AT_A_TIME = 4


class CampaignSimulation(NamedTuple):
    """Of one campaign; times are seconds from submission, None: no run came to its end.

    Of `runs`, `cut` were cut short and `unfinished` had no end in sight. `shares`: part of the tasks by cluster;
    `core_hours` by cluster; `durations`: where they are from, `task`: seconds of one; `cores` and `together`: how many
    real ones one simulated core, and one simulated task, stood for.
    """

    name: str
    tasks: int
    low: float | None
    expected: float | None
    high: float | None
    runs: int
    cut: int
    unfinished: int
    shares: dict[str, float]
    core_hours: dict[str, float]
    task: float
    durations: str
    cores: float
    together: int


class SimulationReport(NamedTuple):
    """`closed`: clusters that are left out, and why; `ahead`: campaigns that are under way now."""

    at: datetime
    campaigns: list[CampaignSimulation]
    closed: dict[str, str]
    ahead: int

    def when(self, seconds: float | None) -> datetime | None:
        """The date of so many seconds after submission; None of None."""
        return None if seconds is None else self.at + timedelta(seconds=seconds)


def simulate_futures(
    server: Path,
    picture: GridSnapshot,
    settings: Settings,
    orders: Sequence[ProposedCampaign],
    watch: Callable[[int, int], None],
) -> SimulationReport:
    """What would become of these campaigns, submitted when the picture was taken. `watch` hears runs done, of all.

    `server`: the directory of one that runs, whose own database has the schema and no rows.
    """
    made = plan(picture, orders, settings.almighty.period)
    outcomes = list(_outcomes(server, settings, made, watch))
    by_order = {order: [outcome[order] for outcome in outcomes] for order in made.orders}
    campaigns = [_foresight(made, number, futures) for number, futures in by_order.items()]
    return SimulationReport(picture.at, campaigns, _closed(made), len(picture.left))


def _outcomes(
    server: Path, settings: Settings, made: SimulationPlan, watch: Callable[[int, int], None]
) -> Iterator[dict[int, SimulatedOutcome]]:
    """Of several runs, side by side on the processors of this host: two at least, more as long as there is time."""
    places = min(os.cpu_count() or 1, MOST_AT_A_TIME, RUNS)
    with ProcessPoolExecutor(places, get_context("fork")) as pool:
        watch(0, RUNS)
        began, done, left = time.monotonic(), 0, list(DURATION_ERRORS)
        while left:
            chosen, left = left[: max(places, FEWEST_RUNS)], left[max(places, FEWEST_RUNS) :]
            runs = [pool.submit(_play, server, settings, made, error) for error in chosen]
            for run in as_completed(runs):
                done += 1
                watch(done, RUNS)
                yield run.result()
            if (time.monotonic() - began) * (done + len(left[: len(chosen)])) / done > SIMULATION_SECONDS:
                break
        watch(RUNS, RUNS)


def _play(server: Path, settings: Settings, made: SimulationPlan, error: float) -> dict[int, SimulatedOutcome]:
    luck, database = (
        Random(f"{error}"),
        VirtualTimeDatabase(embedded.copy(server, f"run_{DURATION_ERRORS.index(error)}")),
    )
    try:
        return SimulatedFuture(database, settings, made, board(made, luck), luck, error).run(
            LONGEST_SIMULATION, _work()
        )
    finally:
        database.close()


def _work() -> Callable[[], float]:
    """Seconds of work since now, which a busy host stretches; so a host's load alone changes no answer."""
    processor, clock = time.process_time(), time.monotonic()
    return lambda: max(time.process_time() - processor, (time.monotonic() - clock) * LEAST_OF_PROCESSOR)


def _foresight(made: SimulationPlan, number: int, outcomes: Sequence[SimulatedOutcome]) -> CampaignSimulation:
    work, order = made.works[number], made.orders[number]
    ends = [SimulatedEnd(outcome.error, outcome.end) for outcome in outcomes if outcome.end is not None]
    end = interval(ends, 2 * made.cycle) if ends else None
    tasks: Counter[str] = Counter()
    hours: dict[str, float] = defaultdict(float)
    for outcome in outcomes:
        tasks.update(outcome.tasks)
        for name, seconds in outcome.work.items():
            hours[name] += seconds / HOUR / len(outcomes)
    return CampaignSimulation(
        order.campaign.name,
        order.tasks,
        end.low if end else None,
        end.expected if end else None,
        end.high if end else None,
        len(outcomes),
        sum(outcome.is_cut for outcome in outcomes),
        len(outcomes) - len(ends),
        {name: number / tasks.total() for name, number in tasks.most_common()},
        dict(sorted(hours.items(), key=lambda pair: -pair[1])),
        work.durations.mean,
        work.durations.source,
        made.scale.cores,
        made.scale.together[number],
    )


def _closed(made: SimulationPlan) -> dict[str, str]:
    wanted = {name for order in made.orders.values() for name in order.campaign.clusters}
    return {name: why for name, why in made.closed.items() if name in wanted}
