"""gridevents: what a user reads of what went wrong, and what fixing does."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from cigri.cli import gridstat
from cigri.cli.gridevents import main
from cigri.database import Database
from cigri.flow.cancellations import count_remaining
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import find_cluster
from cigri.flow.events import NewEvent, put_events
from cigri.flow.views.invariants import examine
from cigri.states import EventLevel, Outcome, TaskState
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Job
from tests.cli.conftest import AsUser, Program
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _alice(grid: Database, as_user: AsUser) -> None:
    """Events 1 and 2 of alice's campaign 1, event 3 of bob's campaign 2, event 4 of a cluster."""
    as_user("alice")
    with grid.begin() as conn:
        cluster = a_cluster(conn)
        for user, tasks in (("alice", ["--seed 1", "--seed 2"]), ("bob", ["--seed 3"])):
            campaign = a_campaign(conn, tasks, user=user)
            jobs = submitted_jobs(conn, campaign, cluster, len(tasks))
            end_jobs(conn, cluster, jobs, Outcome.FAILURE, exit_code=1)
        dahu = find_cluster(conn, "dahu")
        assert dahu is not None
        put_failure(conn, dahu, "CLUSTER_UNREACHABLE", "no route to host")


def open_events(grid: Database) -> list[int]:
    with grid.begin() as conn:
        assert examine(conn) == []
        return list(conn.scalars(select(Event.c.id).where(Event.c.closed_at.is_(None)).order_by(Event.c.id)))


def failed_and_waiting(grid: Database, campaign: int) -> tuple[int, int]:
    with grid.begin() as conn:
        tasks, _ = count_remaining(conn, campaign)
    return tasks.get(TaskState.FAILED, 0), tasks.get(TaskState.WAITING, 0)


@pytest.mark.usefixtures("both_ways")
def test_open_events_are_told_with_task_job_cluster_and_the_next_step(capsys: Capture) -> None:
    assert main([]) == 0
    said = capsys.readouterr()
    first, message, *_ = said.out.splitlines()
    assert first.startswith("1: (open) TASK_FAILED of campaign 1, task 0 (--seed 1), job 1 on dahu at ")
    assert message == "    failure, exit code 1; stderr ends: no such file"
    assert "2: (open) TASK_FAILED" in said.out
    assert "campaign 2" not in said.out
    assert "CLUSTER_UNREACHABLE" not in said.out
    assert "`gridevents -c 1 --fix` closes them; with --resubmit" in said.err


@pytest.mark.usefixtures("both_ways")
def test_closed_events_are_shown_on_demand(capsys: Capture) -> None:
    assert main(["1", "--fix"]) == 0
    capsys.readouterr()
    assert main(["1"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "there is no open event of your campaigns; clusters and the grid have 1: `gridevents --global`" in said.err
    assert main(["-a", "-c", "1"]) == 0
    said = capsys.readouterr()
    assert "1: (closed) TASK_FAILED" in said.out
    assert "closed by alice" in said.out
    assert "--fix" not in said.err


def test_fixed_events_are_closed_and_their_tasks_stay_failed(grid: Database, capsys: Capture) -> None:
    assert main(["1", "-f"]) == 0
    assert capsys.readouterr().out == "2 events are closed\n"
    assert open_events(grid) == [3, 4]
    assert failed_and_waiting(grid, 1) == (2, 0)


@pytest.mark.usefixtures("both_ways")
def test_fixed_and_resubmitted_their_tasks_wait_again(grid: Database, capsys: Capture) -> None:
    assert main(["1", "-f", "-r"]) == 0
    assert capsys.readouterr().out == "2 events are closed, failed tasks wait again\n"
    assert open_events(grid) == [3, 4]
    assert failed_and_waiting(grid, 1) == (0, 2)


def test_one_event_can_be_fixed_alone(grid: Database) -> None:
    assert main(["-e", "2", "--fix", "--resubmit"]) == 0
    assert open_events(grid) == [1, 3, 4]
    assert failed_and_waiting(grid, 1) == (1, 1)


@pytest.mark.usefixtures("both_ways")
def test_nothing_left_to_fix_is_no_failure(capsys: Capture) -> None:
    assert main(["1", "-f"]) == 0
    assert main(["1", "-f"]) == 0
    assert "nothing to fix" in capsys.readouterr().err


@pytest.mark.usefixtures("both_ways")
def test_events_of_others_are_neither_seen_nor_fixed(grid: Database, capsys: Capture) -> None:
    for arguments in (["2"], ["2", "--fix"], ["1", "99"], ["-e", "3"], ["-e", "3", "-f"], ["-e", "4", "-f"]):
        assert main(arguments) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "you have no" in said.err
    assert open_events(grid) == [1, 2, 3, 4]


@pytest.mark.usefixtures("both_ways")
def test_root_sees_and_fixes_all(grid: Database, as_user: AsUser) -> None:
    as_user("root")
    assert main(["1-2", "--fix"]) == 0
    assert open_events(grid) == [4]


@pytest.mark.usefixtures("both_ways")
def test_events_of_clusters_are_for_all_to_see(capsys: Capture) -> None:
    assert main(["--global"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("4: (open) CLUSTER_UNREACHABLE of cluster dahu on dahu at ")
    assert "TASK_FAILED" not in said.out
    assert main(["-g", "-e", "1"]) == 1
    assert "it is no event of the grid" in capsys.readouterr().err


def test_events_of_clusters_are_fixed_by_the_operator_only(grid: Database, as_user: AsUser, capsys: Capture) -> None:
    assert main(["-g", "--fix"]) == 1
    assert "events of clusters are fixed by operators only, and you are alice" in capsys.readouterr().err
    assert open_events(grid) == [1, 2, 3, 4]
    as_user("cigri")
    assert main(["-g", "--fix"]) == 0
    assert open_events(grid) == [1, 2, 3]
    with grid.begin() as conn:
        assert conn.execute(select(Cluster.c.failures, Cluster.c.blocked_until)).one() == (0, None)


def test_the_account_that_runs_the_embedded_database_is_its_operator(
    grid: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "database").mkdir()
    monkeypatch.delenv("CIGRI_SET_DATABASE__URL")
    monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(tmp_path))
    monkeypatch.setattr("cigri.database.embedded.url", lambda directory: database_url)
    uid = os.geteuid()
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: uid + 1)
        assert main(["-g", "--fix"]) == 1
    assert main(["-g", "--fix"]) == 0
    assert open_events(grid) == [1, 2, 3]


def test_foreign_text_cannot_steer_a_terminal(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        _put(conn, "evil \x1b]0;title\x07\x9b2J\nsecond line")
    assert main(["1"]) == 0
    said = capsys.readouterr().out
    assert "    evil \\x1b]0;title\\x07\\x9b2J\n    second line\n" in said


@pytest.fixture
def in_paris(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The reader's clock is an hour ahead of UTC."""
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_paris")
def test_dates_in_messages_are_those_of_the_reader(grid: Database, capsys: Capture) -> None:
    with grid.begin() as conn:
        _put(conn, "set aside until 2026-12-01 08:00:00 UTC")
        conn.execute(update(Job).where(Job.c.id == 1).values(reason="it was lost at 2026-12-01T08:00:00+00:00"))
    for command, asked in ((main, ["1"]), (gridstat.main, ["-e", "1", "-H"])):
        assert command(asked) == 0
        assert "set aside until 2026-12-01 09:00:00\n" in capsys.readouterr().out
    for asked in (["-j", "1"], ["-T", "1:0"]):
        assert gridstat.main(asked) == 0
        assert "it was lost at 2026-12-01 09:00:00" in capsys.readouterr().out


@pytest.mark.usefixtures("both_ways")
def test_many_events_are_cut_and_said_to_be(grid: Database, capsys: Capture) -> None:
    assert main(["-n", "1"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("2: ")
    assert "1 older events are not shown: `--limit 0` shows all" in said.err
    assert main(["-n", "2"]) == 0
    assert "older" not in capsys.readouterr().err
    assert main(["--limit", "0"]) == 0
    assert capsys.readouterr().out.startswith("1: ")


@pytest.mark.usefixtures("both_ways")
def test_json_is_complete(capsys: Capture) -> None:
    assert main(["--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["id"], first["code"], first["task"], first["parameter"]) == (1, "TASK_FAILED", 0, "--seed 1")
    assert (second["id"], second["cluster"], second["closed_at"]) == (2, "dahu", None)
    assert main(["1", "--fix", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"fixed": 2, "failed_before": {}}
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-r", "1"], "--resubmit goes with --fix"),
        (["-f"], "fix what?"),
        (["--audit", "1"], "stands alone"),
        (["-g", "1"], "belong to no campaign"),
        (["-g", "-f", "-r"], "have no tasks"),
        (["-f", "-a", "1"], "leave out --all"),
        (["-e", "x"], "is no id"),
        (["-n", "-1", "1"], "is no number of events"),
        (["-n", "many"], "is no number of events"),
    ],
)
def test_bad_usage_fixes_nothing(grid: Database, capsys: Capture, arguments: list[str], told: str) -> None:
    assert main(arguments) == 2
    assert told in capsys.readouterr().err
    assert open_events(grid) == [1, 2, 3, 4]


def test_the_program_tells_its_status(program: Program) -> None:
    done = program("gridevents", "99")
    assert (done.returncode, done.stdout) == (1, "")
    assert "you have no campaign 99" in done.stderr


def _put(conn: Connection, message: str) -> None:
    put_events(conn, [NewEvent("EVIL", EventLevel.ERROR, "campaign 1", message, 1)])


@pytest.mark.usefixtures("both_ways")
def test_the_audit_trail_is_for_operators(as_user: AsUser, capsys: Capture) -> None:
    assert main(["-e", "2", "--fix"]) == 0
    assert main(["1", "--fix", "--resubmit"]) == 0
    assert main(["--audit"]) == 1
    assert "this is for operators only, and you are alice" in capsys.readouterr().err
    as_user("root")
    capsys.readouterr()
    assert main(["--audit", "-n", "1"]) == 0
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.split() == ["When", "Who", "Known", "by", "Did", "Asked"]
    assert row.split()[2:5] == ["alice", "kernel", "fix_events"]
    assert set(row.split()[5:]) == {'campaigns="1"', 'ids=""', "is_global=false", "resubmit=true"}
    assert main(["--audit", "--json"]) == 0
    assert [entry["asked"]["ids"] for entry in json.loads(capsys.readouterr().out)] == ["2", ""]
