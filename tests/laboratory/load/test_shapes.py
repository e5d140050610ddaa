"""The simple loads offer exactly what is asked."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cigri.errors import ConfigError
from tests.laboratory.load.offered import DAY, HOUR, core_seconds, described, jobs

WIDTHS = st.lists(st.integers(1, 8), min_size=1, max_size=3)
DURATIONS = st.lists(st.floats(60, 7200), min_size=1, max_size=3)


def test_no_load_is_no_job() -> None:
    assert jobs(described(kind="none")) == []


@settings(deadline=None, max_examples=30)
@given(st.floats(0, 1), st.integers(8, 60), WIDTHS, DURATIONS, st.integers(0, 5))
def test_a_constant_load_holds_its_share_at_every_moment(
    share: float, cores: int, widths: list[int], durations: list[float], seed: int
) -> None:
    load = described(kind="constant", utilisation=share, widths=widths, durations=durations)
    found = jobs(load, cores=cores, seconds=6 * HOUR, seed=seed)
    for moment in (0.5, HOUR, 3.3 * HOUR, 5.9 * HOUR):
        held = sum(job.cores for job in found if job.submitted <= moment < job.submitted + job.seconds)
        assert abs(held - share * cores) <= min(widths)


def test_what_is_less_than_a_width_is_held_part_of_the_time() -> None:
    load = described(kind="constant", utilisation=0.5, widths=[8], durations=[600])
    offered = core_seconds(jobs(load, cores=10, seconds=20 * DAY), 0, 20 * DAY)
    assert offered / (10 * 20 * DAY) == pytest.approx(0.5, abs=0.02)


def test_jobs_have_the_widths_and_durations_asked_for() -> None:
    found = jobs(described(kind="constant", utilisation=1, widths=[1, 3], durations=[300, 900]))
    assert {job.cores for job in found} == {1, 3}
    assert {job.seconds for job in found if job.submitted >= 900} == {300, 900}


def test_a_steady_load_is_in_the_midst_of_its_jobs_at_the_start() -> None:
    first = [job.seconds for job in jobs(described(kind="constant", utilisation=1)) if job.submitted == 0]
    assert len(first) == 100
    assert min(first) < 600 < 3000 < max(first) < 3600


def test_day_and_night_have_their_shares() -> None:
    load = described(kind="daynight", day=0.9, night=0.2, durations=[5000, 700])
    found = jobs(load, seconds=7 * DAY)
    for day in range(7):
        noon = core_seconds(found, day * DAY + 8 * HOUR, day * DAY + 19 * HOUR) / (100 * 11 * HOUR)
        night = core_seconds(found, day * DAY + 19 * HOUR, day * DAY + 24 * HOUR) / (100 * 5 * HOUR)
        assert noon == pytest.approx(0.9 if day < 5 else 0.2)
        assert night == pytest.approx(0.2)


def test_the_night_may_be_the_busy_time() -> None:
    found = jobs(described(kind="daynight", day=0.1, night=0.8, working=["08:00-20:00"]))
    assert core_seconds(found, 8 * HOUR, 20 * HOUR) / (100 * 12 * HOUR) == pytest.approx(0.1)
    assert core_seconds(found, 20 * HOUR, 24 * HOUR) / (100 * 4 * HOUR) == pytest.approx(0.8)
    assert core_seconds(found, 0, 8 * HOUR) / (100 * 8 * HOUR) == pytest.approx(0.8)


def test_a_scenario_may_begin_on_a_friday_afternoon() -> None:
    found = jobs(described(kind="daynight", day=1, night=0, start_hour=4 * 24 + 17), seconds=2 * DAY)
    assert core_seconds(found, 0, 2 * HOUR) == pytest.approx(100 * 2 * HOUR)
    assert core_seconds(found, 2 * HOUR, 2 * DAY) == 0


def test_hours_that_never_end_are_a_constant_load() -> None:
    found = jobs(described(kind="daynight", day=0.5, night=0, working=["mon-sun"]))
    assert core_seconds(found, 0, DAY) == pytest.approx(0.5 * 100 * DAY)


def test_a_burst_takes_its_share_at_once() -> None:
    load = described(kind="bursty", share=0.5, lasts=1200, every=4 * HOUR, durations=[600], utilisation=0.2)
    found = jobs(load, seconds=3 * DAY)
    steady = jobs(described(kind="constant", utilisation=0.2, durations=[600]), seconds=3 * DAY)
    at_once = Counter(job.submitted for job in found)
    bursts = [start for start, count in at_once.items() if count >= 50]
    assert 20 < len(bursts) < 60  # two batches of jobs for each of about 18 bursts
    assert {at_once[start] for start in bursts} == {50}
    share = core_seconds(found, 0, 3 * DAY) - core_seconds(steady, 0, 3 * DAY)
    assert share / (50 * 600) == pytest.approx(len(bursts), abs=1)


def test_bursts_come_as_often_as_asked() -> None:
    found = jobs(described(kind="bursty", share=1, lasts=600, every=HOUR, durations=[600]), cores=1, seconds=100 * DAY)
    assert len(found) == pytest.approx(2400, rel=0.1)
    assert all(late.submitted >= early.submitted + 600 for early, late in pairwise(found))


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "constant", "utilisation": 0.6, "widths": [1, 4]},
        {"kind": "daynight", "day": 0.9, "night": 0.4},
        {"kind": "bursty", "share": 0.5, "lasts": 600, "every": 3600, "utilisation": 0.2},
        {"kind": "lublin"},
    ],
    ids=lambda load: str(load["kind"]),
)
def test_a_load_is_sorted_and_the_seed_decides_it(load: dict[str, object]) -> None:
    found = jobs(described(**load))
    assert found == jobs(described(**load))
    assert found != jobs(described(**load), seed=2)
    assert found == sorted(found, key=lambda job: job.submitted)
    assert 0 <= found[0].submitted <= found[-1].submitted < DAY
    assert all(job.walltime >= job.seconds for job in found)


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "bursty", "share": 0, "lasts": 600, "every": 3600},
        {"kind": "daynight", "day": 0.5, "night": 0.5},
        {"kind": "constant", "utilisation": 1e-300},
    ],
    ids=lambda load: str(load["kind"]),
)
def test_a_load_with_nothing_to_offer_ends(load: dict[str, object]) -> None:
    found = jobs(described(**load))
    assert len(found) == (50 * 24 + 50 if load["kind"] == "daynight" else 0)


def test_a_job_wider_than_the_cluster_is_refused() -> None:
    with pytest.raises(ConfigError, match="8 cores do not fit a cluster of 4"):
        jobs(described(kind="constant", utilisation=1, widths=[1, 8]), cores=4)


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "constant"},
        {"kind": "constant", "utilisation": 1.1},
        {"kind": "constant", "utilisation": 0.5, "width": 3},
        {"kind": "constant", "utilisation": 0.5, "durations": []},
        {"kind": "daynight", "day": 1, "night": 0, "working": ["somewhen"]},
        {"kind": "bursty", "share": 0.5, "lasts": 600, "every": 600},
        {"kind": "bursty", "share": 0.5, "lasts": 600, "every": 3600, "utilisation": 0.6},
        {"kind": "lots"},
    ],
)
def test_a_wrong_description_is_an_error(load: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        described(**load)
