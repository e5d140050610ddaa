"""Campaigns of tasks shorter than what a batch system can start: several travel in one job."""

import pytest

from cigri.flow.clusters import put_cluster
from tests.grid import Grid

TASKS = 2000
TASKS_OF_REAL_CLUSTERS = 900  # on a busy machine some 200 travel alone before any has ended; a place gets three jobs
SIDE_TASKS = 400
SIDE_TASKS_OF_REAL_CLUSTERS = 200


def short_tasks(grid: Grid, tasks: int, seconds: float) -> None:
    """One of them fails, and one kills its job the first time; every other is done once."""
    fails, kills = tasks * 3 // 4, tasks * 17 // 20
    first = f"mkdir {grid.place}/killed && kill -KILL $PPID"
    odd = f"case $CIGRI_TASK_NUMBER in {fails}) exit 3 ;; {kills}) {first} ;; esac; exec sleep 0.01"
    grid.submit([str(number) for number in range(tasks)], command=odd)
    expected = {"done": tasks - 1, "failed": 1}
    grid.run_until(lambda: grid.counts() == expected, seconds)
    runs = grid.executions()
    assert runs.pop(kills) == 2
    assert runs == dict.fromkeys(set(range(tasks)) - {kills}, 1)
    assert grid.one("SELECT max(position) FROM attempts") > 10
    died = grid.rows("SELECT number FROM tasks WHERE deaths > 0")
    assert died == [{"number": kills}]
    again = "SELECT max(job_id) FROM attempts JOIN tasks ON id = task_id WHERE tasks.number = :number"
    alone = grid.one(again, number=kills)
    assert grid.one("SELECT count(*) FROM attempts WHERE job_id = :id", id=alone) == 1
    grid.assert_sane()


def test_short_tasks_travel_together_on_this_host(local: Grid) -> None:
    short_tasks(local, TASKS, 120)


@pytest.mark.cluster
def test_short_tasks_travel_together_on_real_clusters(each_kind: Grid) -> None:
    short_tasks(each_kind, TASKS_OF_REAL_CLUSTERS, 540)


OVERLAPS = """
SELECT count(*) FROM attempts a JOIN attempts b ON b.job_id = a.job_id AND b.task_id <> a.task_id
WHERE b.started_at BETWEEN a.started_at AND a.started_at + make_interval(secs => a.seconds - 0.003)
"""
"""Pairs of tasks of one job that ran at the same time, by more than the rounding of their records."""


def side_by_side(grid: Grid, tasks: int, seconds: float) -> None:
    """With jobs so short that the batch system cannot start enough of them."""
    with grid.database.begin() as conn:
        put_cluster(conn, grid.site.name, {**grid.site.config, "node_cores": 4})
    grid.tune("grouping", target=1.0)
    grid.submit([str(number) for number in range(tasks)], command="exec sleep 0.01")
    grid.run_to_end(seconds)
    grid.assert_each_ran_once(tasks)
    assert 1 < grid.one("SELECT max(width) FROM jobs") <= 4  # as many as jobs were offered at once
    assert grid.one(OVERLAPS) > 0


def test_short_tasks_run_side_by_side_on_this_host(local: Grid) -> None:
    side_by_side(local, SIDE_TASKS, 120)


@pytest.mark.cluster
def test_short_tasks_run_side_by_side_on_real_clusters(each_kind: Grid) -> None:
    side_by_side(each_kind, SIDE_TASKS_OF_REAL_CLUSTERS, 540)


def test_who_does_not_want_it_has_one_task_in_each_job(local: Grid) -> None:
    local.submit([str(number) for number in range(150)], temporal_grouping="false", dimensional_grouping="false")
    local.run_to_end()
    local.assert_each_ran_once(150)
    assert local.one("SELECT max(position) FROM attempts") == 1
