"""Cores that will be free again soon: tables of jobs that run, and what is expected of them."""

from math import inf, sqrt

import pytest

from cigri.flow.views.cluster_service import RunningJobProgress
from modules.predictor.freed_cores import FreedCores, JobDuration, endings, jobs_that_end, lasting_of

JOB = RunningJobProgress(
    campaign_id=1,
    cluster_id=1,
    width=2,
    age=100.0,
    walltime=3600,
    tasks=1,
    before=None,
    done=0,
    seconds=0.0,
    squares=0.0,
    known=0,
    expected=0.0,
    speed=None,
)
SEEN = JOB._replace(done=4, seconds=1200.0, squares=4 * 300.0**2 + 3 * 20.0**2)
"""Four tasks took 300 s in the mean, with a deviation of 20 s."""


@pytest.mark.parametrize(
    ("job", "lasting"),
    [
        (JOB, None),
        (SEEN, JobDuration(300.0, 20.0)),
        (SEEN._replace(tasks=9), JobDuration(2700.0, 60.0)),
        (JOB._replace(done=1, seconds=50.0, squares=2500.0), JobDuration(50.0, 50.0)),
        (JOB._replace(done=2), JobDuration(0.1, 0.0)),
        (SEEN._replace(before=60.0), JobDuration(300.0, 20.0)),
        (SEEN._replace(before=60.0, speed=2.0), JobDuration(30.0, 3.0)),
        (SEEN._replace(before=60.0, speed=2.0, known=4, expected=600.0), JobDuration(120.0, 12.0)),
        (SEEN._replace(before=60.0, speed=2.0, known=3, expected=600.0), JobDuration(30.0, 3.0)),
        (SEEN._replace(before=0.0, speed=2.0), JobDuration(300.0, 20.0)),
    ],
)
def test_how_long_a_job_lasts(job: RunningJobProgress, lasting: JobDuration | None) -> None:
    assert lasting_of(job) == (lasting and pytest.approx(lasting))


@pytest.mark.parametrize(
    ("age", "left", "lasting", "number"),
    [
        (100.0, 50.0, None, 1 / 3),
        (0.0, 50.0, None, 1.0),
        (3590.0, 50.0, None, 1.0),
        (100.0, 50.0, JobDuration(10.0, 1.0), 5.0),
        (100.0, 50.0, JobDuration(300.0, 20.0), 0.0),
        (280.0, 10.0, JobDuration(300.0, 20.0), 10.0 / (20.0 + 20.0 * sqrt(3))),
        (400.0, 10.0, JobDuration(300.0, 20.0), 0.5),
        (400.0, 10.0, JobDuration(300.0, 0.0), 1.0),
    ],
)
def test_how_many_jobs_end_where_one_runs(age: float, left: float, lasting: JobDuration | None, number: float) -> None:
    assert jobs_that_end(JOB._replace(age=age), left, lasting) == pytest.approx(number)


def test_jobs_of_which_nothing_is_known_end_together() -> None:
    jobs = [JOB, JOB, JOB._replace(campaign_id=2)]
    spread = 2 * sqrt(1 / 3 * 2 / 3)
    assert endings(jobs, {1: 50.0}) == {1: pytest.approx(FreedCores(2.0, (2 * spread) ** 2 + spread**2))}


def test_jobs_of_which_something_is_known_end_each_by_itself() -> None:
    job = SEEN._replace(age=400.0)
    assert endings([job, job], {1: 10.0}) == {1: pytest.approx(FreedCores(2.0, 2 * 4 * 0.25))}


def test_short_jobs_that_follow_each_other_vary_as_their_durations_do() -> None:
    job = SEEN._replace(cluster_id=7)
    assert endings([job], {7: 600.0, 1: inf}) == {7: pytest.approx(FreedCores(4.0, 4 * 2.0 * (20.0 / 300.0) ** 2))}
