"""Whatever happens on a simulated cluster: no core twice, no job lost, no second uncounted, and the same each time."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from cigri.drivers import FINAL, RemoteJobState
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.faults import BlackHoleNode, FaultRates, NodeCrash
from modules.laboratory.cluster.machine import HardwareModel
from modules.laboratory.cluster.meters import ClusterMeters
from modules.laboratory.cluster.simulated_jobs import ReportedJob, SimulatedJob, SimulatedTask, SimulatedTaskEnd
from modules.laboratory.load import LocalJob
from tests.laboratory.clusters import OWNER, a_cluster

MACHINES = st.tuples(
    st.integers(1, 4),  # nodes
    st.integers(1, 4),  # cores of each
    st.sampled_from([0.3, 1.0, 7.0]),  # period
    st.sampled_from([0.5, 3.0, 100.0]),  # start rate
    st.sampled_from([0.0, 1.5]),  # start latency
    st.sampled_from([0.0, 3.5]),  # preemption delay
    st.sampled_from([0.0, 4.0]),  # grace
    st.sampled_from([0.0, 2.5]),  # kill delay
).map(lambda figures: HardwareModel(*figures)._replace(depth=2))
LOCAL_JOBS = st.tuples(
    st.integers(0, 200).map(float),  # submitted
    st.integers(1, 6),  # cores
    st.floats(0.0, 80.0),  # seconds
    st.integers(1, 100).map(float),  # walltime
).map(lambda figures: LocalJob(*figures, user="bob"))
LOADS = st.lists(LOCAL_JOBS, max_size=15).map(lambda jobs: sorted(jobs, key=lambda job: job.submitted))
FAULTS = st.tuples(
    st.sampled_from([None, 100.0]),  # mean time between crashes
    st.just(30.0),  # repair time
    st.sampled_from([(), (NodeCrash(0, 10.0, 50.0), NodeCrash(0, 30.0, 40.0))]),
    st.sampled_from([(), (BlackHoleNode(0, 20.0, 60.0, 1),)]),
    st.just(()),  # outages
    st.sampled_from([0.0, 0.3]),  # vanishing
    st.sampled_from([0.0, 0.3]),  # said waiting
).map(lambda figures: FaultRates(*figures))


class Order(NamedTuple):
    """After so many seconds, submit jobs and cancel a share of those before."""

    after: float
    shape: tuple[int, float, bool]  # cores, walltime, besteffort
    jobs: list[list[float]]
    cancel: float


ORDERS = st.lists(
    st.builds(
        Order,
        after=st.sampled_from([0.0, 0.7, 10.0, 45.5]),
        shape=st.tuples(st.integers(1, 6), st.integers(1, 90).map(float), st.booleans()),
        jobs=st.lists(st.lists(st.floats(0.0, 50.0), max_size=3), min_size=1, max_size=5),
        cancel=st.sampled_from([0.0, 0.0, 0.5]),
    ),
    max_size=8,
)


class Scenario(NamedTuple):
    machine: HardwareModel
    load: list[LocalJob]
    faults: FaultRates
    orders: list[Order]


SCENARIOS = st.builds(Scenario, MACHINES, LOADS, FAULTS, ORDERS)


def play(scenario: Scenario, step: float) -> tuple[SimulatedBatchSystem, list[str]]:
    """Let it all happen, looking at the cluster every `step` seconds."""
    cluster = a_cluster(scenario.machine, scenario.load, scenario.faults, seed=7)
    ids: list[str] = []
    for number, order in enumerate(scenario.orders):
        pass_time(cluster, order.after, step)
        cores, walltime, besteffort = order.shape
        tag = f"b{number}"
        ids += cluster.submit(
            tag,
            OWNER,
            [
                SimulatedJob(
                    tag, index, OWNER, cores, walltime, besteffort, [SimulatedTask(one, index % 2) for one in tasks]
                )
                for index, tasks in enumerate(order.jobs)
                if cores <= scenario.machine.cores
            ],
        )
        cluster.cancel(ids[: int(len(ids) * order.cancel)])
    pass_time(cluster, 2000.0, step * 10)
    return cluster, ids


def pass_time(cluster: SimulatedBatchSystem, seconds: float, step: float) -> None:
    end = cluster.now + seconds
    while cluster.now < end:
        cluster.advance(min(end, cluster.now + step))
        check(cluster)


def check(cluster: SimulatedBatchSystem) -> None:
    total, free, used, unavailable = cluster.capacity()
    assert min(free, used, unavailable) >= 0
    assert free + used + unavailable == total == cluster.machine.cores
    meters = cluster.meters
    parts = meters.local + meters.ours + meters.free + meters.claimed + meters.unavailable
    assert abs(parts - total * cluster.now) < 1e-6 * (1 + total * cluster.now)
    assert meters.total == total * cluster.now
    started = [sight for sight in cluster.live(OWNER, "") if sight.state is RemoteJobState.RUNNING]
    assert len(started) <= used


def sums(meters: ClusterMeters) -> list[float]:
    return [meters.local, meters.ours, meters.free, meters.claimed, meters.unavailable, meters.useful]


@given(SCENARIOS)
@settings(max_examples=150)
def test_cores_are_never_given_twice_and_every_core_second_is_counted_once(scenario: Scenario) -> None:
    cluster, _ = play(scenario, 0.9)
    meters = cluster.meters
    assert abs(meters.ours - meters.useful - sum(meters.wasted.values())) < 1e-6 * (1 + meters.ours)
    assert cluster.live(OWNER, "") == []


@given(SCENARIOS)
@settings(max_examples=50)
def test_every_job_ends_once_and_none_is_lost_unless_jobs_vanish(scenario: Scenario) -> None:
    scenario = scenario._replace(faults=scenario.faults._replace(vanishing=0.0))
    cluster, ids = play(scenario, 50.0)
    ends = cluster.past(ids)
    assert [end.remote_id for end in ends] == ids
    assert all(end.state in FINAL for end in ends)
    records = [(end.tag, end.array_index, end.position) for end in cluster.ended_tasks(OWNER)]
    assert len(set(records)) == len(records)
    assert len(cluster.meters.local_starts) + cluster.meters.local_refused == len(scenario.load)


@given(SCENARIOS)
@settings(max_examples=50)
def test_the_same_seed_gives_the_same_history_however_often_one_looks(scenario: Scenario) -> None:
    def history(
        step: float,
    ) -> tuple[list[ReportedJob], list[SimulatedTaskEnd], dict[int, float], list[tuple[float, float]]]:
        cluster, ids = play(scenario, step)
        return (
            cluster.past(ids),
            cluster.ended_tasks(OWNER),
            cluster.meters.local_starts,
            list(cluster.meters.idle.points),
        )

    assert history(0.9) == history(50.0)


@given(MACHINES, LOADS, st.lists(st.floats(1.0, 300.0), min_size=1, max_size=60))
@settings(max_examples=50)
def test_our_besteffort_jobs_never_hold_the_cores_that_local_ones_would_have_at_once(
    machine: HardwareModel, load: list[LocalJob], seconds: list[float]
) -> None:
    """Jobs that need not wait alone are delayed by one kill each and no more."""
    load = [job._replace(cores=1) for job in load[: machine.cores]]
    exact = machine._replace(start_rate=1e6)
    alone, shared = a_cluster(exact, load), a_cluster(exact, load)
    jobs = [SimulatedJob("t", index, OWNER, 1, 400.0, True, [SimulatedTask(one)]) for index, one in enumerate(seconds)]
    shared.submit("t", OWNER, jobs)
    for cluster in (alone, shared):
        cluster.advance(2000.0)
    for number, start in alone.meters.local_starts.items():
        delay = shared.meters.local_starts[number] - start
        assert -1e-9 <= delay <= machine.grace + machine.preemption_delay + 1e-9
