"""The model of U. Lublin and D. G. Feitelson for rigid jobs, all jobs taken together (not batch and interactive apart).

"The workload on parallel supercomputers: modeling the characteristics of rigid jobs", Journal of Parallel and
Distributed Computing 63(11), 1105-1122, 2003; the parameters are those of the authors' own program (Parallel Workloads
Archive, m_lublin99). It has no users and no walltimes: these come from `people`.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import exp, inf, lgamma, log, log2
from random import Random
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from cigri.formats.units import HOUR
from modules.laboratory.load.job import LocalJob
from modules.laboratory.load.submitters import pick_name, pick_walltime

# The cumulative distribution of the gamma distribution, which the standard library does not have.

PRECISION = 1e-14


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """The chance that a variable is at most x; the series 6.5.29 of Abramowitz and Stegun."""
    if x <= 0:
        return 0.0
    z = x / scale
    term = total = exp(shape * log(z) - z - lgamma(shape + 1))
    divisor = shape
    while term > PRECISION * total or z > divisor:
        divisor += 1
        term *= z / divisor
        total += term
    return min(1.0, total)


SERIAL = 0.244  # share of the jobs that take one core
POWER_OF_TWO = 0.576  # share of the jobs whose size is made a power of two
LOWEST, TO_MIDDLE, FIRST_STAGE = 0.8, 2.5, 0.86  # log2 of the size: from, highest - middle, share below the middle


class GammaParameters(NamedTuple):
    shape: float
    scale: float


SHORT_RUNS = GammaParameters(4.2, 0.94)  # natural logarithm of the run time in seconds
LONG = GammaParameters(312.0, 0.03)
SHORT_SLOPE, SHORT_AT_ZERO = -0.0054, 0.78  # share of short jobs by their cores
LONGEST_RUN = 12.0  # logarithm, two days; longer ones are drawn again

GAP_BETWEEN_JOBS = GammaParameters(
    10.2303 * 1.0225, 0.4871
)  # logarithm of the time between jobs; 1.0225 leads from rush hours to all hours
LONGEST_GAP = 13.0
DAY = GammaParameters(8.1737, 3.9631)  # half hours of a day that begins with its 11th, five in the morning
FIRST_SLOT, SLOTS, SLOT = 11, 48, 1800.0


class LublinLoad(BaseModel):
    """The model on a cluster of any size; `utilisation` is the load offered, None: as many jobs as in the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["lublin"]
    utilisation: Annotated[float, Field(gt=0, le=2)] | None = None
    start_hour: Annotated[float, Field(ge=0, lt=24)] = 0.0


def jobs(load: LublinLoad, cores: int, seconds: float, random: Random) -> Iterator[LocalJob]:
    """Jobs until `seconds`, without end if that is infinite."""
    pace = 1.0 if load.utilisation is None else load.utilisation / natural_load(cores)
    for submitted in arrivals(random, pace, load.start_hour):
        if submitted >= seconds:
            return
        size = pick_size(random, cores)
        run = pick_seconds(random, size)
        yield LocalJob(submitted, size, run, pick_walltime(random, run), pick_name(random))


def pick_size(random: Random, cores: int) -> int:
    """Cores of a job on a cluster of so many: one, or two to a power that is uniform in two stages."""
    kind = random.random()
    if kind <= SERIAL or cores == 1:
        return 1
    lowest, middle, highest = _stages(cores)
    below = random.random() <= FIRST_STAGE
    power = random.uniform(lowest, middle) if below else random.uniform(middle, highest)
    if kind <= SERIAL + POWER_OF_TWO:
        power = int(power + 0.5)
    return min(cores, int(2**power + 0.5))


def pick_seconds(random: Random, size: int) -> float:
    """The run time of a job of so many cores: the wider, the likelier a long one."""
    logarithm = inf
    while logarithm > LONGEST_RUN:
        drawn = SHORT_RUNS if random.random() <= share_of_short(size) else LONG
        logarithm = random.gammavariate(*drawn)
    return exp(logarithm)


def share_of_short(size: int) -> float:
    """The probability that the run time of a job of so many cores is drawn from the short ones, from 0 to 1."""
    return min(1.0, max(0.0, SHORT_SLOPE * size + SHORT_AT_ZERO))


def arrivals(random: Random, pace: float, start_hour: float) -> Iterator[float]:
    """Seconds since a start at this hour of the day, ever later; a pace of 2 is twice as many jobs."""
    weights = day_weights()
    slot, spent = divmod(start_hour * HOUR / SLOT, 1.0)
    position, now = int(slot), 0.0
    while True:
        points = _gap(random) / pace / SLOT
        while points >= (left := (1.0 - spent) * weights[position]):
            points -= left
            now += (1.0 - spent) * SLOT
            position, spent = (position + 1) % SLOTS, 0.0
        share = points / weights[position]
        spent += share
        now += share * SLOT
        yield now


@cache
def day_weights() -> tuple[float, ...]:
    """The jobs of each half hour of a day from midnight on; 1 on average."""
    edges = [gamma_cdf(slot + 0.5, *DAY) for slot in range(FIRST_SLOT - 1, FIRST_SLOT + SLOTS)]
    shares = [after - before for before, after in pairwise(edges)]
    mean = sum(shares) / SLOTS
    from_midnight = SLOTS - (FIRST_SLOT - 1)
    return tuple(share / mean for share in shares[from_midnight:] + shares[:from_midnight])


def natural_load(cores: int) -> float:
    """The expected share of a cluster that the model's jobs ask for."""
    work = sum(chance * size * mean_seconds(size) for size, chance in size_chances(cores).items())
    return work / mean_gap() / cores


def mean_gap() -> float:
    """Expected seconds between two jobs."""
    return _mean_exp(GAP_BETWEEN_JOBS, LONGEST_GAP) / gamma_cdf(LONGEST_GAP, *GAP_BETWEEN_JOBS)


def mean_seconds(size: int) -> float:
    """Expected run time of a job of so many cores."""
    short = share_of_short(size)
    kept = short * gamma_cdf(LONGEST_RUN, *SHORT_RUNS) + (1 - short) * gamma_cdf(LONGEST_RUN, *LONG)
    return (short * _mean_exp(SHORT_RUNS, LONGEST_RUN) + (1 - short) * _mean_exp(LONG, LONGEST_RUN)) / kept


def size_chances(cores: int) -> dict[int, float]:
    """The chance of each size that pick_size may give."""
    if cores == 1:
        return {1: 1.0}
    chances = {1: SERIAL}
    for power in range(int(log2(cores) + 0.5) + 1):
        size = min(cores, 2**power)
        chance = _power_cdf(power + 0.5, cores) - _power_cdf(power - 0.5, cores)
        chances[size] = chances.get(size, 0.0) + POWER_OF_TWO * chance
    for size in range(1, cores + 1):
        upper = 1.0 if size == cores else _power_cdf(log2(size + 0.5), cores)
        chance = upper - _power_cdf(log2(size - 0.5), cores)
        chances[size] = chances.get(size, 0.0) + (1 - SERIAL - POWER_OF_TWO) * chance
    return chances


def _stages(cores: int) -> tuple[float, float, float]:
    """Where log2 of the sizes begins, bends and ends; on a small cluster it bends half way."""
    highest = log2(cores)
    return LOWEST, max(highest - TO_MIDDLE, (LOWEST + highest) / 2), highest


def _power_cdf(power: float, cores: int) -> float:
    lowest, middle, highest = _stages(cores)
    first = (power - lowest) / (middle - lowest)
    second = (power - middle) / (highest - middle)
    return FIRST_STAGE * min(1.0, max(0.0, first)) + (1 - FIRST_STAGE) * min(1.0, max(0.0, second))


def _gap(random: Random) -> float:
    logarithm = inf
    while logarithm > LONGEST_GAP:
        logarithm = random.gammavariate(*GAP_BETWEEN_JOBS)
    return exp(logarithm)


def _mean_exp(gamma: GammaParameters, largest: float) -> float:
    """Of e to the power of a gamma variable (scale below 1), where that is at most `largest`."""
    whole = (1 - gamma.scale) ** -gamma.shape
    return float(whole * gamma_cdf(largest, gamma.shape, gamma.scale / (1 - gamma.scale)))
