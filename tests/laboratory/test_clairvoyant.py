"""Nobody is faster than the clairvoyant, and by hand one sees why."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modules.laboratory.evaluation.clairvoyant import IdleProfile, TaskLoad, makespan_bound
from modules.laboratory.load import LocalJob
from tests.laboratory.clusters import EXACT, OWNER, a_cluster, grid_jobs, submit
from tests.laboratory.test_conservation import LOADS

STEPS = [(0.0, 4.0), (10.0, 0.0), (20.0, 2.0)]
"""Four idle cores for 10 s, none for 10 s, then two for ever."""


def test_many_short_tasks_are_bounded_by_area() -> None:
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(1.0)] * 30) == 7.5
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(1.0)] * 40) == 10.0
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(1.0)] * 60) == 30.0


def test_idle_cores_of_all_clusters_add_up_each_at_its_speed() -> None:
    assert (
        makespan_bound([IdleProfile([(0.0, 4.0)]), IdleProfile([(0.0, 1.0)], speed=2.0)], [TaskLoad(1.0)] * 60) == 10.0
    )


def test_a_long_task_needs_one_core_without_a_break() -> None:
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(10.0)]) == 10.0
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(10.5)]) == 30.5
    assert makespan_bound([IdleProfile(STEPS), IdleProfile([(0.0, 1.0)], speed=0.5)], [TaskLoad(10.5)]) == 21.0


def test_wide_tasks_only_count_moments_with_room_for_them() -> None:
    assert makespan_bound([IdleProfile([(0.0, 1.0), (50.0, 4.0)])], [TaskLoad(1.0, 4)] * 3) == 53.0
    assert makespan_bound([IdleProfile([(0.0, 3.0), (50.0, 4.0)])], [TaskLoad(1.0, 4), TaskLoad(1.0)]) == 51.0
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(11.0, 3)]) == inf


def test_wide_tasks_only_count_clusters_whose_nodes_are_as_wide() -> None:
    narrow, wide = IdleProfile([(0.0, 16.0)], widest=4), IdleProfile([(0.0, 8.0)], widest=8)
    assert makespan_bound([narrow, wide], [TaskLoad(10.0, 8)] * 3) == 30.0
    assert makespan_bound([narrow, wide], [TaskLoad(10.0, 8), *[TaskLoad(10.0, 4)] * 4]) == 10.0
    assert makespan_bound([narrow], [TaskLoad(10.0, 8)]) == inf


def test_time_before_the_submission_does_not_count() -> None:
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(5.0)] * 2, since=8.0) == 12.0 + 5.0
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(1.0)] * 10, since=100.0) == 5.0


def test_nothing_to_do_takes_no_time_and_nowhere_takes_for_ever() -> None:
    assert makespan_bound([IdleProfile(STEPS)], []) == 0.0
    assert makespan_bound([IdleProfile(STEPS)], [TaskLoad(0.0)]) == 0.0
    assert makespan_bound([], [TaskLoad(1.0)]) == inf
    assert makespan_bound([IdleProfile([(0.0, 0.0)])], [TaskLoad(1.0)]) == inf


@given(LOADS, st.lists(st.tuples(st.floats(1.0, 60.0), st.integers(1, 4)), min_size=1, max_size=30))
@settings(max_examples=100)
def test_no_run_on_a_simulated_cluster_beats_the_bound(load: list[LocalJob], tasks: list[tuple[float, int]]) -> None:
    machine = EXACT._replace(preemption_delay=0.0)
    alone, shared = a_cluster(machine, load), a_cluster(machine, load)
    for number, (seconds, cores) in enumerate(tasks):
        submit(shared, grid_jobs(1, seconds, cores=cores, tag=f"t{number}"))
    for cluster in (alone, shared):
        cluster.advance(5000.0)
    assert shared.meters.local_starts == alone.meters.local_starts
    ends = shared.ended_tasks(OWNER)
    done = [TaskLoad(tasks[int(end.tag[1:])][0], tasks[int(end.tag[1:])][1]) for end in ends]
    bound = makespan_bound([IdleProfile(alone.meters.idle.points)], done)
    last = max((end.started + end.seconds for end in ends), default=0.0)
    assert bound <= last * (1 + 1e-9)
    if len(done) == 1 and not load:
        assert last == pytest.approx(bound)
