"""Failed tasks: shown by kind, explained, and done again after their failure was accepted."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import select, update

from cigri.cli import gridevents, gridstat, gridsub
from cigri.database import Database
from cigri.flow.archive import archive_campaign, put_purged
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.cancellations import count_remaining, kill_job
from cigri.flow.event_fixes import fix_events
from cigri.flow.views.events import EventFilter, list_fixable
from cigri.flow.views.invariants import examine
from cigri.formats.id_ranges import as_ranges
from cigri.lifecycle.task_failures import STDERR, TaskFailure, last_stderr_line
from cigri.presentation.exit_codes import EXPLAINED, explain
from cigri.presentation.failure_groups import failure_group, group_failures, headline
from cigri.states import CampaignState, Outcome, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.cli.conftest import AsUser
from tests.cli.running import Printed
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.usefixtures("both_ways")

COMMAND = gridsub
Say = Callable[..., Printed]


@pytest.fixture
def say(grid: Database, as_user: AsUser, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run one of the commands as alice."""
    as_user("alice")

    def say(program: Any, *words: object) -> Printed:
        capsys.readouterr()
        status = program.main([str(word) for word in words])
        said = capsys.readouterr()
        return Printed(status, said.out, said.err)

    return say


def failed(grid: Database, exit_codes: Sequence[int], said: Sequence[str]) -> int:
    """A campaign of alice's, one task for each; "" was said where nobody has read it."""
    with grid.begin() as conn:
        cluster = a_cluster(conn, "localhost")
        campaign = a_campaign(conn, len(exit_codes), clusters=["localhost"])
        jobs = submitted_jobs(conn, campaign, cluster, len(exit_codes))
        for job, code in zip(jobs, exit_codes, strict=True):
            end_jobs(conn, cluster, [job], Outcome.FAILURE, exit_code=code)
        for number, text in enumerate(said):
            task = select(Task.c.id).where(Task.c.campaign_id == campaign, Task.c.number == number).scalar_subquery()
            message = f"failure, exit code {exit_codes[number]}" + (f"{STDERR}{text}" if text else "")
            conn.execute(update(Event).where(Event.c.task_id == task).values(message=message))
    return campaign


def accepted(grid: Database, exit_codes: Sequence[int]) -> int:
    """Its failures were accepted, and it has ended."""
    campaign = failed(grid, exit_codes, [])
    with grid.begin() as conn:
        fix_events(conn, list_fixable(conn, EventFilter(ALICE, [campaign])), ALICE, resubmit=False)
        assert close_campaigns(conn) == 1
    return campaign


def states(grid: Database, campaign: int) -> dict[TaskState, int]:
    with grid.begin() as conn:
        assert examine(conn) == []
        return count_remaining(conn, campaign)[0]


def test_tasks_that_fail_alike_are_one_entry(grid: Database, say: Say) -> None:
    campaign = failed(grid, [5] * 30 + [1], ["x\nboom 17\n", "boom 4"] + [""] * 28 + ["no disk"])
    shown = say(gridstat, "--failed", campaign).out.splitlines()
    assert shown[0] == "30 x exit 5 on localhost: boom 4"
    assert shown[1] == "    tasks 0-29; `gridstat -j 30 -E` shows all that the last one wrote"
    assert shown[2] == "1 x exit 1 on localhost: no disk"
    assert shown[4] == f"`gridsub --resubmit {campaign}` reruns them (only task 0: `--tasks 0`)"
    assert "\n30 x exit 5 on localhost: boom 4\n1 x exit 1 on localhost: no disk\n" in say(gridstat, campaign).out
    events = say(gridevents, campaign).out
    assert events.startswith("30 x exit 5 on localhost: boom 4\n")
    assert f"    campaign {campaign}, tasks 0-29; open, the last at " in events
    assert "\n    events 1-30\n" in events
    assert events.count("TASK_FAILED") == 1  # the one that is like no other


def test_errors_to_fix_that_are_alike_are_one_line(grid: Database, say: Say) -> None:
    campaign = failed(grid, [5] * 4 + [1, 6, 6], ["boom 17", "boom 4", "", "", "no disk", "boom 1", "boom 2"])
    head, *rows = [line.split() for line in say(gridstat, "-e", campaign).out.splitlines()[:5]]
    assert head[:2] == ["Event", "id"]
    assert [(row[0], row[5]) for row in rows] == [("1-4", "4"), ("5", "1"), ("6", "1"), ("7", "1")]
    assert len(say(gridstat, "-e", campaign, "--json").json) == 7


def test_programs_get_the_kinds_with_all_tasks(grid: Database, say: Say) -> None:
    campaign = failed(grid, [127, 127, 3], ["sh: no: not found", "", ""])
    first, second = say(gridstat, "--failed", campaign, "--json").json
    assert (first["number"], first["exit_code"], first["tasks"]) == (2, 127, [0, 1])
    assert first["means"].startswith("the program was not found")
    assert (second["number"], second["means"], second["cluster"]) == (1, None, "localhost")
    assert say(gridstat, campaign, "--json").json[0]["failures"] == [first, second]
    assert {event["exit_code"] for event in say(gridevents, "--json").json} == {127, 3}


def test_what_was_accepted_is_shown_and_done_again(grid: Database, say: Say) -> None:
    campaign = accepted(grid, [5] * 4)
    assert say(gridstat, "--failed", campaign).out.startswith("4 x exit 5 on localhost")
    refused = say(gridevents, campaign, "--fix", "--resubmit")
    assert refused.status == 1
    assert f"`gridsub --resubmit {campaign}` does 4 failed tasks of campaign {campaign} again" in refused.err
    assert say(gridevents, campaign, "--fix").status == 0
    done = say(gridsub, "--resubmit", campaign, "--tasks", "3,0-1")
    assert (done.status, done.out) == (0, f"3 tasks of campaign {campaign} will be done again\n")
    assert states(grid, campaign) == {TaskState.WAITING: 3, TaskState.FAILED: 1}
    with grid.begin() as conn:
        assert conn.scalar(select(Campaign.c.state).where(Campaign.c.id == campaign)) is CampaignState.IN_TREATMENT
        row = select(Task.c.failures, Task.c.priority).where(Task.c.campaign_id == campaign, Task.c.number == 0)
        assert tuple(conn.execute(row).one()) == (0, 20)
    assert say(gridsub, "--resubmit", campaign, "--failed", "--output", "json").json == {
        "id": campaign,
        "resubmitted": 1,
    }
    again = say(gridsub, "--resubmit", campaign)
    assert (again.status, again.out) == (0, "")
    assert "no task of campaign 1 has failed" in again.err
    assert say(gridevents, campaign, "--fix", "--resubmit").status == 0


def test_events_of_tasks_that_are_done_again_are_closed(grid: Database, say: Say) -> None:
    campaign = failed(grid, [1, 1], [])
    assert say(gridsub, "--resubmit", campaign, "--tasks", "1").status == 0
    with grid.begin() as conn:
        still_open = select(Event.c.subject).where(Event.c.closed_at.is_(None))
        assert conn.scalars(still_open).all() == ["task 1"]
        assert conn.scalars(select(Event.c.closed_by).where(Event.c.closed_at.is_not(None))).all() == ["alice"]


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ("0-1", "task 1 of campaign 1 is waiting: only tasks that are failed or cancelled can be done again"),
        ("0,7-9", "campaign 1 has no task 7"),
    ],
)
def test_what_has_not_failed_is_refused_whole(grid: Database, say: Say, numbers: str, told: str) -> None:
    campaign = failed(grid, [1, 1], [])
    assert say(gridsub, "--resubmit", campaign, "--tasks", "1").status == 0
    refused = say(gridsub, "--resubmit", campaign, "--tasks", numbers)
    assert refused.status == 1
    assert f"{told}" in refused.err
    assert states(grid, campaign) == {TaskState.WAITING: 1, TaskState.FAILED: 1}


def cancelled(grid: Database) -> int:
    """A campaign of alice's: task 0 has failed, she has killed the jobs of 1 and 2, and that of 2 is still there."""
    with grid.begin() as conn:
        cluster = a_cluster(conn, "localhost")
        campaign = a_campaign(conn, 3, clusters=["localhost"])
        fails, *killed = submitted_jobs(conn, campaign, cluster, 3)
        end_jobs(conn, cluster, [fails], Outcome.FAILURE, exit_code=1)
        assert all(kill_job(conn, job, ALICE) for job in killed)
        end_jobs(conn, cluster, killed[:1], Outcome.KILLED, exit_code=None)
        assert count_remaining(conn, campaign)[0] == {
            TaskState.FAILED: 1,
            TaskState.CANCELLED: 1,
            TaskState.ASSIGNED: 1,
        }
    return campaign


def test_what_was_cancelled_is_done_again_only_when_that_is_said(grid: Database, say: Say) -> None:
    campaign = cancelled(grid)
    assert say(gridsub, "--resubmit", campaign).out == f"1 failed task of campaign {campaign} will be done again\n"
    assert states(grid, campaign) == {TaskState.WAITING: 1, TaskState.CANCELLED: 1, TaskState.ASSIGNED: 1}
    done = say(gridsub, "--resubmit", campaign, "--cancelled")
    assert (done.status, done.out) == (0, f"1 cancelled task of campaign {campaign} will be done again\n")
    assert states(grid, campaign) == {TaskState.WAITING: 2, TaskState.ASSIGNED: 1}
    assert "no task of campaign 1 was cancelled" in say(gridsub, "--resubmit", campaign, "--cancelled").err
    with grid.begin() as conn:
        assert examine(conn) == []


def test_cancelled_tasks_are_done_again_by_number_and_their_ended_campaign_goes_on(grid: Database, say: Say) -> None:
    campaign = cancelled(grid)
    with grid.begin() as conn:
        end_jobs(conn, 1, [3], Outcome.KILLED, exit_code=None)
        fix_events(conn, list_fixable(conn, EventFilter(ALICE, [campaign])), ALICE, resubmit=False)
        close_campaigns(conn)
        assert conn.scalar(select(Campaign.c.state)) is CampaignState.TERMINATED
    assert say(gridsub, "--resubmit", campaign, "--tasks", "0-1").out == "2 tasks of campaign 1 will be done again\n"
    assert states(grid, campaign) == {TaskState.WAITING: 2, TaskState.CANCELLED: 1}
    with grid.begin() as conn:
        assert conn.scalar(select(Campaign.c.state)) is CampaignState.IN_TREATMENT
        assert len(submitted_jobs(conn, campaign, 1, 2)) == 2
        assert examine(conn) == []


def test_a_task_whose_other_job_is_still_being_killed_waits(grid: Database, say: Say) -> None:
    """A replica was cancelled with it, and may be at work until its cluster says that it is gone."""
    campaign = cancelled(grid)
    with grid.begin() as conn:
        conn.execute(update(Attempt).where(Attempt.c.outcome == Outcome.KILLED).values(outcome=None))
    refused = say(gridsub, "--resubmit", campaign, "--tasks", "1")
    assert (refused.status, "has a job that is still being killed" in refused.err) == (1, True)
    assert "no task of campaign 1 was cancelled" in say(gridsub, "--resubmit", campaign, "--cancelled").err


def test_only_its_owner_does_them_again_and_only_what_is_there(grid: Database, say: Say, as_user: AsUser) -> None:
    campaign = failed(grid, [1], [])
    as_user("bob")
    assert "you have no campaign 1" in say(gridsub, "--resubmit", campaign).err
    as_user("alice")
    with grid.begin() as conn:
        cancel_campaign(conn, campaign, ALICE)
    refused = say(gridsub, "--resubmit", campaign)
    assert (refused.status, "is cancelled; submit a new one" in refused.err) == (1, True)


def test_failures_of_an_archived_campaign_are_shown_and_not_done_again(grid: Database, say: Say) -> None:
    campaign = accepted(grid, [3, 3])
    with grid.begin() as conn:
        put_purged(conn, [campaign])
        archive_campaign(conn, campaign)
    assert say(gridstat, "--failed", campaign).out.startswith("2 x exit 3 on localhost\n    tasks 0-1\n")
    refused = say(gridsub, "--resubmit", campaign)
    assert (refused.status, "is archived; submit a new one" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--failed"], "give the campaign with --resubmit ID"),
        (["--tasks", "3"], "give the campaign with --resubmit ID"),
        (["--resubmit", "1,2"], "--resubmit takes one campaign"),
        (["--resubmit", "1", "--tasks", "9-7"], "'9-7' is no task"),
        (["--resubmit", "1", "--tasks", "a"], "'a' is no task"),
        (["--resubmit", "1", "--tasks", "3", "--failed"], "not allowed with"),
        (["--cancelled"], "give the campaign with --resubmit ID"),
        (["--resubmit", "1", "--cancelled", "--failed"], "not allowed with"),
        (["--resubmit", "1", "--local"], "stands alone"),
        (["--resubmit", "1", "--check"], "stands alone"),
        (["--resubmit", "1", "--priority", "3"], "stands alone"),
        (["--resubmit", "1", "more.json"], "stands alone"),
    ],
)
def test_options_that_do_not_go_together_are_refused(say: Say, words: list[str], told: str) -> None:
    refused = say(gridsub, *words)
    assert refused.status == 2
    assert told in refused.err


def test_one_campaign_at_a_time_is_asked_how_it_failed(grid: Database, say: Say) -> None:
    assert say(gridstat, "--failed").status == 2
    assert "no campaign 9" in say(gridstat, "--failed", 9).err
    with grid.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
    assert f"no task of campaign {campaign} has failed" in say(gridstat, "--failed", campaign).err


@pytest.mark.parametrize("code", [72, 73, 74, 75, 78, 126, 127, 137, 143])
def test_exit_codes_are_explained_where_they_are_shown(grid: Database, say: Say, code: int) -> None:
    campaign = failed(grid, [code], [])
    words = EXPLAINED[code]
    assert f"exit code {code}: {words}" in say(gridevents, campaign).out
    assert f"exit code {code}: {words}" in say(gridstat, "--failed", campaign).out
    assert f"Exit code:  {code}: {words}" in say(gridstat, "-j", 1).out
    assert say(gridstat, "-j", 1, "--json").json["exit_code_means"] == words


def test_other_exit_codes_are_the_programs_own() -> None:
    assert [explain(code) for code in (None, 0, 1, 128, 200)] == [None] * 5
    assert explain(139) == "killed by SIGSEGV"


def test_alike_is_what_differs_in_numbers_only() -> None:
    said = ["line 3: boom", "line 17: boom", "0xff: boom", "", ""]
    failures = [TaskFailure(1, n, "dahu", Outcome.FAILURE, 1, text) for n, text in enumerate(said)]
    failures.append(TaskFailure(1, 9, "luke", Outcome.FAILURE, 1, "line 3: boom"))
    failures.append(TaskFailure(1, 8, "dahu", Outcome.WALLTIME, None, ""))
    kinds = [[failure.task for failure in some] for some in group_failures(failures)]
    assert kinds == [[0, 1, 3, 4], [2], [8], [9]]
    assert headline(failure_group([failures[-1]])) == "1 x walltime on dahu"
    assert group_failures([]) == []


@pytest.mark.parametrize(
    "said",
    [
        "cannot open /scratch/{0}/in_{0}.dat: no such file",
        "cannot open '../runs/{0}/seed'",
        "node {0}: out of space after {0}.{0}e-{0} s",
        "corrupt block at 0x{0}ff, digest 1f{0}a0bcdef{0}d",
        "job 7c9e6679-7425-40de-944b-e07fc{0} is unknown",
    ],
)
def test_a_thousand_messages_of_one_kind_are_one(said: str) -> None:
    failures = [TaskFailure(1, n, "dahu", Outcome.FAILURE, 1, said.format(1000000 + n)) for n in range(1000)]
    other = TaskFailure(1, 1000, "dahu", Outcome.FAILURE, 1, "read and/or write failed at step 3")
    assert [len(group) for group in group_failures([*failures, other])] == [1000, 1]


def test_messages_that_mean_something_else_are_apart() -> None:
    said = [
        "cannot open /a: no such file",
        "cannot open /a: permission denied",
        "cannot read /a: no such file",
        "failed",
    ]
    failures = [TaskFailure(1, n, "dahu", Outcome.FAILURE, 1, text) for n, text in enumerate(said)]
    assert len(group_failures(failures)) == len(said)


def test_the_last_line_is_what_was_said() -> None:
    assert last_stderr_line(f"failure, exit code 1{STDERR}first\n  last \n\n") == "last"
    assert last_stderr_line("failure, exit code 1") == ""
    assert last_stderr_line(f"failure{STDERR}") == ""


def test_numbers_are_written_as_ranges() -> None:
    assert as_ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert as_ranges([0, 1, 5, 7, 8], 1) == "0-1 and 3 more"
    assert as_ranges([]) == ""
