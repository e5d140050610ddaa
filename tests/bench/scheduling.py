"""Every algorithm and policy in the scenarios that come with CiGri: what is harvested, wasted, delayed, and how soon.

Most of an hour: not measured unless it is named. The algorithms take their turns under the policy fifo, the policies
with lean where there are several users. Where ours is not ahead, its row says so, and why if somebody has looked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cigri import shipped
from cigri.algorithms import names
from modules.laboratory.report.words import percent, times
from modules.laboratory.results import Results
from modules.operator.simulate import simulate
from tests.bench.table import Row, row

SCENARIOS = ("idle", "bursty", "daynight", "wide", "tiny", "sick", "crowd", "tail", "again")
OURS = "lean"
ALGORITHMS = (OURS, *(name for name in names() if name != OURS))
POLICIES = ("affinity", "fairshare", "eta")
OF_SEVERAL_USERS = ("wide", "crowd")
CLOSE = 0.005  # of a figure: no difference
REASONS = {
    "tiny": "all is sent in two or three cycles, before anything is measured",
    "crowd": "by three cycles: the last tasks wait on slow clusters when the fastest has free cores again",
    "tail": "chance decides where the longest tasks begin: slow-start needs 0.84, 0.93, 0.98, 1.00, 1.22 times as long "
    "(seeds 5, 6, 1, 4, 7); but lean keeps up to 46 jobs waiting for 16 cores, the last of them while others idle",
}
UNKNOWN = "why is not known yet"


class Variant(NamedTuple):
    algorithm: str
    policy: str = "fifo"


def measure(size: int = len(SCENARIOS)) -> Iterator[Row]:
    """`size` scenarios, all variants of one together."""
    for scenario in SCENARIOS[:size]:
        yield from rows(scenario, {variant: _simulated(scenario, variant) for variant in variants(scenario)})


def variants(scenario: str) -> list[Variant]:
    """Of a single user every policy makes the same of it."""
    policies = POLICIES if scenario in OF_SEVERAL_USERS else ()
    return [*map(Variant, ALGORITHMS), *(Variant(OURS, policy) for policy in policies)]


def rows(scenario: str, found: Mapping[Variant, Results]) -> Iterator[Row]:
    """One for each variant; the ratio is that of what was harvested to what ours did."""
    ours = found[Variant(OURS)]
    rivals = [results for variant, results in found.items() if variant.algorithm != OURS]
    for variant, results in found.items():
        harvested, best = results.grid.harvested_share or 0.0, ours.grid.harvested_share
        behind = _behind(ours, rivals) if variant == Variant(OURS) else []
        why = f"; not ahead in {' and '.join(behind)}: {REASONS.get(scenario, UNKNOWN)}" if behind else ""
        name = f"{scenario}: {variant.algorithm}, {variant.policy}"
        ratio = f"{harvested / best:.3f}" if best else ""
        yield row(f"scheduling, {name}", f"{percent(harvested)} harvested", _more(results) + why, ratio)


def _simulated(scenario: str, variant: Variant) -> Results:
    settings = [(("forecast", "algorithm"), variant.algorithm), (("policy", "order"), variant.policy)]
    return simulate(shipped.directory("etc") / "scenarios" / f"{scenario}.toml", settings)


def _behind(ours: Results, rivals: Sequence[Results]) -> list[str]:
    """The figures in which a rival is better by more than nothing."""
    most = max((rival.grid.harvested_share or 0.0 for rival in rivals), default=0.0)
    ends = [rival.makespan for rival in rivals if rival.makespan is not None]
    is_late = bool(ends) and (ours.makespan is None or ours.makespan > min(ends) * (1 + CLOSE))
    found = {"what is harvested": (ours.grid.harvested_share or 0.0) < most - CLOSE, "makespan": is_late}
    return [figure for figure, is_worse in found.items() if is_worse]


def _more(found: Results) -> str:
    blind = f", {times(found.over_blind)} of list scheduling" if found.over_blind else ""
    facts = {
        "makespan": f"{times(found.stretch)} of the bound{blind}" if found.stretch else "not ended",
        "local jobs delayed": percent(found.grid.delay_share),
        "wasted, avoidable": percent(found.grid.avoidable_share),
        "other kills": percent(found.grid.unavoidable_share),
        "Jain": f"{found.jain:.2f}" if found.jain is not None else "",
        "ends foretold": percent(found.expectation.calibration),
        "commands": str(found.grid.commands),
    }
    return "; ".join(f"{name} {value}" for name, value in facts.items() if value)
