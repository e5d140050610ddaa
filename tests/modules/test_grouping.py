"""How many tasks travel in one job."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.flow.updator_to_campaign_schedulers import Pace
from modules.campaign_schedulers.grouping import (
    NOTICE,
    SHARE,
    TASK_START,
    Room,
    longest,
    start_rate,
    tasks_per_job,
)

TARGET = 60.0
ROOM = Room(here=36, everywhere=36, walltime=3600)


def a_pace(mean: float = 0.01, rate: float = 20.0, done: int = 100_000, waiting: int = 10_000_000) -> Pace:
    starts = [number / rate for number in range(100)]
    return Pace(1, 1, True, done, done * mean, done * mean**2, 0, starts, 0, 0.0, waiting)


paces = st.builds(
    Pace,
    st.just(1),
    st.just(1),
    st.booleans(),
    st.integers(0, 10_000),
    st.floats(0, 1e6),
    st.floats(0, 1e9),
    st.integers(0, 100),
    st.lists(st.floats(0, 1e4), max_size=30),
    st.integers(0, 30),
    st.floats(0, 1e5),
    st.integers(0, 10**7),
)
rooms = st.builds(Room, st.integers(1, 10_000), st.integers(1, 100_000), st.integers(1, 10**6))


@given(pace=paces, room=rooms, target=st.floats(0, 1e4))
def test_always_at_least_one_and_never_more_than_was_measured_or_fits_the_walltime(
    pace: Pace, room: Room, target: float
) -> None:
    tasks = tasks_per_job(pace, room, target)
    assert 1 <= tasks <= max(1, pace.done)
    assert tasks == 1 or longest(tasks, pace) <= room.walltime - NOTICE


@given(mean=st.floats(0.0, 100.0), rate=st.floats(0.5, 100.0), here=st.integers(1, 1000))
def test_a_job_lasts_the_target_or_what_the_batch_system_needs(mean: float, rate: float, here: int) -> None:
    pace, each = a_pace(mean, rate, done=10**8, waiting=10**10), mean + TASK_START
    needed = here / (SHARE * (start_rate(pace.starts) or 0.0))
    tasks = tasks_per_job(pace, Room(here, here, 10**7), TARGET)
    assert tasks == 1 if each >= needed else tasks * each <= max(TARGET, needed) + 1e-6
    assert each >= needed or (tasks + 1) * each > max(TARGET, needed) - 1e-6


def test_tasks_that_the_batch_system_can_start_one_by_one_travel_alone() -> None:
    assert tasks_per_job(a_pace(mean=10.0), ROOM, TARGET) == 1
    assert tasks_per_job(a_pace(mean=10.0, rate=2.0), ROOM, TARGET) == 5


def test_nothing_is_grouped_before_it_is_measured() -> None:
    assert tasks_per_job(a_pace(done=0), ROOM, TARGET) == 1
    assert tasks_per_job(a_pace()._replace(starts=[1.0, 2.0]), ROOM, TARGET) == 1
    assert tasks_per_job(a_pace(done=36), ROOM, TARGET) == 36


def test_opting_out_is_obeyed() -> None:
    assert tasks_per_job(a_pace()._replace(is_temporal=False), ROOM, TARGET) == 1
    assert tasks_per_job(a_pace(), ROOM, 0.0) == 1


def test_the_deviation_keeps_jobs_away_from_the_walltime() -> None:
    steady, hour = a_pace(mean=1.0, rate=0.5), Room(500, 500, 690)
    assert tasks_per_job(steady, hour, TARGET) == int(600 / (1.0 + TASK_START))
    wild = steady._replace(squares=steady.done * 101.0)  # a deviation of 10 s
    assert tasks_per_job(wild, hour, TARGET) < 200
    assert tasks_per_job(steady, hour._replace(walltime=90), TARGET) == 1


def test_jobs_are_too_short_to_be_killed_often() -> None:
    assert tasks_per_job(a_pace()._replace(deaths=4, lived=40.0), ROOM, TARGET) == int(10 / (0.01 + TASK_START))


@pytest.mark.parametrize("waiting", [100, 1000, 5000, 100_000])
def test_at_the_end_no_core_idles_because_too_few_jobs_are_left(waiting: int) -> None:
    tasks = tasks_per_job(a_pace(mean=1.0, rate=5.0, waiting=waiting), ROOM, TARGET)
    assert tasks <= max(waiting / (2 * ROOM.everywhere), (waiting / (1.0 * 5.0)) ** 0.5)


def test_a_few_tiny_tasks_are_not_spread_over_jobs_that_take_longer_to_start() -> None:
    """1,000 tasks of 10 ms at 3 jobs a second: 36 jobs would take 12 s to start, and 0.4 s to run."""
    tasks = tasks_per_job(a_pace(rate=3.0, waiting=1000), ROOM, TARGET)
    jobs = 1000 / tasks
    assert jobs / 3 + tasks * (0.01 + TASK_START) < 5


def test_a_rate_is_the_most_starts_that_were_seen_together() -> None:
    assert start_rate([0.0, 1.0, 2.0, 3.0]) is None
    assert start_rate([0.0, 100.0, 200.0, 300.0, 400.0]) == 0.5
    assert start_rate([0.0, 50.0, 50.1, 50.2, 51.9, 52.1, 400.0]) == 2.0
