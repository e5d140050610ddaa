"""gridsub --resubmit with more memory and time: for these tasks only, and as far as the site admits it."""

import json
import re
from pathlib import Path

import pytest
from sqlalchemy import Connection, cast, select, update
from sqlalchemy.dialects.postgresql import JSONB

from cigri.cli import gridstat
from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.flow.clusters import put_cluster
from cigri.flow.launches import LaunchGroup, NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.job_destinations import list_closed
from cigri.states import Outcome, TaskState
from cigri.tables.campaigns import Bucket, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs
from tests.pools.made import GB, put_nodes

Capture = pytest.CaptureFixture[str]
BOTH_WAYS = pytest.mark.usefixtures("both_ways")
RULE = """
from cigri.admission import refuse

def rule(campaign, user):
    for settings in campaign.clusters.values():
        if settings.walltime > 7200:
            refuse("nobody has more than two hours")
        if isinstance(settings.resources.mem, int) and settings.resources.mem > 4096:
            return campaign.with_cluster("dahu", resources={"mem": "4 GB"})
"""


@pytest.fixture(autouse=True)
def rules(grid: Database, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaign 1: tasks 0 and 1 have failed at their walltime of an hour, 2 to 4 wait."""
    as_user("alice")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "50-limits.py").write_text(RULE)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path / "rules"))
    with grid.begin() as conn:
        cluster = a_cluster(conn, "dahu")
        a_campaign(conn, 5)
        end_jobs(conn, cluster, submitted_jobs(conn, 1, cluster, 2), Outcome.WALLTIME, exit_code=137)


def launched(conn: Connection) -> list[LaunchGroup]:
    """All waiting tasks, a job for each, as they are to be sent."""
    cluster = conn.execute(select(Cluster.c.id)).scalar_one()
    put_jobs(conn, 1, [NewJob(cluster, 1, 3600, [task]) for task in take_waiting(conn, 1, 10)])
    return list_launches(conn, cluster, 10, 10)


def asked(groups: list[LaunchGroup]) -> dict[int, tuple[int, int]]:
    """By task: the walltime of its job, and its MB of memory."""
    return {
        job.tasks[0].number: (job.walltime, group.settings.get("resources", {}).get("mem", 0))
        for group in groups
        for job in group.jobs
    }


@BOTH_WAYS
def test_only_these_tasks_have_more(grid: Database, capsys: Capture) -> None:
    assert main(["--resubmit", "1", "--failed", "--mem", "2GB", "--walltime", "2h"]) == 0
    assert capsys.readouterr().out == "2 failed tasks of campaign 1 will be done again with mem 2GB and walltime 2h\n"
    assert main(["-c", "1", "-J", '["later"]']) == 0
    with grid.begin() as conn:
        special = {task.id for task in take_waiting(conn, 1, 10) if task.is_special}
        numbers = conn.scalars(select(Task.c.number).where(Task.c.id.in_(special)))
        assert sorted(numbers) == [0, 1]
        groups = launched(conn)
    usual = dict.fromkeys((2, 3, 4, 5), (3600, 0))
    assert asked(groups) == {0: (7200, 2048), 1: (7200, 2048), **usual}
    assert len(groups) == 2, "they do not travel with others"


@BOTH_WAYS
def test_what_was_given_before_stays(grid: Database) -> None:
    for more in (["--mem", "2GB"], ["--walltime", "2h"], []):
        assert main(["--resubmit", "1", "--tasks", "1", *more]) == 0
        with grid.begin() as conn:
            conn.execute(update(Task).where(Task.c.number != 1).values(priority=0))
            cluster = conn.execute(select(Cluster.c.id)).scalar_one()
            [job] = submitted_jobs(conn, 1, cluster, 1)
            end_jobs(conn, cluster, [job], Outcome.FAILURE, exit_code=1)
    with grid.begin() as conn:
        row = conn.execute(select(Job.c.walltime, Bucket.c.requirements).join(Bucket).where(Job.c.id == job)).one()
    assert tuple(row) == (7200, {"own": {"mem": 2048, "walltime": 7200}})


@BOTH_WAYS
@pytest.mark.parametrize(
    ("more", "status", "told"),
    [
        (["--walltime", "3h"], 1, "nobody has more than two hours"),
        (["--mem", "8GB"], 1, "this site would change that"),
        (["--mem", "soon"], 2, "--mem soon: "),
        (["--walltime", "0"], 2, "--walltime 0: "),
    ],
)
def test_what_the_site_does_not_admit_is_refused(
    grid: Database, capsys: Capture, more: list[str], status: int, told: str
) -> None:
    assert main(["--resubmit", "1", *more]) == status
    assert told in capsys.readouterr().err
    with grid.begin() as conn:
        assert len(conn.execute(select(Bucket.c.id)).all()) == 1
        assert len(conn.execute(select(Task.c.id).where(Task.c.state == TaskState.FAILED)).all()) == 2


@BOTH_WAYS
def test_what_no_queue_can_give_is_refused(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        config = {"driver": "local", "options": {"spool": "/nowhere", "pools": {"cpu": 4, "mem": 1000}}}
        put_cluster(conn, "dahu", config)
    assert main(["--resubmit", "1", "--mem", "2GB"]) == 1
    assert "a job asks for mem=2048, and the cluster has 1000" in capsys.readouterr().err
    with grid.begin() as conn:
        put_nodes(conn, conn.execute(select(Cluster.c.id)).scalar_one(), {"memory": GB})
        put_cluster(conn, "dahu", {"driver": "slurm"})
    assert main(["--resubmit", "1", "--mem", "2GB"]) == 1
    assert "no queue is eligible" in capsys.readouterr().err
    with grid.begin() as conn:
        assert len(conn.execute(select(Bucket.c.id)).all()) == 1


@BOTH_WAYS
def test_the_advice_names_the_command(grid: Database, capsys: Capture) -> None:
    assert gridstat.main(["--failed", "1"]) == 0
    advice = "`gridsub --resubmit 1 --tasks 0-1 --walltime 2h` does them again with more time"
    assert advice in capsys.readouterr().out
    assert main(advice.split("`")[1].split()[1:]) == 0
    with grid.begin() as conn:
        cluster = conn.execute(select(Cluster.c.id)).scalar_one()
        end_jobs(conn, cluster, submitted_jobs(conn, 1, cluster, 2), Outcome.OUT_OF_MEMORY, exit_code=137)
    capsys.readouterr()
    assert gridstat.main(["--failed", "1"]) == 0
    assert "`gridsub --resubmit 1 --tasks 0-1 --mem 4096MB` does them again with more memory" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "most", "outcome", "wanted"),
    [
        (200, None, Outcome.OUT_OF_MEMORY, "400MB"),
        (200, 195, Outcome.OUT_OF_MEMORY, "400MB"),
        (200, 712, Outcome.OUT_OF_MEMORY, "1068MB"),
        (200, 712, Outcome.FAILURE, "1068MB"),
        (200, 185, Outcome.FAILURE, "400MB"),
        (200, 100, Outcome.FAILURE, None),  # SIGKILL for another reason
        (None, 712, Outcome.FAILURE, None),
        (None, 4096, Outcome.OUT_OF_MEMORY, "6144MB"),
    ],
)
def test_the_advice_knows_what_tasks_asked_for_and_took(
    grid: Database, capsys: Capture, asked: int | None, most: int | None, outcome: Outcome, wanted: str | None
) -> None:
    with grid.begin() as conn:
        cluster = conn.execute(select(Cluster.c.id)).scalar_one()
        campaign = a_campaign(conn, 1)
        resources = cast({"resources": {"mem": asked} if asked else {}}, JSONB)
        part = update(CampaignCluster).where(CampaignCluster.c.campaign_id == campaign)
        conn.execute(part.values(settings=CampaignCluster.c.settings.concat(resources)))
        conn.execute(part.values(most_memory=most and most * 2**20))
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), outcome, exit_code=137)
    assert gridstat.main(["--failed", str(campaign)]) == 0
    told = capsys.readouterr().out
    advice = f"`gridsub --resubmit {campaign} --tasks 0 --mem {wanted}` does them again with more memory"
    assert (advice in told) is (wanted is not None), told
    assert ("with more memory" in told) is (wanted is not None)


def test_the_memory_of_attempts_is_told_where_it_is_known(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        cluster = conn.execute(select(Cluster.c.id)).scalar_one()
        campaign = a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), Outcome.FAILURE, exit_code=1)
    for asked in (["-T", f"{campaign}:0"], [str(campaign)]):
        assert gridstat.main(asked) == 0
    assert "Memory" not in capsys.readouterr().out
    assert gridstat.main(["--json", "-T", f"{campaign}:0"]) == 0
    assert json.loads(capsys.readouterr().out)["attempt_list"][0]["peak_memory"] is None
    with grid.begin() as conn:
        conn.execute(update(Attempt).values(peak_memory=712 * 2**20))
        conn.execute(update(CampaignCluster).values(most_memory=712 * 2**20))
    assert gridstat.main(["-T", f"{campaign}:0"]) == 0
    told = capsys.readouterr().out
    assert "Memory" in told
    assert "712 MB" in told
    assert gridstat.main([str(campaign)]) == 0
    assert re.search(r"^Memory: +used up to 712 MB$", capsys.readouterr().out, re.M)


def test_amounts_are_of_tasks_that_are_done_again(capsys: Capture) -> None:
    assert main(["--mem", "2GB", "campaign.json"]) == 2
    assert "--mem and --walltime are for tasks that are done again" in capsys.readouterr().err


def test_a_cluster_that_is_too_small_for_them_gets_none_of_them(grid: Database) -> None:
    with grid.begin() as conn:
        small, large = a_cluster(conn, "small", driver="slurm"), a_cluster(conn, "large", driver="slurm")
        put_nodes(conn, small, {"memory": GB})
        put_nodes(conn, large, {"memory": 4 * GB})
        campaign = a_campaign(conn, 2, clusters=("small", "large"))
        end_jobs(conn, small, submitted_jobs(conn, campaign, small, 1), Outcome.OUT_OF_MEMORY, exit_code=137)
    assert main(["--resubmit", str(campaign), "--mem", "2GB"]) == 0
    with grid.begin() as conn:
        special = Bucket.c.requirements.has_key("own")
        bucket = conn.execute(select(Bucket.c.id).where(Bucket.c.campaign_id == campaign, special)).scalar_one()
        assert list_closed(conn, [campaign]) == {campaign: {(bucket, small)}}


def test_tasks_that_are_added_later_have_what_is_described(grid: Database, tmp_path: Path) -> None:
    described = {
        "name": "n",
        "exec_file": "e",
        "clusters": ["dahu"],
        "params": ["1", "1"],
        "resources": {"mem": "{} GB"},
    }
    (tmp_path / "campaign.json").write_text(json.dumps(described))
    assert main([str(tmp_path / "campaign.json")]) == 0
    with grid.begin() as conn:
        cluster = conn.execute(select(Cluster.c.id)).scalar_one()
        end_jobs(conn, cluster, submitted_jobs(conn, 2, cluster, 2), Outcome.OUT_OF_MEMORY, exit_code=137)
    assert main(["--resubmit", "2", "--mem", "2GB"]) == 0
    assert main(["-c", "2", "-J", '["1"]']) == 0
    with grid.begin() as conn:
        special = select(Task.c.number).join(Bucket, Bucket.c.id == Task.c.bucket_id)
        found = conn.scalars(special.where(Task.c.campaign_id == 2, Bucket.c.requirements.has_key("own")))
        assert sorted(found) == [0, 1]
