"""The model of Lublin and Feitelson has the moments that its published parameters say."""

from itertools import islice, pairwise
from math import log, log2
from random import Random
from statistics import fmean, pvariance

import pytest

from modules.laboratory.load import lublin
from modules.laboratory.load.lublin import gamma_cdf
from tests.laboratory.load.offered import DAY, core_seconds, described, jobs

MANY = 40_000


@pytest.mark.parametrize(
    ("x", "shape", "scale", "expected"),
    [
        (1.0, 1.0, 1.0, 0.6321205588),  # 1 - 1/e
        (3.0, 2.0, 1.0, 0.8008517265),  # 1 - 4 exp(-3)
        (9.36, 312.0, 0.03, 0.5075286),  # the mean of a nearly normal one: 1/2 + 1/(3 sqrt(2 pi 312))
        (100.0, 2.0, 1.0, 1.0),
        (0.0, 2.0, 1.0, 0.0),
    ],
)
def test_the_gamma_distribution(x: float, shape: float, scale: float, expected: float) -> None:
    assert gamma_cdf(x, shape, scale) == pytest.approx(expected, abs=1e-5)


def test_sizes_of_a_cluster_of_128_cores() -> None:
    random = Random(1)
    sizes = [lublin.pick_size(random, 128) for _ in range(MANY)]
    assert sizes.count(1) / MANY == pytest.approx(0.244, abs=0.01)
    assert sum(log2(size).is_integer() for size in sizes) / MANY > 0.244 + 0.576
    assert max(sizes) == 128
    middle = 2**4.5  # 86 % of the parallel jobs are narrower than where the distribution bends
    parallel = [size for size in sizes if size > 1]
    assert sum(size < middle for size in parallel) / len(parallel) == pytest.approx(0.86, abs=0.01)


@pytest.mark.parametrize("cores", [1, 2, 3, 10, 100, 128, 1000])
def test_chances_of_sizes_are_those_that_are_drawn(cores: int) -> None:
    random = Random(2)
    chances = lublin.size_chances(cores)
    sizes = [lublin.pick_size(random, cores) for _ in range(MANY)]
    assert sum(chances.values()) == pytest.approx(1)
    assert set(sizes) <= {size for size, chance in chances.items() if chance > 0}
    expected = sum(log2(size) * chance for size, chance in chances.items())
    assert fmean(map(log2, sizes)) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("size", [1, 64, 128, 1000])
def test_run_times_are_hyper_gamma(size: int) -> None:
    """Mean and variance of the logarithm: a b and a b^2 of each gamma, mixed; only few are cut at two days."""
    random = Random(3)
    logarithms = [log(lublin.pick_seconds(random, size)) for _ in range(MANY)]
    p = max(0.0, 0.78 - 0.0054 * size)
    short, long = 4.2 * 0.94, 312 * 0.03
    mean = p * short + (1 - p) * long
    variance = p * (4.2 * 0.94**2 + short**2) + (1 - p) * (312 * 0.03**2 + long**2) - mean**2
    assert fmean(logarithms) == pytest.approx(mean, rel=0.01)
    assert pvariance(logarithms) == pytest.approx(variance, rel=0.04)
    assert max(logarithms) <= 12


def test_the_expected_run_time_is_the_mean() -> None:
    random = Random(4)
    for size in (1, 128):
        drawn = fmean(lublin.pick_seconds(random, size) for _ in range(MANY))
        assert drawn == pytest.approx(lublin.mean_seconds(size), rel=0.03)


def test_the_logarithm_of_gaps_is_gamma_when_every_hour_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lublin, "day_weights", lambda: (1.0,) * lublin.SLOTS)
    times = list(islice(lublin.arrivals(Random(5), 1.0, 0.0), MANY))
    logarithms = [log(late - early) for early, late in pairwise(times)]
    shape, scale = 10.2303 * 1.0225, 0.4871
    assert fmean(logarithms) == pytest.approx(shape * scale, rel=0.01)
    assert pvariance(logarithms) == pytest.approx(shape * scale**2, rel=0.04)


def test_jobs_come_by_the_daily_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lublin, "_gap", lambda random: 10.0)
    weights = lublin.day_weights()
    assert fmean(weights) == pytest.approx(1)
    assert max(weights) == weights[27]  # half past one in the afternoon
    assert min(weights) == weights[10]  # five in the morning
    start = 6.0
    slots = [0] * 48
    for now in islice(lublin.arrivals(Random(6), 1.0, start), 10 * 8640):
        slots[int((now + start * 3600) % DAY // 1800)] += 1
    for counted, weight in zip(slots, weights, strict=True):
        assert counted / sum(slots) * 48 == pytest.approx(weight, abs=0.01)


def test_arrivals_are_as_many_as_expected() -> None:
    times = list(islice(lublin.arrivals(Random(7), 2.0, 0.0), MANY))
    assert times[-1] / MANY == pytest.approx(lublin.mean_gap() / 2, rel=0.05)


def test_a_machine_of_128_cores_is_loaded_as_the_authors_machines_were() -> None:
    assert lublin.natural_load(128) == pytest.approx(0.72, abs=0.01)


@pytest.mark.parametrize(("utilisation", "cores"), [(0.3, 16), (0.9, 500)])
def test_the_load_can_be_asked_for(utilisation: float, cores: int) -> None:
    long = 300 * DAY
    found = jobs(described(kind="lublin", utilisation=utilisation), cores=cores, seconds=long)
    offered = sum(job.cores * job.seconds for job in found) / (cores * long)
    assert offered == pytest.approx(utilisation, rel=0.08)
    assert core_seconds(found, 0, long) > 0


def test_the_offered_load_is_the_models_own_when_none_is_asked_for() -> None:
    found = jobs(described(kind="lublin"), cores=128, seconds=300 * DAY)
    offered = sum(job.cores * job.seconds for job in found) / (128 * 300 * DAY)
    assert offered == pytest.approx(0.72, rel=0.08)
