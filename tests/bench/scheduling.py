"""Every algorithm and policy in every scenario that comes with CiGri: what is harvested, wasted, delayed, and how soon.

Hours: not measured unless it is named. The algorithms take their turns under the policy fifo, the policies with lean.
"""

from collections.abc import Iterator

from cigri import shipped
from modules.laboratory.report.words import percent, times
from modules.laboratory.results import Results
from modules.operator.simulate import simulate
from tests.bench.table import Row, row

SCENARIOS = ("idle", "bursty", "daynight", "wide", "tiny", "sick", "crowd", "tail")
ALGORITHMS = (
    "lean",
    "simple",
    "slow-start",
    "two-way-adaptive",
    "adaptive-down-exponential-up",
    "tap",
    "pi",
    "model-free",
)
POLICIES = ("affinity", "fairshare", "eta")
VARIANTS = [(algorithm, "fifo") for algorithm in ALGORITHMS] + [("lean", policy) for policy in POLICIES]


def measure(size: int = len(SCENARIOS)) -> Iterator[Row]:
    """`size` scenarios."""
    for scenario in SCENARIOS[:size]:
        best = 0.0
        for algorithm, policy in VARIANTS:
            settings = [(("forecast", "algorithm"), algorithm), (("policy", "order"), policy)]
            found = simulate(shipped.directory("etc") / "scenarios" / f"{scenario}.toml", settings)
            harvested = found.grid.harvested_share or 0.0
            best = best or harvested
            ratio = f"{harvested / best:.3f}" if best else ""
            yield row(f"{scenario}: {algorithm}, {policy}", f"{percent(harvested)} harvested", _more(found), ratio)


def _more(found: Results) -> str:
    facts = {
        "makespan": f"{times(found.stretch)} of the bound" if found.stretch else "not ended",
        "local jobs delayed": percent(found.grid.delay_share),
        "wasted, avoidable": percent(found.grid.avoidable_share),
        "Jain": f"{found.jain:.2f}" if found.jain is not None else "",
        "ends foretold": percent(found.expectation.calibration),
        "commands": str(found.grid.commands),
    }
    return "; ".join(f"{name} {value}" for name, value in facts.items() if value)
