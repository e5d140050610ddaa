"""What jobs on real clusters read of their limits, say of themselves, and hear, in Machine/Job Features."""

import re
import time
from datetime import timedelta

import pytest

from cigri.database import server_time
from cigri.flow.drains import ClusterDrain, NodeDrainRequest, end_node_drains, put_drain, put_node_drain
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.tasks import take_waiting
from modules import killer, runner, updator
from tests.grid import Grid


@pytest.mark.cluster
def test_a_job_reads_its_cores_and_its_limits(each_kind: Grid) -> None:
    grid = each_kind
    reads = [f'cd "${kind}FEATURES" && grep -H "" * >{grid.place}/{kind}' for kind in ("JOB", "MACHINE")]
    grid.submit(["1"], command=f"{'; '.join(reads)}; true", resources={"cpu": 2}, walltime=600)
    grid.run_to_end()
    grid.assert_each_ran_once(1)
    job, machine = (
        dict(line.split(":", 1) for line in grid.site.sh(f"cat {grid.place}/{name}").splitlines())
        for name in ("JOB", "MACHINE")
    )
    assert job["allocated_cpu"] == "2"
    assert job["wall_limit_secs"] == "600"
    assert job["cpu_limit_secs"] == "1200"
    assert job["job_id"] == grid.one("SELECT remote_id FROM jobs")
    assert 0 <= time.time() - int(job["jobstart_secs"]) < 120
    assert int(job["scratch_limit_bytes"]) > 0
    assert int(machine["total_cpu"]) > 0
    assert not {key for key, value in (job | machine).items() if value == "0"}


PILOT = """\
show() { flock -s 9; for f in "$JOBSTATUS"/*; do echo "${f##*/} $(cat "$f")"; done >$1; } 9<"$JOBSTATUS/used_CPU"
wait_for() { until [ -e "$1" ]; do sleep 0.1; done; }
cd PLACE || exit 1
case $CIGRI_TASK_NUMBER in
0)
    wait_for third; show both; touch read
    until [ "$(cat "$JOBSTATUS/used_CPU")" = 1 ]; do sleep 0.1; done
    show alone; echo yes >idle
    wait_for "$MACHINEFEATURES/shutdowntime"; cp "$MACHINEFEATURES/shutdowntime" machine ;;
1) sleep 3 ;;
2) touch third; wait_for read ;;
esac
"""
ESTIMATE = 300


def start_side_by_side(grid: Grid) -> None:
    """One job of three tasks on two cores, as the campaign schedulers make them where a node has room."""
    grid.site.sh(f"cat >{grid.place}/pilot <<'EOF'\n{PILOT.replace('PLACE', grid.place)}EOF\n")
    campaign = grid.submit(["a", "b", "c"], command=f"sh {grid.place}/pilot", walltime=900)
    updator.run_once(grid.tools)
    with grid.database.begin() as conn:
        tasks = take_waiting(conn, campaign, 3)
        assert put_jobs(conn, campaign, [NewJob(cluster_of(grid), 2, 900, tasks, 2)]) == 1
        forecast = NewForecast(campaign, cluster_of(grid), 1.0, None, float(ESTIMATE), None, 3, None)
        put_forecasts(conn, [forecast], 60.0)
    runner.run_once(grid.tools)
    grid.run_until(lambda: written(grid, "idle"))
    assert grid.one("SELECT state::text FROM jobs") == "running"


def cluster_of(grid: Grid) -> int:
    return int(grid.one("SELECT id FROM clusters"))


def written(grid: Grid, name: str) -> str:
    """What a task has put into a file of that name; empty if it has not."""
    return grid.site.sh(f"cat {grid.place}/{name} 2>/dev/null; true")


def status_of_tasks_side_by_side(grid: Grid) -> None:
    """The formulas of the draft, in the files and in what a drain reckons with."""
    start_side_by_side(grid)
    both, alone = (
        {key: int(value) for key, value in map(str.split, written(grid, name).splitlines()) if value.isdigit()}
        for name in ("both", "alone")
    )
    third, lost = both["last_job_start"], both["add_uncom_time"]
    first = third - lost
    assert 3 <= lost <= 30
    assert (both["used_CPU"], alone["used_CPU"]) == (2, 1)
    assert both["first_exp_job_end"] == first + ESTIMATE
    assert both["last_exp_job_end"] == third + ESTIMATE
    assert (both["add_final_exp_waste"], alone["add_final_exp_waste"]) == (lost, 0)
    with grid.database.begin() as conn:
        deadline = (server_time(conn) + timedelta(seconds=120)).replace(microsecond=0)
        put_drain(conn, grid.site.name, ClusterDrain(deadline, False, 0, "oper"))
    before = time.time()
    killer.run_once(grid.tools)
    message = grid.one("SELECT message FROM events WHERE code = 'CLUSTER_DRAIN'")
    wasted, drained = (int(re.findall(rf"{name} (\d+)", message)[0]) for name in ("kill_waste", "draining_waste"))
    assert abs(wasted - (before - first)) < 10  # only the first task runs: a core since it began
    assert abs(drained - (first + ESTIMATE - before)) < 10  # the other core idles until it ends
    grid.run_to_end()
    assert written(grid, "machine") == f"{int(deadline.timestamp())}\n"
    grid.assert_each_ran_once(3)


def test_status_of_tasks_side_by_side_on_this_host(local: Grid) -> None:
    status_of_tasks_side_by_side(local)


@pytest.mark.cluster
def test_status_of_tasks_side_by_side_on_real_clusters(each_kind: Grid) -> None:
    status_of_tasks_side_by_side(each_kind)


def drain_the_node_of_a_job(grid: Grid) -> tuple[str, int]:
    """A job ends as soon as it hears that its machine goes; the name of the node, and when it is to be empty."""
    waits = 'until [ -e "$MACHINEFEATURES/shutdowntime" ]; do sleep 0.1; done; cat "$MACHINEFEATURES/shutdowntime"'
    grid.submit(["1"], command=f"{waits} >{grid.place}/machine", walltime=900)
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running' AND node <> ''") == 1)
    node = grid.one("SELECT node FROM jobs")
    with grid.database.begin() as conn:
        deadline = (server_time(conn) + timedelta(seconds=300)).replace(microsecond=0)
        put_node_drain(conn, cluster_of(grid), NodeDrainRequest(node, deadline, "oper"))
    return node, int(deadline.timestamp())


@pytest.fixture(params=["alpha", "delta"])
def of_two_nodes(request: pytest.FixtureRequest) -> Grid:
    grid: Grid = request.getfixturevalue(request.param)
    return grid


@pytest.mark.cluster
def test_a_node_that_drains_tells_its_job_and_gets_no_other(of_two_nodes: Grid) -> None:
    grid = of_two_nodes
    node, deadline = drain_the_node_of_a_job(grid)
    grid.submit([str(number) for number in range(1, 5)], temporal_grouping="false")
    grid.run_to_end(180)
    assert written(grid, "machine") == f"{deadline}\n"
    others = grid.rows("SELECT DISTINCT node FROM jobs WHERE campaign_id = 2")
    assert others
    assert node not in {row["node"] for row in others}


@pytest.mark.cluster
def test_while_the_only_node_drains_nothing_runs_and_people_read_why(gamma: Grid) -> None:
    gamma.tune("budget", backoff=1.0)
    node, deadline = drain_the_node_of_a_job(gamma)
    campaign = gamma.submit(["1", "2"])
    refused = "SELECT message FROM events WHERE code = 'SUBMISSION_REFUSED'"
    gamma.run_until(lambda: gamma.rows(refused))
    assert gamma.rows(refused)[0]["message"].endswith(f" (left out: {node}, which drains)")
    assert gamma.rows(f"SELECT 1 FROM jobs WHERE campaign_id = {campaign} AND submitted_at IS NOT NULL") == []
    gamma.run_until(lambda: gamma.counts() == {"done": 1, "waiting": 2})
    assert written(gamma, "machine") == f"{deadline}\n"
    with gamma.database.begin() as conn:
        end_node_drains(conn, cluster_of(gamma), [node])
    gamma.run_to_end()
    assert gamma.counts() == {"done": 3}
    assert gamma.one("SELECT count(*) FROM events WHERE closed_at IS NULL") == 0
    gamma.assert_sane()
