"""What a batch system lets an account submit is learnt: the queue is full, and nobody has failed."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.grid import Grid, until
from tests.sites.enforcing import restart

pytestmark = pytest.mark.cluster

OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
LIMITS = "SELECT local_user, most, refused, counts_arrays FROM queue_limits"
LIVE = "SELECT count(*) FROM jobs WHERE state IN ('submitted', 'running')"
FAULTS = "SELECT sum(failures + deaths) FROM tasks"
BLAMED = "SELECT code FROM events WHERE code IN ('CLUSTER_SET_ASIDE', 'SUBMISSION_REFUSED', 'CLUSTER_UNREACHABLE')"


def set_limit(grid: Grid, number: int) -> None:
    """In Slurm's accounting, of what alice may have submitted; -1: none. Here slurmctld reads that when it starts."""
    grid.site.sh(f"sacctmgr -i modify user alice set MaxSubmitJobs={number} >/dev/null || true", user="root")
    restart(grid)


@pytest.fixture
def enforced(beta: Grid) -> Iterator[Grid]:
    """Slurm that keeps to the limits of its accounting."""
    conf, line = "/etc/slurm/slurm.conf", "AccountingStorageEnforce=associations,limits,qos"
    beta.site.sh(f"echo {line} >>{conf}", user="root")
    set_limit(beta, 6)
    yield beta
    beta.site.sh(f"scancel -u alice; sed -i '/^{line}$/d' {conf}", user="root")
    set_limit(beta, -1)


def room_used(grid: Grid, limit: int) -> float:
    """The part of the limit that the grid has in the queue after each cycle, while there are tasks for all of it."""
    samples: list[int] = []

    def is_over() -> bool:
        counts = grid.counts()
        if grid.rows("SELECT 1 FROM queue_limits WHERE refused = most + 1") and counts.get("waiting"):
            samples.append(grid.one(LIVE))
        return counts.get("done") == sum(counts.values())

    grid.run_until(is_over, seconds=400)
    return sum(samples) / (limit * len(samples))


def test_slurms_limit_of_submitted_jobs_is_learnt(enforced: Grid) -> None:
    """All of it is used, another account feels nothing, and the operator reads which limit it is."""
    enforced.submit([str(number) for number in range(40)], command="sleep 5")
    other = enforced.submit([str(number) for number in range(20)], name="other")
    with enforced.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET grid_user = 'bob' WHERE id = :id"), {"id": other})
    assert room_used(enforced, 6) > 0.9
    enforced.run_to_end()
    assert [tuple(row.values()) for row in enforced.rows(LIMITS)] == [("alice", 6, 7, False)]
    assert enforced.one("SELECT max(size) FROM batches WHERE local_user = 'bob' AND state = 'submitted'") == 20
    [told] = enforced.rows(OPEN)
    assert (told["code"], told["subject"]) == ("QUEUE_LIMIT", "account alice on beta")
    assert "AssocMaxSubmitJobLimit" in told["message"]
    assert "6 jobs of the grid were taken at a time, 7 were not" in told["message"]
    assert "max_jobs" in told["message"]
    assert enforced.rows(BLAMED) == []
    assert enforced.one(FAULTS) == 0
    assert set(enforced.executions()) >= set(range(40))
    enforced.assert_sane()


def set_most_jobs(grid: Grid, most: int, age: int) -> None:
    """In slurm.conf: jobs of all accounts, and the seconds for which those that ended count as well."""
    changed = f"s/^MaxJobCount=.*/MaxJobCount={most}/; s/^MinJobAge=.*/MinJobAge={age}/"
    grid.site.sh(f"sed -i '{changed}' /etc/slurm/slurm.conf", user="root")
    restart(grid)


@pytest.fixture
def small_queue(alpha: Grid) -> Iterator[Grid]:
    """Slurm that remembers eight jobs at a time, and none when the test begins; once a minute it forgets some."""
    alpha.site.sh("scancel -u alice; scancel -u bob", user="root")
    set_most_jobs(alpha, 100_000, 2)
    try:
        until(lambda: alpha.site.sh("squeue -h -a -t all", user="root") == "")
        set_most_jobs(alpha, 8, 2)
        yield alpha
    finally:
        alpha.site.sh("scancel -u alice", user="root")
        set_most_jobs(alpha, 100_000, 300)


def test_slurms_limit_of_all_jobs_is_learnt_and_no_submission_waits_for_room(small_queue: Grid) -> None:
    """Slurm's sbatch would try for two minutes; meanwhile, nobody could submit anything, and the cluster were away."""
    small_queue.submit([str(number) for number in range(12)])
    small_queue.run_until(lambda: small_queue.rows(LIMITS) and small_queue.one(LIVE))
    small_queue.run_to_end(seconds=600)
    [told] = small_queue.rows("SELECT subject, message FROM events WHERE code = 'QUEUE_LIMIT'")
    assert told["subject"] == "account alice on alpha"
    for word in ("temporarily unable to accept job", "MaxJobCount = 8", "were taken at a time", "max_jobs"):
        assert word in told["message"]
    assert small_queue.rows(BLAMED) == []
    assert small_queue.rows("SELECT 1 FROM events WHERE code IN ('ACCOUNT_REFUSED', 'SUBMISSION_FAILED')") == []
    assert small_queue.one(FAULTS) == 0
    small_queue.assert_each_ran_once(12)
    small_queue.assert_sane()


def set_arrays(grid: Grid, number: int) -> None:
    """In Grid Engine's configuration, of what each user may have there; 0: any number."""
    changed = f"qconf -sconf | sed 's/^max_u_jobs .*/max_u_jobs {number}/' >/tmp/global && qconf -Mconf /tmp/global"
    grid.site.sh(f"{changed} && rm /tmp/global", user="root")


@pytest.fixture
def few_arrays(gamma: Grid) -> Iterator[Grid]:
    """Grid Engine that takes two arrays of a user at a time."""
    set_arrays(gamma, 2)
    yield gamma
    set_arrays(gamma, 0)


def test_grid_engines_limit_of_jobs_is_learnt_as_one_of_arrays(few_arrays: Grid) -> None:
    for _ in range(4):
        few_arrays.submit(["1", "2", "3"])
    few_arrays.run_to_end()
    assert [tuple(row.values()) for row in few_arrays.rows(LIMITS)] == [("alice", 2, 3, True)]
    [told] = few_arrays.rows(OPEN)
    assert (told["code"], told["subject"]) == ("QUEUE_LIMIT", "account alice on gamma")
    assert "only 2 jobs are allowed per user" in told["message"]
    assert few_arrays.rows(BLAMED) == []
    assert few_arrays.one(FAULTS) == 0
    assert few_arrays.counts() == {"done": 12}
    assert few_arrays.one("SELECT min(size) FROM batches WHERE state = 'submitted'") == 3
    few_arrays.assert_sane()
