"""Campaigns on real Slurm clusters over real SSH: preempted, by users' own keys, tested by the operator."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.clusters import put_cluster
from modules import killer
from tests.faults.conftest import slurm_grid
from tests.grid import Grid, slurm_site, until
from tests.waiting import PATIENCE

pytestmark = pytest.mark.cluster
CORES = 16  # of a cluster of the testbed


def test_a_local_users_job_preempts_ours_and_the_tasks_are_done_again_for_free(alpha: Grid) -> None:
    alpha.submit([str(n) for n in range(CORES)], command=f"until [ -e {alpha.place}/go ]; do sleep 0.2; done")
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE state = 'running'") == CORES)
    until(lambda: len(alpha.executions()) == CORES)
    alpha.site.sh("sbatch -p normal -n 4 -N 1 -o /dev/null --wrap 'sleep 2'", user="bob")
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM attempts WHERE outcome = 'preempted'") == 4)
    assert alpha.rows("SELECT DISTINCT priority FROM tasks WHERE deaths = 1") == [{"priority": 20}]
    alpha.site.sh(f"touch {alpha.place}/go")
    alpha.run_to_end()
    assert sorted(alpha.executions().values()) == [1] * (CORES - 4) + [2] * 4
    assert alpha.counts() == {"done": CORES}
    assert alpha.one("SELECT sum(failures) FROM tasks") == 0
    alpha.assert_sane()


def test_a_thousand_jobs_in_flight_take_one_command_a_pass(alpha: Grid) -> None:
    jobs = 1000
    with alpha.database.begin() as conn:
        large = {"max_waiting": jobs, "keep_waiting": jobs, "n_max_queued_jobs": jobs, "max_array": 400}
        put_cluster(conn, "alpha", alpha.site.config | large)
    alpha.submit([str(n) for n in range(jobs)], command="exec sleep 300")
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == jobs)
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE state = 'running'") == CORES)
    for _ in range(5):
        before = alpha.gateway.commands.total()
        alpha.cycle()
        # the visitor's question and that of the one user who has jobs
        assert alpha.gateway.commands.total() - before <= 2
    alpha.kill_all_jobs()
    before = alpha.gateway.commands.total()
    killer.run_once(alpha.tools)
    assert alpha.gateway.commands.total() - before == 1
    alpha.run_to_end()
    assert alpha.counts() == {"cancelled": jobs}
    alpha.assert_sane()


@pytest.fixture
def keyed(database: Database, beta_up: None) -> Iterator[Grid]:
    """beta, where each user logs in by a key of their own and there is no gateway."""
    keys = Path(slurm_site("beta").config["ssh"]["key_file"]).parent
    for grid in slurm_grid("beta", database):
        ssh: dict[str, Any] = {**grid.site.config["ssh"], "account": "", "key_file": f"{keys}/{{user}}"}
        with database.begin() as conn:
            put_cluster(conn, "beta", {**grid.site.config, "ssh": ssh, "visitor": "bob"})
        yield grid


def test_users_log_in_by_their_own_keys(keyed: Grid) -> None:
    keyed.submit(["1", "2", "3"], command=f"id -un >>{keyed.place}/who")
    keyed.run_to_end()
    keyed.assert_each_ran_once(3)
    assert set(keyed.site.sh(f"cat {keyed.place}/who").split()) == {"alice"}


def test_normal_jobs_go_to_the_normal_partition_and_besteffort_ones_to_theirs(beta: Grid) -> None:
    where = f'echo "$SLURM_JOB_PARTITION" >>{beta.place}/$1'
    beta.submit(["besteffort"], command=where)
    beta.submit(["normal"], command=where, type="normal")
    beta.run_to_end()
    for partition in ("besteffort", "normal"):
        assert beta.site.sh(f"cat {beta.place}/{partition}").split() == [partition]


def test_jobs_that_slurm_begins_again_die_for_free(alpha: Grid, beta_up: None) -> None:
    """As an operator's `scontrol requeue` or the death of a node does where a site overrides --no-requeue."""
    beta, place = slurm_site("beta"), alpha.place
    alpha.add(beta)
    beta.sh(f"mkdir -p {place}")
    unwritable = "chmod 444 /proc/$PPID/cwd/journal.$CIGRI_INDEX"  # it leaves no record, as on a node that dies
    first = f"mkdir {place}/$1 || exit 0; [ $1 = told ] || {unwritable}; touch {place}/$1/begun; sleep 300"
    for site in (alpha.site, beta):
        alpha.submit(["told", "untold"], command=first, clusters={site.name: {}})
    begun = f"ls {place}/told/begun {place}/untold/begun 2>/dev/null | wc -l"
    alpha.run_until(lambda: [int(site.sh(begun)) for site in (alpha.site, beta)] == [2, 2])
    requeue = (
        "for id in $(squeue -h -r -u alice -o %i); do scontrol update JobId=$id Requeue=1; scontrol requeue $id; done"
    )
    for site in (alpha.site, beta):
        site.sh(requeue, user="root")
    alpha.run_to_end()
    assert alpha.counts() == {"done": 4}
    ended = alpha.rows("SELECT outcome::text, count(*) FROM attempts GROUP BY outcome ORDER BY outcome::text")
    assert [tuple(row.values()) for row in ended] == [("lost", 2), ("preempted", 2), ("success", 4)]
    assert alpha.one("SELECT count(*) FROM jobs WHERE reason LIKE '%begun again by the batch system, restarts: 1'") == 2
    assert alpha.rows("SELECT DISTINCT failures, deaths FROM tasks") == [{"failures": 0, "deaths": 1}]
    alpha.assert_sane()


def test_a_cluster_that_takes_small_arrays_only_is_given_such(beta: Grid) -> None:
    beta.add(slurm_site("beta", keep_waiting=150, n_max_queued_jobs=150))
    beta.submit([str(n) for n in range(120)])
    beta.run_to_end()
    beta.assert_each_ran_once(120)
    sizes = "SELECT count(*), max(size) FROM batches WHERE state <> 'void'"
    (sent,) = beta.rows(sizes)  # a busy machine is asked for less
    assert sent["count"] > 1
    assert sent["max"] <= 100
    assert beta.one("SELECT config['max_array'] FROM clusters") == 100
    assert beta.one("SELECT count(*) FROM events WHERE code <> 'FINISHED'") == 1


SHELLS = '--ns $$ --nslist mnt -u bob -f "^sh -s$"'
"""bob's on this cluster, in whose mount namespace they are: tests on other clusters run beside this one."""

STOPPING = f"while :; do pkill -STOP {SHELLS}; sleep 0.05; done"
"""What a user may do on a front-end: our shells run as themselves."""


@pytest.fixture
def stopped_bob(alpha: Grid) -> Iterator[None]:
    """bob stops each of his shells as soon as it is there."""
    loop = int(alpha.site.sh(f"nohup sh -c {shlex.quote(STOPPING)} >/dev/null 2>&1 & echo $!", user="bob"))
    yield
    alpha.site.sh(f"kill {loop}; while kill -0 {loop} 2>/dev/null; do sleep 0.05; done; :", user="bob")
    alpha.site.sh(f"pkill -CONT {SHELLS} || :", user="bob")


def test_a_user_who_stops_their_shells_delays_nobody_else(alpha: Grid, stopped_bob: None) -> None:
    with alpha.database.begin() as conn:
        put_cluster(conn, "alpha", {**alpha.site.config, "timeout": PATIENCE})  # longer than others may take
    alpha.submit(["1"], command="true")
    with alpha.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET grid_user = 'bob'"))
    for _ in range(2):
        alpha.submit([str(number) for number in range(2, 10)])
        alpha.run_until(lambda: alpha.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 1)
    assert alpha.counts() == {"done": 16, "assigned": 1}
    assert alpha.rows("SELECT code FROM events WHERE closed_at IS NULL") == []  # he is still waited for
