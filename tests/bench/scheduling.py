"""Every algorithm and policy in the scenarios that come with CiGri: what is harvested, wasted, delayed, and how soon.

An hour: not measured unless it is named. The algorithms take their turns under the policy fifo, the policies
with lean where there are several users, each with the same few seeds; the figures are means over these, for where the
longest of the last tasks begins is a matter of luck. Where ours is not ahead, its row says so, and why if somebody has
looked.
"""

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import repeat
from math import exp, log, sqrt
from operator import itemgetter
from statistics import fmean, stdev
from typing import NamedTuple

from cigri import package_files
from cigri.settings.algorithms import names
from modules.laboratory.evaluation.results import SimulationResults
from modules.laboratory.report.formatting import percent, times
from modules.operator.simulate import simulate
from tests.bench.table import Row, row

SEEDS = (1, 2, 3, 4, 5, 6)
SCENARIOS = ("idle", "bursty", "daynight", "wide", "tiny", "sick", "crowd", "tail", "again", "waves")
OURS = "lean"
ALGORITHMS = (OURS, *(name for name in names() if name != OURS))
POLICIES = ("affinity", "fairshare", "eta")
OF_SEVERAL_USERS = ("wide", "crowd")
CLOSE = 0.005  # of a figure: no difference
REASONS = {
    "bursty": "long tasks that a burst kills near the end begin anew where a core is free first, on slow clusters, too",
    "daynight": "less than a cycle, which is 0.020 of the bound",
    "wide": "little more than a cycle, which is 0.019 of the bound",
    "tiny": "all is sent in two or three cycles, before anything is measured",
    "crowd": "lean leaves the last places to the last user, as fifo wants it, and his tasks are long; those that send "
    "a little of each campaign at a time end with the shorter ones of the giant",
    "tail": "chance decides where the longest tasks begin: the differences are about as large as their errors",
    "again": "in two of six seeds: the longest task is killed late under all but tap, and the last ones wait under "
    "lean on a cluster whose cores local users have taken meanwhile",
}
UNKNOWN = "why is not known yet"


class Variant(NamedTuple):
    algorithm: str
    policy: str = "fifo"


class Figures(NamedTuple):
    """Means over the seeds; None: of nothing. `stretch` makespan over its bound, None if it did not end each time."""

    harvested: float
    stretch: float | None
    quickest: float
    slowest: float
    over_blind: float | None
    delay: float | None
    avoidable: float | None
    unavoidable: float | None
    jain: float | None
    calibration: float | None
    commands: float


def measure(size: int = len(SCENARIOS)) -> Iterator[Row]:
    """`size` scenarios, all variants of one together, as many simulations at a time as there are processors."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), spawning) as pool:
        for scenario, played in [(scenario, _started(pool, scenario)) for scenario in SCENARIOS[:size]]:
            yield from rows(scenario, {variant: list(results) for variant, results in played.items()})


def _started(pool: Executor, scenario: str) -> dict[Variant, Iterator[SimulationResults]]:
    chosen = variants(scenario)
    return {one: pool.map(_simulated, repeat(scenario), repeat(one), SEEDS) for one in chosen}


def variants(scenario: str) -> list[Variant]:
    """Of a single user every policy makes the same of it."""
    policies = POLICIES if scenario in OF_SEVERAL_USERS else ()
    return [*map(Variant, ALGORITHMS), *(Variant(OURS, policy) for policy in policies)]


def rows(scenario: str, played: Mapping[Variant, Sequence[SimulationResults]]) -> Iterator[Row]:
    """One for each variant; the ratio is that of what was harvested to what ours did."""
    found = {variant: figures(results) for variant, results in played.items()}
    ours = found[Variant(OURS)]
    for variant, one in found.items():
        behind = _behind(played) if variant == Variant(OURS) else []
        why = f"; not ahead in {' and '.join(behind)}: {REASONS.get(scenario, UNKNOWN)}" if behind else ""
        name = f"{scenario}: {variant.algorithm}, {variant.policy}"
        ratio = f"{one.harvested / ours.harvested:.3f}" if ours.harvested else ""
        yield row(f"scheduling, {name}", f"{percent(one.harvested)} harvested", _more(one) + why, ratio)


def figures(played: Sequence[SimulationResults]) -> Figures:
    """Of the same simulation with several seeds."""
    grids, ends = [one.grid for one in played], [one.stretch for one in played if one.stretch is not None]
    return Figures(
        fmean(grid.harvested_share or 0.0 for grid in grids),
        fmean(ends) if len(ends) == len(played) else None,
        min(ends, default=0.0),
        max(ends, default=0.0),
        _mean(one.over_blind for one in played),
        _mean(grid.delay_share for grid in grids),
        _mean(grid.avoidable_share for grid in grids),
        _mean(grid.unavoidable_share for grid in grids),
        _mean(one.jain for one in played),
        _mean(one.expectation.calibration for one in played),
        fmean(grid.commands for grid in grids),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _simulated(scenario: str, variant: Variant, seed: int) -> SimulationResults:
    settings = [(("forecast", "algorithm"), variant.algorithm), (("policy", "order"), variant.policy)]
    return simulate(package_files.directory("etc") / "scenarios" / f"{scenario}.toml", settings, seed)


def _behind(played: Mapping[Variant, Sequence[SimulationResults]]) -> list[str]:
    """The figures in which a rival is better by more than nothing, and how much the best of them is."""
    ours = played[Variant(OURS)]
    rivals = {variant.algorithm: results for variant, results in played.items() if variant.algorithm != OURS}
    behind = []
    if rivals:
        name, most = max(((name, figures(rival).harvested) for name, rival in rivals.items()), key=itemgetter(1))
        if figures(ours).harvested < most * (1 - CLOSE):
            behind.append(f"what is harvested ({name}: {percent(most)})")
    ends = {name: _ratio(rival, ours) for name, rival in rivals.items() if figures(rival).stretch is not None}
    if ends:
        name, (best, error) = min(ends.items(), key=lambda pair: pair[1][0])
        if best < 1 - CLOSE:
            behind.append(f"makespan ({name} needs {times(best)} of it, \N{PLUS-MINUS SIGN} {error:.3f})")
    return behind


def _ratio(rival: Sequence[SimulationResults], ours: Sequence[SimulationResults]) -> tuple[float, float]:
    """The mean ratio of makespans, seed by seed, and its standard error; what never ended took all the time."""
    logs = [
        log((one.makespan or one.seconds) / (own.makespan or own.seconds)) for one, own in zip(rival, ours, strict=True)
    ]
    error = stdev(logs) / sqrt(len(logs)) if len(logs) > 1 else 0.0
    return exp(fmean(logs)), error


def _more(found: Figures) -> str:
    span = f" ({found.quickest:.3f} to {found.slowest:.3f})" if found.slowest > found.quickest else ""
    blind = f", {times(found.over_blind)} of list scheduling" if found.over_blind else ""
    facts = {
        "makespan": f"{times(found.stretch)} of the bound{span}{blind}" if found.stretch else "not ended",
        "local jobs delayed": percent(found.delay),
        "wasted, avoidable": percent(found.avoidable),
        "other kills": percent(found.unavoidable),
        "Jain": f"{found.jain:.2f}" if found.jain is not None else "",
        "ends foretold": percent(found.calibration),
        "commands": f"{found.commands:.0f}",
    }
    return "; ".join(f"{name} {value}" for name, value in facts.items() if value)
