"""How much a campaign is sent to a cluster: each algorithm is a pure function `predict` in a file of its own.

Its name in `forecast.algorithm` is that of the file, with hyphens. docs/explanation/prediction.md says which does what.
"""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from cigri.errors import ConfigError
from cigri.settings.algorithms import names

MOST_JOBS = 1000.0  # jobs per core; more has no meaning, and doubles without end
NO_MEMORIES: Mapping[str, float] = MappingProxyType({})


class AlgorithmInputs(NamedTuple):
    """A campaign on a cluster: what was forecast and sent, what runs and waits there, how the cluster serves us.

    Jobs: `running`, `waiting` of this campaign, `submitted` since the last forecast; `keep_waiting` and `max_waiting`
    as the cluster is configured. Cores: `width` of a job, `total`, `free`; `ratio` and `free_before` are those of the
    last forecast, None at first. Seconds: `cycle` between two forecasts, `visit_interval` between two looks at the
    cluster, `sending` from the choice of a job to its place in the queue, `mean` and `deviation` of a task, `walltime`,
    `queue_delay` from submission to start when cores are free. Per second: `start_rate` jobs that the cluster can
    start, `arrivals`, `releases` cores that others take and give back. `hazard`: kills per core-second of ours.
    `ending`: cores of ours expected to be free again before the next jobs can start (None: nothing is known), with the
    `ending_deviation` of that number. `others`: cores that are not ours; `largest_load_change`: the most of them that
    were taken or given back at once; `load_change_square_sum`, `net_load_change`: the sums of the squares of such
    changes and of themselves in the `observed_seconds` seconds. `memory`: what the algorithm kept. `is_fresh`: the
    cluster was looked at since the last forecast.
    """

    width: int
    running: int = 0
    waiting: int = 0
    submitted: int = 0
    ratio: float | None = None
    free_before: int | None = None
    total: int = 0
    free: int = 0
    keep_waiting: int = 20
    max_waiting: int = 200
    cycle: float = 10.0
    visit_interval: float = 0.0
    sending: float = 0.0
    mean: float | None = None
    deviation: float | None = None
    walltime: float = 3600.0
    start_rate: float | None = None
    queue_delay: float | None = None
    arrivals: float = 0.0
    releases: float = 0.0
    hazard: float = 0.0
    ending: float | None = None
    ending_deviation: float = 0.0
    others: int = 0
    largest_load_change: int = 0
    load_change_square_sum: float = 0.0
    net_load_change: float = 0.0
    observed_seconds: float = 0.0
    memory: Mapping[str, float] = NO_MEMORIES
    is_fresh: bool = True


class Prediction(NamedTuple):
    """`ratio` jobs per core, above 0; `keep` jobs waiting there behind what can start at once; `send` jobs now.

    None: `keep` as the cluster is configured; `send` as ratio, free cores and keep allow, instead of whatever is free.
    """

    ratio: float
    keep: int | None = None
    send: int | None = None
    memory: Mapping[str, float] = NO_MEMORIES


PredictFlow = Callable[[AlgorithmInputs], Prediction]


def load(name: str) -> PredictFlow:
    """The algorithm of that name; raise ConfigError when there is none."""
    if name not in names():
        raise ConfigError(f"there is no algorithm {name!r}; there are: {', '.join(names())}")
    predict: PredictFlow = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").predict
    return predict


def bounded(ratio: float, flow: AlgorithmInputs) -> float:
    """The ratio, in jobs per core: at least one job on the whole cluster, at most MOST_JOBS per core."""
    return min(max(ratio, 1.0 / max(flow.total, flow.width, 1)), MOST_JOBS)


def excess(flow: AlgorithmInputs) -> int:
    """Jobs waiting beyond the allowed ones, at or below 0 when there are none too many."""
    return flow.waiting - flow.keep_waiting
