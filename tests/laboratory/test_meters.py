"""Core-seconds, each counted as what it was."""

from modules.laboratory.cluster.meters import StepFunction, WasteKind
from tests.laboratory.clusters import EXACT, a_cluster, grid_jobs, local, submit


def test_steps_keep_one_value_for_each_instant_and_only_changes() -> None:
    steps = StepFunction(4)
    steps.set(1.0, 3)
    steps.set(1.0, 2)
    steps.set(2.0, 2)
    steps.set(3.0, 4)
    assert list(steps.points) == [(0.0, 4), (1.0, 2), (3.0, 4)]


def test_core_seconds_are_split_by_what_cores_do() -> None:
    cluster = a_cluster(load=[local(10.0, 6, 20.0)])
    submit(cluster, grid_jobs(8, 15.0))
    cluster.advance(100.0)
    meters = cluster.meters
    assert meters.total == 800.0
    assert meters.local == 6 * 20.0
    assert meters.claimed == 6 * 2.0
    assert meters.ours == 6 * 10.0 + 2 * 15.0
    assert meters.free == 800.0 - 120.0 - 12.0 - 90.0
    assert meters.harvestable == meters.ours + meters.free
    assert (meters.useful, meters.wasted[WasteKind.PREEMPTED]) == (30.0, 60.0)


def test_each_waste_has_its_cause() -> None:
    cluster = a_cluster(EXACT._replace(start_latency=1.0))
    submit(cluster, grid_jobs(1, 5.0, exit_code=1, cores=2, tag="failing"))
    submit(cluster, grid_jobs(1, [3.0, 20.0], walltime=10.0, tag="long"))
    killed = submit(cluster, grid_jobs(1, 20.0, tag="killed"))
    cluster.advance(8.0)
    cluster.cancel(killed)
    cluster.advance(50.0)
    expected = dict.fromkeys(WasteKind, 0.0) | {
        WasteKind.FAILED: 2 * 5.0,
        WasteKind.TIMEOUT: 6.0,
        WasteKind.KILLED: 7.0,
        WasteKind.OVERHEAD: 2 * 1.0 + 1.0 + 1.0,
    }
    assert cluster.meters.wasted == expected
    assert cluster.meters.useful == 3.0


def test_idle_cores_are_those_without_a_local_job_whatever_we_run() -> None:
    load = [local(10.0, 6, 20.0), local(40.0, 8, 5.0)]
    alone, shared = (a_cluster(EXACT._replace(preemption_delay=0.0), load) for _ in range(2))
    submit(shared, grid_jobs(100, 3.0))
    for cluster in (alone, shared):
        cluster.advance(100.0)
    expected = [(0.0, 8), (10.0, 2), (30.0, 8), (40.0, 0), (45.0, 8)]
    assert list(alone.meters.idle.points) == expected == list(shared.meters.idle.points)


def test_our_waiting_jobs_are_known_at_each_moment() -> None:
    cluster = a_cluster()
    cluster.advance(1.5)
    ids = submit(cluster, grid_jobs(12, 10.0))
    cluster.advance(4.5)
    cluster.cancel(ids[11:])
    cluster.advance(30.0)
    assert list(cluster.meters.waiting.points) == [(0.0, 0), (1.5, 12), (2.0, 4), (4.5, 3), (12.0, 0)]
    assert cluster.meters.starts == {2: 8, 12: 3}


def test_what_each_user_got_counts_from_the_start_of_a_job_to_its_end() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(2, 30.0, cores=3, owner="alice"))
    submit(cluster, grid_jobs(4, 10.0, owner="bob", tag="bobs"))  # two of them wait
    assert cluster.meters.received(0.0) == {}
    cluster.advance(5.0)
    assert cluster.meters.received(5.0) == {"alice": 2 * 3 * 5.0, "bob": 2 * 5.0}
    cluster.advance(100.0)
    assert cluster.meters.received(100.0) == {"alice": 2 * 3 * 30.0, "bob": 4 * 10.0}
    assert sum(cluster.meters.received(100.0).values()) == cluster.meters.ours
