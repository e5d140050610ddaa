"""What goes wrong on a simulated cluster, fault by fault."""

from collections.abc import Callable

import pytest

from cigri.drivers import Capacity, RemoteJobState
from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.faults import BlackHoleNode, FaultRates, FaultWindow, NodeCrash
from modules.laboratory.cluster.meters import WasteKind
from tests.laboratory.clusters import EXACT, OWNER, a_cluster, grid_jobs, local, submit


def test_jobs_on_a_node_that_crashes_die_and_it_comes_back() -> None:
    cluster = a_cluster(faults=FaultRates(crashes=(NodeCrash(0, 10.0, 20.0), NodeCrash(0, 15.0, 30.0))))
    ids = submit(cluster, grid_jobs(8, 12.0))
    cluster.advance(14.0)
    ends = [(sight.state, sight.ended, sight.node) for sight in cluster.past(ids)]
    assert ends == [(RemoteJobState.NODE_FAILED, 10.0, "node-1")] * 4 + [(RemoteJobState.SUCCEEDED, 12.0, "node-2")] * 4
    assert cluster.capacity() == Capacity(8, 4, 0, 4)
    cluster.advance(29.0)
    assert cluster.capacity() == Capacity(8, 4, 0, 4)
    submit(cluster, grid_jobs(8, 12.0, tag="later"))
    cluster.advance(30.0)
    assert cluster.capacity() == Capacity(8, 0, 8, 0)
    assert cluster.meters.unavailable == 4 * 20.0
    assert cluster.meters.wasted[WasteKind.NODE_FAILED] == 4 * 10.0


def test_a_local_job_whose_promised_cores_crash_waits_again_at_the_head() -> None:
    machine = EXACT._replace(nodes=3, preemption_delay=4.0)
    load = [local(5.5, 5, 100.0), local(6.5, 8, 10.0)]
    cluster = a_cluster(machine, load, FaultRates(crashes=(NodeCrash(2, 8.0, 500.0),)))
    submit(cluster, grid_jobs(12, 500.0))
    cluster.advance(200.0)
    assert cluster.meters.local_starts == {0: 8.0 + 4.0, 1: 112.0 + 4.0}


def test_a_job_that_would_have_died_for_a_crashed_one_dies_for_nobody() -> None:
    cluster = a_cluster(
        EXACT._replace(grace=10.0), [local(5.5, 5, 100.0)], FaultRates(crashes=(NodeCrash(1, 8.0, 500.0),))
    )
    ids = submit(cluster, grid_jobs(8, 500.0))
    cluster.advance(50.0)
    ends = [(sight.state.value, sight.ended) for sight in cluster.past(ids)]
    assert ends == [("running", None)] * 3 + [("preempted", 16.0)] + [("node_failed", 8.0)] * 4
    assert cluster.capacity() == Capacity(8, 1, 3, 4)


def test_nodes_crash_at_their_rate_and_at_the_same_times_whatever_runs() -> None:
    faults = FaultRates(mean_time_between_crashes=1000.0, repair_time=10.0)
    alone, shared = a_cluster(faults=faults), a_cluster(faults=faults._replace(vanishing=0.5))
    submit(shared, grid_jobs(1000, 30.0))
    for cluster in (alone, shared):
        cluster.advance(100_000.0)
    assert alone.meters.unavailable == shared.meters.unavailable
    assert alone.meters.unavailable == pytest.approx(200 * 10.0 * 4, rel=0.2)


def test_a_vanished_job_leaves_neither_record_nor_history() -> None:
    cluster = a_cluster(faults=FaultRates(vanishing=0.25))
    ids = submit(cluster, grid_jobs(400, [5.0, 5.0]))
    cluster.advance(5000.0)
    known = {sight.remote_id for sight in cluster.past(ids)}
    assert cluster.live(OWNER, "") == []
    assert len(ids) - len(known) == pytest.approx(100, abs=30)
    records = cluster.ended_tasks(OWNER)
    assert 2 * len(known) < len(records) < 2 * len(known) + 0.7 * (len(ids) - len(known))
    assert cluster.meters.wasted[WasteKind.VANISHED] > 0


@pytest.mark.parametrize(
    ("faults", "word"),
    [(FaultRates(said_waiting=0.25), RemoteJobState.WAITING), (FaultRates(said_unknown=0.25), RemoteJobState.UNKNOWN)],
)
def test_some_running_jobs_are_lied_about_until_they_end(faults: FaultRates, word: RemoteJobState) -> None:
    cluster = a_cluster(EXACT._replace(nodes=100), faults=faults)
    ids = submit(cluster, grid_jobs(400, 10.0))
    cluster.advance(5.0)
    lies = [sight for sight in cluster.live(OWNER, "") if sight.state is word]
    assert len(lies) == pytest.approx(100, abs=30)
    assert {(sight.started, sight.node) for sight in lies} == {(None, "")}
    cluster.advance(20.0)
    assert {sight.state for sight in cluster.past(ids)} == {RemoteJobState.SUCCEEDED}


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_black_hole_swallows_tasks_while_it_is_open(exit_code: int) -> None:
    cluster = a_cluster(faults=FaultRates(black_holes=(BlackHoleNode(0, 0.0, 50.0, exit_code),)))
    submit(cluster, grid_jobs(100, 200.0))
    cluster.advance(60.0)
    swallowed = cluster.ended_tasks(OWNER)
    assert len(swallowed) == 96
    assert {(end.node, end.exit_code, round(end.seconds, 6)) for end in swallowed} == {("node-1", exit_code, 0.1)}
    assert cluster.meters.wasted[WasteKind.BLACK_HOLE] == pytest.approx(0.1 * len(swallowed))
    assert cluster.meters.useful == 0.0


def test_a_fault_of_a_node_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="there are 0 to 1"):
        a_cluster(faults=FaultRates(crashes=(NodeCrash(2, 0.0, 1.0),)))
    with pytest.raises(ValueError, match="there are 0 to 1"):
        a_cluster(faults=FaultRates(black_holes=(BlackHoleNode(-1, 0.0, 1.0),)))


ORDERS: list[Callable[[SimulatedBatchSystem], object]] = [
    lambda cluster: submit(cluster, grid_jobs(1)),
    lambda cluster: cluster.cancel([]),
    lambda cluster: cluster.live(OWNER, ""),
    lambda cluster: cluster.past([]),
    lambda cluster: cluster.find("x"),
    lambda cluster: cluster.ended_tasks(OWNER),
    lambda cluster: cluster.capacity(),
]


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_is_heard_during_an_outage_and_jobs_go_on(order: Callable[[SimulatedBatchSystem], object]) -> None:
    cluster = a_cluster(faults=FaultRates(outages=(FaultWindow(10.0, 20.0),)))
    ids = submit(cluster, grid_jobs(1, 12.0))
    cluster.advance(10.0)
    assert not cluster.is_reachable()
    with pytest.raises(ClusterUnreachable, match="dahu"):
        order(cluster)
    cluster.advance(20.0)
    assert cluster.is_reachable()
    order(cluster)
    assert [sight.ended for sight in cluster.past(ids)] == [12.0]


def test_a_submission_may_be_done_and_its_answer_lost() -> None:
    cluster = a_cluster(faults=FaultRates(unanswered=1.0))
    with pytest.raises(RemoteOutcomeUnknown):
        submit(cluster, grid_jobs(3, 10.0))
    assert [sight.array_index for sight in cluster.find("cigri-1")] == [1, 2, 3]
    cluster.advance(20.0)
    assert {sight.state for sight in cluster.find("cigri-1")} == {RemoteJobState.SUCCEEDED}


def test_answers_get_slower_with_the_jobs_that_wait() -> None:
    machine = EXACT._replace(command_seconds=0.1, command_seconds_per_job=0.001)
    for faults, seconds in ((FaultRates(), 0.2), (FaultRates(slowness=0.02), 2.2)):
        cluster = a_cluster(machine, faults=faults)
        assert cluster.answer_seconds() == 0.1
        submit(cluster, grid_jobs(108))
        cluster.advance(1.0)
        assert cluster.answer_seconds() == pytest.approx(seconds)
