"""What a batch system says of jobs that wait is kept and shown; those that wait in vain go elsewhere at once."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cigri.api_models.pending_reasons import ClusterExplanation
from cigri.endpoints.pending_reasons import why
from cigri.identity.callers import Caller
from tests.grid import Grid
from tests.sites.enforcing import restart

pytestmark = pytest.mark.cluster

OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
SAID = "SELECT said, meaning, is_stuck, jobs FROM waiting_reasons ORDER BY said"
WHERE_DONE = """
    SELECT c.name, count(*) AS tasks FROM attempts a JOIN jobs j ON j.id = a.job_id
    JOIN clusters c ON c.id = j.cluster_id WHERE a.outcome = 'success' GROUP BY c.name
"""
ENFORCE = "AccountingStorageEnforce=associations,limits,qos"
PARTITION = "PartitionName=brief MaxTime=1"


@pytest.fixture
def strict(beta: Grid) -> Iterator[Grid]:
    """Slurm with an account whose allocation is used up, and a partition for jobs of a minute."""
    conf = "/etc/slurm/slurm.conf"
    beta.site.sh(
        f"printf '%s\\n' {ENFORCE} '{PARTITION}' >>{conf}; sacctmgr -i add account spent >/dev/null || true; "
        "sacctmgr -i add user alice account=spent >/dev/null || true",
        user="root",
    )
    set_allocation(beta, 0)
    yield beta
    beta.site.sh(f"scancel -u alice; sed -i '/^{ENFORCE}$/d; /^{PARTITION}$/d' {conf}", user="root")
    beta.site.sh("sacctmgr -i delete user alice account=spent >/dev/null || true", user="root")
    restart(beta)


def set_allocation(grid: Grid, minutes: int) -> None:
    """What the account may use of processors; -1: any amount."""
    grid.site.sh(f"sacctmgr -i modify account spent set GrpTRESMins=cpu={minutes} >/dev/null || true", user="root")
    restart(grid)


def add_way(grid: Grid, name: str, **options: str) -> None:
    """One more cluster of the grid, which is the same Slurm with other options."""
    config = grid.site.config | {"options": grid.site.config["options"] | options}
    grid.add(replace(grid.site, name=name, config=config))


def explained(grid: Grid, campaign: int, cluster: str) -> ClusterExplanation:
    """As `gridstat --why` has it."""
    with grid.database.read() as conn:
        told = why.function(conn, Caller("alice"), grid.settings, campaign_id=campaign)
    assert isinstance(told, list)
    return next(row for row in told if row.cluster == cluster)


CAUSES = {
    "spent": ({"account": "spent"}, "AssocGrpCPUMinutesLimit", "the allocation of its account is used up"),
    "brief": (
        {"besteffort_partition": "brief"},
        "PartitionTimeLimit",
        "its walltime is longer than its partition allows",
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_jobs_that_wait_in_vain_are_done_on_another_cluster_at_once(strict: Grid, cause: str) -> None:
    """The event tells what Slurm says; the other cluster has all tasks long before `waiting_too_long` is over."""
    options, said, meaning = CAUSES[cause]
    add_way(strict, "vain", **options)
    campaign = strict.submit([str(number) for number in range(4)], clusters={"vain": {}})
    strict.run_until(lambda: strict.rows(OPEN))
    [told] = strict.rows(OPEN)
    assert (told["code"], told["subject"]) == ("JOBS_CANNOT_START", f"campaign {campaign} on vain")
    assert f"4 of its jobs wait there for what does not come by itself: {meaning} ({said})" in told["message"]
    assert "none of its other clusters can take them" in told["message"]
    assert [tuple(row.values()) for row in strict.rows(SAID)] == [(said, meaning, True, 4)]
    assert explained(strict, campaign, "vain").why.startswith(f"4 jobs wait in vain: {meaning} ({said})")
    other = strict.submit([str(number) for number in range(4)], clusters={"vain": {}, "beta": {}})
    strict.run_until(lambda: strict.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=other))
    assert {row["name"]: row["tasks"] for row in strict.rows(WHERE_DONE)} == {"beta": 4}
    assert strict.one("SELECT count(*) FROM events WHERE code = 'TASK_FAILED'") == 0
    strict.assert_sane()


def test_what_waits_in_vain_runs_once_the_site_has_mended_it(strict: Grid) -> None:
    """The event is closed by itself, and nothing of what was said stays."""
    add_way(strict, "vain", account="spent")
    strict.submit(["1", "2"], clusters={"vain": {}})
    strict.run_until(lambda: strict.rows(OPEN))
    set_allocation(strict, -1)
    strict.run_to_end()
    assert strict.rows(OPEN) == []
    strict.cycle()
    assert strict.rows(SAID) == []
    strict.assert_each_ran_once(2)


def test_a_reason_that_passes_is_kept_with_the_start_that_slurm_expects(beta: Grid) -> None:
    """Nobody is told of it, and the end of the campaign is not before that start."""
    beta.site.sh("sbatch -p normal --array=1-2 -c 8 --time=30 -o /dev/null --wrap 'sleep 600'", user="bob")
    campaign = beta.submit(["1", "2"], clusters={"beta": {"type": "normal"}})
    beta.run_until(lambda: beta.rows("SELECT 1 FROM waiting_reasons WHERE starts_at IS NOT NULL"))
    [said] = beta.rows(SAID)
    assert said["said"] in ("Resources", "Priority")
    assert not said["is_stuck"]
    told = explained(beta, campaign, "beta")
    assert f"2 jobs wait: {said['meaning']} ({said['said']}), the first is to start at 20" in told.why
    assert beta.rows(OPEN) == []
    beta.site.sh("scancel -u bob", user="root")
    beta.run_to_end()
    beta.assert_each_ran_once(2)
