"""Who starts, who waits, who makes room."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from modules.laboratory.cluster.easy_backfill import NodeReservation, easy, hold, reservation, victims
from modules.laboratory.cluster.free_cores import FreeCores, Places


class Job(NamedTuple):
    name: str
    cores: int
    walltime: float = 100.0


class Held(NamedTuple):
    places: Places
    expected_end: float


RUNNING = [(50.0, 1, 2), (80.0, 2, 2)]
"""Of eight cores four are taken: two until 50 s, two until 80 s."""


def names(*queue: Job, available: int = 4, depth: int = 50, most: int = 100) -> str:
    return "".join(job.name for job in easy(queue, RUNNING, available, 0.0, depth, most))


def test_jobs_start_in_order_while_they_fit() -> None:
    assert names(Job("a", 2), Job("b", 2)) == "ab"
    assert names(Job("a", 2), Job("b", 2), Job("c", 1)) == "ab"


def test_a_short_job_goes_ahead_if_it_ends_before_the_reservation() -> None:
    assert names(Job("a", 6), Job("b", 4, 50.0)) == "b"
    assert names(Job("a", 6), Job("b", 4, 50.1)) == ""


def test_a_long_job_goes_ahead_on_cores_that_the_reservation_leaves() -> None:
    assert names(Job("a", 5), Job("b", 1, 1e6)) == "b"
    assert names(Job("a", 5), Job("b", 2, 1e6)) == ""
    assert names(Job("a", 5), Job("b", 1, 1e6), Job("c", 1, 1e6)) == "b"


def test_what_ends_before_the_reservation_leaves_its_spare_cores_to_others() -> None:
    assert names(Job("a", 5), Job("b", 1, 50.0), Job("c", 1, 1e6)) == "bc"


def test_jobs_started_in_the_same_pass_count_for_the_reservation() -> None:
    assert names(Job("a", 2, 20.0), Job("b", 4), Job("c", 2, 20.0)) == "ac"
    assert names(Job("a", 2, 20.0), Job("b", 4), Job("c", 2, 20.1)) == "a"


def test_only_so_many_are_looked_at_behind_the_one_that_is_blocked() -> None:
    queue = [Job("a", 6), Job("b", 8), Job("c", 1, 10.0)]
    assert names(*queue, depth=2) == "c"
    assert names(*queue, depth=1) == ""


def test_no_more_start_than_allowed() -> None:
    assert names(Job("a", 1), Job("b", 1), Job("c", 1), most=2) == "ab"
    assert names(Job("a", 6), Job("b", 1, 10.0), Job("c", 1, 10.0), most=1) == "b"
    assert names(Job("a", 1), most=0) == ""


def test_a_job_that_can_never_start_keeps_nobody_waiting() -> None:
    assert reservation(9, 4, RUNNING) == (float("inf"), 0)
    assert names(Job("a", 9), Job("b", 4, 1e9)) == "b"


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 100)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(1, 100), st.integers(1, 3)), max_size=4),
)
def test_backfilling_never_delays_the_first_that_waits(
    waiting: list[tuple[int, int]], running: list[tuple[int, int]]
) -> None:
    total = 8 + sum(cores for _, cores in running)
    ends = sorted((float(end), number, cores) for number, (end, cores) in enumerate(running))
    queue = [Job(str(number), cores, float(walltime)) for number, (cores, walltime) in enumerate(waiting)]
    chosen = easy(queue, ends, 8, 0.0, 50, 100)
    assert sum(job.cores for job in chosen) <= 8
    left = [job for job in queue if job not in chosen]
    if not left or left[0].cores > total:
        return
    ahead = [job for job in chosen if queue.index(job) < queue.index(left[0])]
    alone, together = ([*ends, *((job.walltime, 0, job.cores) for job in jobs)] for jobs in (ahead, chosen))
    start, _ = reservation(left[0].cores, 8 - sum(job.cores for job in ahead), sorted(alone))
    assert reservation(left[0].cores, 8 - sum(job.cores for job in chosen), sorted(together))[0] <= start


def test_the_youngest_make_room_and_no_more_than_needed() -> None:
    youngest_first = [Job("a", 1), Job("b", 1), Job("c", 4), Job("d", 1)]
    assert {job.name for job in victims(youngest_first, 2)} == {"a", "b"}
    assert {job.name for job in victims(youngest_first, 5)} == {"a", "c"}
    assert {job.name for job in victims(youngest_first, 4)} == {"c"}
    assert {job.name for job in victims(youngest_first, 7)} == {"a", "b", "c", "d"}
    assert victims(youngest_first, 0) == []


def test_the_node_that_will_be_free_soonest_is_held() -> None:
    nodes = FreeCores(3, 4)
    nodes.take([(0, 4), (1, 4), (2, 1)])
    running = [Held([(0, 3)], 30.0), Held([(0, 1)], 10.0), Held([(1, 4)], 20.0), Held([(2, 1)], 90.0)]
    assert hold(4, nodes, running) == NodeReservation(0b010, 20.0)
    assert hold(8, nodes, running) == NodeReservation(0b011, 30.0)


def test_nothing_is_held_for_a_job_that_needs_a_node_that_is_down() -> None:
    nodes = FreeCores(2, 4)
    nodes.take_down(1)
    assert hold(8, nodes, []) is None
