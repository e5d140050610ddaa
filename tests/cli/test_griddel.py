"""griddel: what becomes of campaigns and jobs, and what the user is told."""

import json

import pytest
from sqlalchemy import select, update

from cigri.api_models.metrics import AccountingEntry
from cigri.cli.griddel import main
from cigri.cli.gridstat import main as gridstat
from cigri.cli.gridsub import main as gridsub
from cigri.database import Database
from cigri.flow.accounting import add_up_accounting, list_accounted
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.cancellations import count_remaining
from cigri.flow.checkpoint_requests import record_checkpoint_states
from cigri.flow.views.invariants import examine
from cigri.states import CampaignState, KillReason, Outcome, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster, Hold
from cigri.tables.grid import Event
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Job
from tests.callers import ALICE, BOB
from tests.cli.conftest import AsUser, Program
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser, both_ways: None) -> None:
    """Campaigns 1 to 4 of alice's, and 5 of bob's; job 1 of campaign 1 is in a queue."""
    as_user("alice")
    with grid.begin() as conn:
        cluster = a_cluster(conn)
        for user in ("alice", "alice", "alice", "alice", "bob"):
            a_campaign(conn, 3, user=user)
        submitted_jobs(conn, 1, cluster, 1)


def states(grid: Database) -> str:
    """The first letter of each campaign's state."""
    with grid.begin() as conn:
        assert examine(conn) == []
        return "".join(state[0] for state in conn.scalars(select(Campaign.c.state).order_by(Campaign.c.id)))


def held(grid: Database) -> list[int]:
    with grid.begin() as conn:
        return list(conn.scalars(select(Hold.c.campaign_id).order_by(Hold.c.campaign_id)))


def test_cancelling_kills_what_is_there_and_gives_up_what_waits(grid: Database, capsys: Capture) -> None:
    assert main(["-v", "1"]) == 0
    said = capsys.readouterr().out
    assert "campaign 1 is cancelled; killing its jobs" in said
    assert "1 assigned" in said
    assert "2 cancelled" in said
    assert "jobs that have not ended: 1" in said
    assert states(grid) == "ciiii"
    with grid.begin() as conn:
        assert conn.execute(select(KillRequest.c.reason, KillRequest.c.asked_by)).one() == (KillReason.USER, "alice")


def test_ids_may_be_lists_and_ranges(grid: Database) -> None:
    assert main(["1,2", "-c", "3-4", "2"]) == 0
    assert states(grid) == "cccci"


def test_a_pause_and_its_end_are_a_hold_and_its_end(grid: Database, capsys: Capture) -> None:
    assert main(["--pause", "1", "2"]) == 0
    assert "campaign 1 is held: no new jobs are made; jobs: 1 waiting are being held" in capsys.readouterr().out
    assert states(grid) == "iiiii"
    assert held(grid) == [1, 2]
    assert main(["-r", "1"]) == 0
    assert held(grid) == [2]


def test_what_cannot_be_done_to_one_does_not_stop_the_others(grid: Database, capsys: Capture) -> None:
    assert main(["-p", "1", "5", "99", "3"]) == 1
    said = capsys.readouterr()
    assert held(grid) == [1, 3]
    for strange in (5, 99):
        assert f"you have no campaign {strange}" in said.err
    assert [line[:18] for line in said.out.splitlines()] == ["campaign 1 is held", "campaign 3 is held"]
    assert main(["-r", "1", "2", "3"]) == 1
    assert "campaign 2 is not held" in capsys.readouterr().err
    assert held(grid) == []


def test_an_ended_campaign_stays_ended(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        a_campaign(conn, 0)
        close_campaigns(conn)
        cancel_campaign(conn, 2, ALICE)
    for arguments, told in (
        (["6"], "campaign 6 is terminated and cannot be cancelled any more"),
        (["-r", "6"], "campaign 6 is terminated: there is nothing to resume"),
        (["2"], "campaign 2 is cancelled already"),
        (["-p", "2"], "campaign 2 is cancelled: there is nothing to hold"),
    ):
        assert main([*arguments]) == 1
        assert told in capsys.readouterr().err
    with grid.begin() as conn:
        ended = conn.scalars(select(Campaign.c.state).where(Campaign.c.id.in_((2, 6))).order_by(Campaign.c.id)).all()
    assert ended == [CampaignState.CANCELLED, CampaignState.TERMINATED]


def test_files_are_purged_after_the_end_only(grid: Database, capsys: Capture) -> None:
    assert main(["--purge", "1"]) == 1
    assert "is in treatment: only a campaign that has ended can be purged" in capsys.readouterr().err
    assert main(["1"]) == 0
    assert main(["--purge", "1"]) == 0
    assert "the janitor removes its files" in capsys.readouterr().out
    with grid.begin() as conn:
        wish = conn.execute(select(Event.c.code, Event.c.campaign_id).where(Event.c.closed_at.is_(None))).one()
    assert tuple(wish) == ("PURGE", 1)


def test_a_job_is_killed_with_its_task(grid: Database, capsys: Capture) -> None:
    assert main(["-j", "1"]) == 0
    assert "job 1 is being killed" in capsys.readouterr().out
    with grid.begin() as conn:
        assert conn.scalars(select(KillRequest.c.job_id)).all() == [1]
        end_jobs(conn, 1, [1])
        assert count_remaining(conn, 1)[0] == {TaskState.WAITING: 2, TaskState.DONE: 1}
    assert main(["-j", "1", "-j", "99"]) == 1
    said = capsys.readouterr().err
    assert "job 1 has ended already" in said
    assert "you have no job 99" in said
    assert states(grid) == "iiiii"


def test_running_jobs_are_asked_for_checkpoints_where_their_campaign_declares_them(
    grid: Database, capsys: Capture
) -> None:
    assert main(["--checkpoint", "1"]) == 1
    assert "campaign 1 has no running job to ask, or its description declares no checkpoint" in capsys.readouterr().err
    with grid.begin() as conn:
        run_jobs(conn, [1])
        settings = {"exec_file": "/bin/true", "walltime": 3600, "checkpoint": {"signal": "USR2"}}
        conn.execute(update(CampaignCluster).values(settings=settings))
    assert main(["--checkpoint", "1"]) == 0
    assert "campaign 1: 1 running job is asked for a checkpoint" in capsys.readouterr().out
    assert main(["--checkpoint", "-j", "1"]) == 0
    assert gridstat(["-j", "1"]) == 0
    said = capsys.readouterr().out
    assert "Checkpoint asked:" in said
    assert "Task signalled:" not in said
    with grid.begin() as conn:
        record_checkpoint_states(conn, [1])
    assert gridstat(["-j", "1"]) == 0
    assert "Task signalled:" in capsys.readouterr().out
    with grid.begin() as conn:
        end_jobs(conn, 1, [1])
    assert main(["--checkpoint", "-j", "1", "-j", "99"]) == 1
    said = capsys.readouterr().err
    assert "job 1 is not running" in said
    assert "you have no job 99" in said
    assert states(grid) == "iiiii"


def test_nobody_touches_what_belongs_to_another_but_root(grid: Database, as_user: AsUser, capsys: Capture) -> None:
    as_user("bob")
    wishes = (["1"], ["-p", "1"], ["--purge", "1"], ["-j", "1"], ["--checkpoint", "1"], ["--checkpoint", "-j", "1"])
    for arguments in wishes:
        assert main(arguments) == 1
        assert "you have no" in capsys.readouterr().err
    assert states(grid) == "iiiii"
    with grid.begin() as conn:
        assert conn.scalars(select(KillRequest.c.job_id)).all() == []
    as_user("root")
    assert main(["5", "1"]) == 0
    assert states(grid) == "ciiic"


def test_json_tells_each_deed(capsys: Capture) -> None:
    assert main(["--json", "1", "99"]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert (first["id"], first["done"], second["id"], second["done"]) == (1, True, 99, False)
    assert "you have no campaign 99" in second["message"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "which campaign?"),
        (["1", "-j", "1"], "not both"),
        (["-p", "-j", "1"], "a job can only be killed"),
        (["-p", "-r", "1"], "not allowed with argument"),
        (["1 or 1=1"], "is no id"),
        (["0-99999999"], "no range of at most"),
        (["7-3"], "no range of at most"),
        (["9" * 5000], "is no id"),
        (["٣"], "is no id"),
        (["--", "-1"], "is no id"),
        (["1", "--forse"], "unrecognized arguments: --forse"),
    ],
)
def test_bad_usage_changes_nothing(grid: Database, capsys: Capture, arguments: list[str], told: str) -> None:
    assert main(arguments) == 2
    assert told in capsys.readouterr().err
    assert states(grid) == "iiiii"


def test_the_program_tells_its_status(program: Program) -> None:
    done = program("griddel", "99")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "griddel: you have no campaign 99; `gridstat` lists yours\n"


def listed(capsys: Capture, *options: str) -> list[int]:
    capsys.readouterr()
    assert gridstat(["--json", *options]) == 0
    return [campaign["id"] for campaign in json.loads(capsys.readouterr().out)]


def books(grid: Database) -> list[AccountingEntry]:
    with grid.begin() as conn:
        add_up_accounting(conn)
        assert examine(conn) == []
        return list_accounted(conn, 30)


def test_a_forgotten_campaign_leaves_the_lists_and_no_books(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        jobs = [*conn.scalars(select(Job.c.id))]
        cluster = conn.scalars(select(Job.c.cluster_id)).one()
        run_jobs(conn, jobs)
        end_jobs(conn, cluster, jobs)
        cancel_campaign(conn, 1, ALICE)
        cancel_campaign(conn, 2, ALICE)
    assert listed(capsys, "-a") == [1, 2, 3, 4, 5]
    before = books(grid)
    assert main(["--forget", "1"]) == 0
    assert capsys.readouterr().out == "campaign 1 is removed from lists\n"
    assert main(["--forget", "1"]) == 0, "again it is the same"
    assert listed(capsys, "-a") == [2, 3, 4, 5]
    assert listed(capsys, "1") == [1], "it is shown where it is named"
    assert books(grid) == before
    assert sum(row.jobs for row in before) == 1


def test_only_an_ended_campaign_of_ones_own_is_forgotten(grid: Database, capsys: Capture) -> None:
    assert main(["--forget", "2"]) == 1
    assert "campaign 2 is in treatment: only a campaign that has ended can be forgotten" in capsys.readouterr().err
    with grid.begin() as conn:
        cancel_campaign(conn, 5, BOB)
    assert main(["--forget", "5"]) == 1
    assert "you have no campaign 5" in capsys.readouterr().err
    assert listed(capsys, "-a") == [1, 2, 3, 4, 5]


def test_a_forgotten_campaign_with_more_to_do_is_listed_again(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        cluster = conn.scalars(select(Job.c.cluster_id)).one()
        jobs = submitted_jobs(conn, 2, cluster, 3)
        end_jobs(conn, cluster, jobs, Outcome.FAILURE, exit_code=1)
        conn.execute(
            update(Event).where(Event.c.campaign_id == 2).values(closed_at=Event.c.opened_at, closed_by="alice")
        )
        close_campaigns(conn)
    assert main(["--forget", "2"]) == 0
    assert listed(capsys, "-a") == [1, 3, 4, 5]
    assert gridsub(["--resubmit", "2"]) == 0
    assert listed(capsys) == [1, 2, 3, 4, 5]
