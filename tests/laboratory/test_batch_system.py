"""How local jobs and ours live together on a simulated cluster."""

import pytest

from cigri.drivers import Capacity, RemoteJobState
from cigri.errors import ArrayTooLarge, SubmissionRefused
from modules.laboratory.cluster.batch_system import SimulatedBatchSystem
from modules.laboratory.cluster.machine import HardwareModel, gridengine, oar, slurm
from modules.laboratory.cluster.simulated_jobs import ReportedJob, SimulatedTaskEnd
from tests.laboratory.clusters import EXACT, OWNER, a_cluster, grid_jobs, local, submit


def states(cluster: SimulatedBatchSystem, ids: list[str]) -> list[str]:
    return [sight.state.value for sight in cluster.past(ids)]


def running(cluster: SimulatedBatchSystem) -> list[int]:
    """Indexes of our running jobs."""
    return [sight.array_index for sight in cluster.live(OWNER, "") if sight.state is RemoteJobState.RUNNING]


def test_a_job_waits_for_the_next_pass_runs_and_succeeds() -> None:
    cluster = a_cluster()
    cluster.advance(0.5)
    ids = submit(cluster, grid_jobs(1, 10.0))
    assert cluster.live(OWNER, "cigri-") == [ReportedJob("cigri-1", 1, ids[0], RemoteJobState.WAITING)]
    cluster.advance(1.0)
    expected = ReportedJob("cigri-1", 1, ids[0], RemoteJobState.RUNNING, started=1.0, node="node-1")
    assert cluster.live(OWNER, "cigri-") == [expected] == cluster.past(ids)
    cluster.advance(11.0)
    assert cluster.live(OWNER, "cigri-") == []
    assert cluster.past(ids) == [ReportedJob("cigri-1", 1, ids[0], RemoteJobState.SUCCEEDED, 0, 1.0, 11.0, "node-1")]


def test_jobs_are_listed_to_their_owner_by_the_start_of_their_tag() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(2, tag="cigri-1"))
    submit(cluster, grid_jobs(1, tag="other-1"))
    submit(cluster, grid_jobs(1, tag="cigri-2", owner="carol"))
    assert [(sight.tag, sight.array_index) for sight in cluster.live(OWNER, "cigri-")] == [
        ("cigri-1", 1),
        ("cigri-1", 2),
    ]
    assert [sight.tag for sight in cluster.live("carol", "cigri-")] == ["cigri-2"]
    assert cluster.live("nobody", "") == []
    assert [sight.array_index for sight in cluster.find("cigri-1")] == [1, 2]


def test_tasks_of_a_job_run_one_after_the_other_and_leave_a_record_each() -> None:
    cluster = a_cluster(EXACT._replace(start_latency=0.5))
    submit(cluster, grid_jobs(1, [2.0, 3.0]))
    cluster.advance(10.0)
    first, second = cluster.ended_tasks(OWNER)
    assert first == SimulatedTaskEnd(1, "cigri-1", 1, 0, 0, 0.5, 2.0, "node-1")
    assert second == SimulatedTaskEnd(2, "cigri-1", 1, 1, 0, 2.5, 3.0, "node-1")
    assert cluster.ended_tasks("carol") == []


def test_records_stay_until_they_are_acknowledged() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(3, 1.0))
    cluster.advance(10.0)
    assert [end.number for end in cluster.ended_tasks(OWNER, limit=2)] == [1, 2]
    assert [end.number for end in cluster.ended_tasks(OWNER, acknowledged=[2, 1, 77])] == [3]
    assert cluster.ended_tasks(OWNER, acknowledged=[3]) == []


def test_the_ends_of_jobs_are_known_for_a_day() -> None:
    cluster = a_cluster()
    first = submit(cluster, grid_jobs(1, 10.0))
    cluster.advance(100.0)
    later = submit(cluster, grid_jobs(1, 10.0))
    cluster.advance(86_400.0)
    assert len(cluster.past([*first, *later])) == 2
    last = submit(cluster, grid_jobs(1, 50.0))
    cluster.advance(86_500.0)
    assert [sight.remote_id for sight in cluster.past([*first, *later, *last])] == [*later, *last]


def test_a_job_fails_by_a_task_and_the_others_still_run() -> None:
    cluster = a_cluster()
    [job] = grid_jobs(1, [1.0, 1.0])
    job = job._replace(tasks=[job.tasks[0]._replace(exit_code=3), job.tasks[1]])
    ids = submit(cluster, [job])
    cluster.advance(5.0)
    assert [(sight.state, sight.exit_code) for sight in cluster.past(ids)] == [(RemoteJobState.FAILED, 3)]
    assert [end.exit_code for end in cluster.ended_tasks(OWNER)] == [3, 0]


def test_the_walltime_kills_and_what_was_done_before_stays_done() -> None:
    cluster = a_cluster()
    ids = submit(cluster, grid_jobs(1, [6.0, 6.0], walltime=10.0))
    cluster.advance(20.0)
    [sight] = cluster.past(ids)
    assert (sight.state, sight.ended, sight.exit_code) == (RemoteJobState.TIMEOUT, 10.0, None)
    assert [end.position for end in cluster.ended_tasks(OWNER)] == [0]


def test_waiting_and_running_jobs_are_cancelled() -> None:
    cluster = a_cluster(EXACT._replace(kill_delay=2.0))
    ids = submit(cluster, grid_jobs(10))
    cluster.advance(5.0)
    cluster.cancel([ids[0], ids[9], "77"])
    assert states(cluster, [ids[0], ids[9]]) == ["running", "killed"]
    cluster.advance(7.0)
    assert states(cluster, [ids[0], ids[9]]) == ["killed", "killed"]
    assert [sight.started for sight in cluster.past([ids[0], ids[9]])] == [0.0, None]
    assert running(cluster) == [2, 3, 4, 5, 6, 7, 8, 9]
    cluster.cancel([ids[0]])


def test_the_start_rate_bounds_everybody_and_local_jobs_come_first() -> None:
    cluster = a_cluster(EXACT._replace(start_rate=3.0), [local(0.5, 1, 100.0)])
    cluster.advance(0.5)
    submit(cluster, grid_jobs(8))
    cluster.advance(1.0)
    assert (cluster.meters.local_starts, len(running(cluster))) == ({0: 1.0}, 2)
    cluster.advance(2.0)
    assert len(running(cluster)) == 5
    assert cluster.meters.starts == {1: 3, 2: 3}


def test_a_rate_below_one_start_per_pass_is_kept() -> None:
    cluster = a_cluster(EXACT._replace(start_rate=0.25))
    submit(cluster, grid_jobs(8, 1000.0))
    cluster.advance(12.0)
    assert len(running(cluster)) == 4


def test_a_besteffort_job_stays_within_a_node_unless_it_is_wider() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(2, cores=3, tag="three"))
    submit(cluster, grid_jobs(1, cores=2, tag="two"))
    cluster.advance(5.0)
    assert cluster.capacity() == Capacity(8, 2, 6, 0)
    wide = a_cluster()
    submit(wide, grid_jobs(1, cores=7))
    wide.advance(5.0)
    assert wide.capacity() == Capacity(8, 1, 7, 0)


def test_a_wide_besteffort_job_is_not_starved_by_narrow_ones() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(8, [10.0], walltime=20.0, tag="before"))
    submit(cluster, grid_jobs(1, 5.0, cores=4, walltime=20.0, tag="wide"))
    submit(cluster, grid_jobs(100, 10.0, walltime=20.0, tag="after"))
    cluster.advance(11.0)
    assert [sight.state for sight in cluster.find("wide")] == [RemoteJobState.RUNNING]
    assert cluster.capacity().free == 0


def test_narrow_besteffort_jobs_use_held_cores_if_they_end_in_time() -> None:
    cluster = a_cluster()
    submit(cluster, grid_jobs(4, 50.0, walltime=50.0, cores=2, tag="before"))
    cluster.advance(1.0)
    cluster.cancel([cluster.find("before")[0].remote_id])
    submit(cluster, grid_jobs(1, cores=4, tag="wide"))
    submit(cluster, grid_jobs(1, 10.0, walltime=49.5, tag="late"))
    submit(cluster, grid_jobs(1, 10.0, walltime=49.0, tag="short"))
    cluster.advance(2.0)
    assert [sight.state for sight in cluster.find("late") + cluster.find("short")] == [
        RemoteJobState.WAITING,
        RemoteJobState.RUNNING,
    ]


def test_a_local_job_kills_the_youngest_and_just_enough() -> None:
    cluster = a_cluster(load=[local(20.5, 3, 10.0)])
    old = submit(cluster, grid_jobs(4, 500.0, tag="old"))
    cluster.advance(10.0)
    young = submit(cluster, grid_jobs(3, 500.0, tag="young"))
    cluster.advance(30.0)
    assert states(cluster, old) == ["running"] * 4
    assert states(cluster, young) == ["running", "preempted", "preempted"]
    assert [sight.ended for sight in cluster.past(young)] == [None, 21.0, 21.0]


@pytest.mark.parametrize(
    ("machine", "ended"),
    [
        pytest.param(slurm(2, 4), {"old": [1, 2], "young": []}, id="Slurm: the oldest"),
        pytest.param(oar(2, 4), {"old": [], "young": [1, 2]}, id="OAR: what is on the first node"),
        pytest.param(gridengine(2, 4), {"old": [], "young": [3, 4]}, id="Grid Engine: the youngest"),
    ],
)
def test_whose_cores_a_local_job_gets_is_as_seen_on_real_servers(
    machine: HardwareModel, ended: dict[str, list[int]]
) -> None:
    cluster = a_cluster(machine, [local(40.5, 2, 10.0)])
    submit(cluster, grid_jobs(4, 15.0, tag="before"))  # on the first node
    cluster.advance(5.0)
    submit(cluster, grid_jobs(4, 500.0, tag="old"))  # on the second one
    cluster.advance(30.0)
    submit(cluster, grid_jobs(4, 500.0, tag="young"))
    cluster.advance(60.0)
    for tag, indexes in ended.items():
        gone = [job.array_index for job in cluster.find(tag) if job.state is RemoteJobState.PREEMPTED]
        assert sorted(gone) == indexes


def test_a_local_job_is_delayed_by_the_grace_and_the_preemption_delay_only() -> None:
    load = [local(20.5, 8, 10.0), local(21.5, 8, 10.0)]
    cluster = a_cluster(EXACT._replace(grace=5.0), load)
    ids = submit(cluster, grid_jobs(20, 500.0))
    cluster.advance(100.0)
    assert cluster.meters.local_starts == {0: 21.0 + 5.0 + 2.0, 1: 28.0 + 10.0}
    assert states(cluster, ids).count("preempted") == 8
    assert len(running(cluster)) == 8
    alone = a_cluster(EXACT, load)
    alone.advance(100.0)
    assert alone.meters.local_starts == {0: 21.0, 1: 31.0}


def test_a_task_that_ends_within_the_grace_is_done_and_lets_the_local_job_start_sooner() -> None:
    cluster = a_cluster(EXACT._replace(grace=5.0), [local(20.5, 8, 10.0)])
    ids = submit(cluster, grid_jobs(8, [23.0, 50.0]))
    cluster.advance(40.0)
    assert len(cluster.ended_tasks(OWNER)) == 8
    assert [(sight.state, sight.ended) for sight in cluster.past(ids)] == [(RemoteJobState.PREEMPTED, 23.0)] * 8
    assert cluster.meters.local_starts == {0: 25.0}


def test_two_local_jobs_share_the_cores_of_one_wide_job_that_dies() -> None:
    cluster = a_cluster(EXACT._replace(grace=5.0), [local(20.5, 3, 10.0), local(20.5, 5, 10.0)])
    submit(cluster, grid_jobs(1, 500.0, cores=8))
    cluster.advance(40.0)
    assert cluster.meters.local_starts == {0: 28.0, 1: 26.0}


def test_a_job_that_dies_for_a_local_one_cannot_be_killed_otherwise() -> None:
    cluster = a_cluster(EXACT._replace(grace=5.0, kill_delay=1.0), [local(20.5, 8, 10.0)])
    ids = submit(cluster, grid_jobs(8, 500.0))
    cluster.advance(22.0)
    cluster.cancel(ids)
    cluster.advance(40.0)
    assert [(sight.state, sight.ended) for sight in cluster.past(ids)] == [(RemoteJobState.PREEMPTED, 26.0)] * 8


def test_a_local_job_ends_at_its_walltime() -> None:
    cluster = a_cluster(load=[local(0.0, 8, 100.0, walltime=50.0), local(1.0, 8, 1.0)])
    cluster.advance(60.0)
    assert cluster.meters.local_starts == {0: 0.0, 1: 50.0}


def test_local_jobs_backfill_as_if_our_besteffort_jobs_were_not_there() -> None:
    load = [local(0.0, 6, 100.0), local(1.0, 4, 50.0), local(2.0, 2, 98.0), local(3.0, 2, 200.0)]
    alone, shared = a_cluster(load=load), a_cluster(load=load)
    submit(shared, grid_jobs(50, 30.0))
    for cluster in (alone, shared):
        cluster.advance(300.0)
    assert alone.meters.local_starts == {0: 0.0, 2: 2.0, 1: 100.0, 3: 100.0}
    delays = [shared.meters.local_starts[number] - alone.meters.local_starts[number] for number in range(4)]
    assert all(0.0 <= delay <= 2.0 for delay in delays)
    assert delays[2] == 2.0


def test_a_normal_job_of_ours_queues_with_local_ones_and_is_never_preempted() -> None:
    cluster = a_cluster(load=[local(0.0, 8, 10.0), local(2.0, 8, 10.0)])
    cluster.advance(1.0)
    ids = submit(cluster, grid_jobs(1, 20.0, cores=8, besteffort=False))
    cluster.advance(50.0)
    assert [(sight.started, sight.ended) for sight in cluster.past(ids)] == [(10.0, 30.0)]
    assert cluster.meters.local_starts == {0: 0.0, 1: 30.0}


def test_a_normal_job_of_ours_may_be_cancelled_while_others_die_for_it() -> None:
    cluster = a_cluster(EXACT._replace(grace=5.0))
    submit(cluster, grid_jobs(6, 500.0))
    cluster.advance(1.0)
    ids = submit(cluster, grid_jobs(1, 20.0, cores=8, besteffort=False, tag="normal"))
    cluster.advance(3.0)
    assert states(cluster, ids) == ["waiting"]
    cluster.cancel(ids)
    cluster.advance(50.0)
    assert states(cluster, ids) == ["killed"]
    assert cluster.capacity() == Capacity(8, 8, 0, 0)


def test_those_behind_a_cancelled_job_need_not_wait_for_it() -> None:
    cluster = a_cluster(load=[local(0.0, 4, 100.0)])
    cluster.advance(1.0)
    ids = submit(cluster, grid_jobs(1, 20.0, cores=8, besteffort=False, tag="wide"))
    ids += submit(cluster, grid_jobs(1, 20.0, cores=4, besteffort=False, tag="narrow"))
    cluster.advance(10.5)
    assert states(cluster, ids) == ["waiting", "waiting"]
    cluster.cancel(ids[:1])
    cluster.advance(11.0)
    assert states(cluster, ids) == ["killed", "running"]


def test_a_pass_sees_all_that_happens_at_its_instant() -> None:
    cluster = a_cluster(load=[local(2.5, 1, 1.0), local(3.0, 1, 1.0)])
    cluster.advance(3.0)
    assert cluster.meters.local_starts == {0: 3.0, 1: 3.0}


def test_what_the_machine_cannot_take_is_refused_whole() -> None:
    cluster = a_cluster(EXACT._replace(largest_array=5, most_waiting=12))
    with pytest.raises(ArrayTooLarge) as caught:
        submit(cluster, grid_jobs(6))
    assert caught.value.largest == 5
    with pytest.raises(SubmissionRefused, match="asks for 9"):
        submit(cluster, grid_jobs(1, cores=9))
    submit(cluster, grid_jobs(5))
    submit(cluster, grid_jobs(5, tag="b"))
    with pytest.raises(SubmissionRefused, match="at most 12"):
        submit(cluster, grid_jobs(3, tag="c"))
    assert len(cluster.live(OWNER, "")) == 10
    with pytest.raises(ValueError, match="must say so"):
        cluster.submit("other", OWNER, grid_jobs(1))


def test_a_local_job_wider_than_the_machine_is_refused() -> None:
    cluster = a_cluster(load=[local(0.0, 9, 10.0), local(0.0, 8, 10.0)])
    cluster.advance(10.0)
    assert (cluster.meters.local_refused, cluster.meters.local_starts) == (1, {1: 0.0})


def test_a_load_out_of_order_is_an_error() -> None:
    cluster = a_cluster(load=[local(5.0, 1, 1.0), local(4.0, 1, 1.0)])
    with pytest.raises(ValueError, match="local job 1 of dahu"):
        cluster.advance(10.0)


def test_time_does_not_go_back() -> None:
    cluster = a_cluster()
    cluster.advance(10.0)
    with pytest.raises(ValueError, match="time does not go back"):
        cluster.advance(9.0)


@pytest.mark.parametrize(("preset", "rate"), [(slurm, 60.0), (oar, 3.0), (gridengine, 18.0)])
def test_short_jobs_go_at_the_measured_rate(preset: type[HardwareModel], rate: float) -> None:
    cluster = a_cluster(preset(32, 8))
    submit(cluster, grid_jobs(2000, 0.01))
    cluster.advance(30.0)
    assert len(cluster.ended_tasks(OWNER)) == pytest.approx(30 * rate, rel=0.1)
