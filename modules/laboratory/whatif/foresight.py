"""Plays several futures of the grid, and says what they have in common."""

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import datetime, timedelta
from multiprocessing import get_context
from random import Random
from typing import NamedTuple

from cigri import embedded, schema
from cigri.database import Database
from cigri.flow.grid_to_laboratory import take_picture
from cigri.settings import Settings
from modules.laboratory.whatif.board import board
from modules.laboratory.whatif.future import Future, Outcome
from modules.laboratory.whatif.interval import errors, interval
from modules.laboratory.whatif.others import STEP
from modules.laboratory.whatif.plan import Order, Plan, plan

RUNS = 5
BUDGET = 32.0  # seconds for all of them
MOST_AT_A_TIME = 4


class Foresight(NamedTuple):
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


class Report(NamedTuple):
    """`closed`: clusters that are left out, and why; `ahead`: campaigns that are under way now."""

    at: datetime
    campaigns: list[Foresight]
    closed: dict[str, str]
    ahead: int

    def when(self, seconds: float | None) -> datetime | None:
        return None if seconds is None else self.at + timedelta(seconds=seconds)


def foresee(
    database: Database, settings: Settings, orders: Sequence[Order], watch: Callable[[int, int], None]
) -> Report:
    """What would become of these campaigns, submitted now; `database` is only read. `watch` hears runs done, of all."""
    commands = {order.command for order in orders}
    with database.snapshot() as conn:
        picture = take_picture(conn, commands, STEP)
    made = plan(picture, orders, settings.almighty.period)
    outcomes = list(_outcomes(settings, made, watch))
    mine = {order: [outcome[order] for outcome in outcomes] for order in made.orders}
    campaigns = [_foresight(made, number, some) for number, some in mine.items()]
    return Report(picture.at, campaigns, _closed(made), len(picture.left))


def _outcomes(settings: Settings, made: Plan, watch: Callable[[int, int], None]) -> Iterator[dict[int, Outcome]]:
    """Of several runs, side by side on the processors of this host, each with its part of the time."""
    places = min(os.cpu_count() or 1, MOST_AT_A_TIME, RUNS)
    with (
        _databases() as urls,
        ProcessPoolExecutor(places, get_context("fork")) as pool,
    ):
        watch(0, RUNS)
        seconds = BUDGET / math.ceil(RUNS / places)
        runs = [
            pool.submit(_play, url, settings, made, error, seconds)
            for url, error in zip(urls, errors(RUNS), strict=True)
        ]
        for number, run in enumerate(as_completed(runs), start=1):
            watch(number, RUNS)
            yield run.result()


def _play(url: str, settings: Settings, made: Plan, error: float, seconds: float) -> dict[int, Outcome]:
    deadline = time.monotonic() + seconds
    luck, database = Random(f"{error}"), Database(url)
    try:
        return Future(database, settings, made, board(made, luck), luck, error).run(deadline)
    finally:
        database.close()


@contextmanager
def _databases() -> Iterator[list[str]]:
    """URLs of empty ones with the schema, on a server that lives as long."""
    with embedded.temporary() as directory:
        template = Database(embedded.url(directory))
        schema.upgrade(template)
        template.close()

        yield [embedded.copy(directory, f"run_{number}") for number in range(RUNS)]


def _foresight(made: Plan, number: int, outcomes: Sequence[Outcome]) -> Foresight:
    work, order = made.works[number], made.orders[number]
    ends = [outcome.end for outcome in outcomes if outcome.end is not None]
    known = interval(ends, 2 * made.cycle) if ends else None
    tasks: Counter[str] = Counter()
    hours: dict[str, float] = defaultdict(float)
    for outcome in outcomes:
        tasks.update(outcome.tasks)
        for name, seconds in outcome.work.items():
            hours[name] += seconds / 3600 / len(outcomes)
    return Foresight(
        order.campaign.name,
        order.tasks,
        known.low if known else None,
        known.expected if known else None,
        known.high if known else None,
        len(outcomes),
        sum(outcome.is_cut for outcome in outcomes),
        len(outcomes) - len(ends),
        {name: some / tasks.total() for name, some in tasks.most_common()},
        dict(sorted(hours.items(), key=lambda pair: -pair[1])),
        work.durations.mean,
        work.durations.source,
        made.scale.cores,
        made.scale.together[number],
    )


def _closed(made: Plan) -> dict[str, str]:
    wanted = {name for order in made.orders.values() for name in order.campaign.clusters}
    return {name: why for name, why in made.closed.items() if name in wanted}
