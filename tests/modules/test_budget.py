"""A campaign that fails on a cluster is set aside there, and comes back by itself or by a person."""

from pathlib import Path

from sqlalchemy import text

from cigri.database import Database
from cigri.flow.clusters import find_cluster
from cigri.flow.ends import EndedAttempt, EndedJob
from cigri.flow.error_budgets import put_refusal
from cigri.flow.event_fixes import fix_events
from cigri.identity.callers import Caller
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.settings.sections import BudgetSettings
from cigri.states import EventLevel, JobKind, Outcome, TaskState
from modules import janitor
from modules.updator.end_events import count_failures, events
from modules.updator.job_conclusions import VisitEnds
from tests.factories import a_cluster
from tests.grid import Grid


def part(grid: Grid) -> dict[str, object]:
    (row,) = grid.rows("SELECT errors, strikes, blocked_until IS NOT NULL AS aside FROM campaign_clusters")
    return dict(row)


def jobs(grid: Grid) -> int:
    return int(grid.one("SELECT count(*) FROM jobs"))


def later(grid: Grid, seconds: float) -> None:
    """As if so much time had passed since the cluster was set aside."""
    with grid.database.begin() as conn:
        shift = "UPDATE campaign_clusters SET blocked_until = blocked_until - make_interval(secs => :seconds)"
        conn.execute(text(shift), {"seconds": seconds})


def an_end(task: int, outcome: Outcome, ended: float | None) -> EndedAttempt:
    verdict = TaskVerdict(TaskState.FAILED, 10)
    return EndedAttempt(1, task, task, 1, outcome, 1, ended, 0.0 if ended is not None else None, verdict)


def test_only_failures_after_the_last_success_count() -> None:
    fails = [an_end(task, Outcome.FAILURE, 10.0 + task) for task in range(4)]
    success = an_end(9, Outcome.SUCCESS, 11.5)
    (trial,) = count_failures([*fails, success], {}).values()
    assert (trial.has_success, trial.failures) == (True, 2)
    (trial,) = count_failures([an_end(1, Outcome.WALLTIME, None), success], {}).values()
    assert (trial.has_success, trial.failures) == (True, 1)
    (trial,) = count_failures([an_end(1, Outcome.PREEMPTED, 1.0)], {}).values()
    assert (trial.has_success, trial.failures) == (False, 0)


def test_the_last_failure_is_named_by_its_job_which_users_can_look_at() -> None:
    (trial,) = count_failures([an_end(7, Outcome.FAILURE, 1.0)], {(7, 1): "no disk"}).values()
    assert trial.example == "job 7: failure, exit code 1, no disk"


def test_what_ended_without_an_exit_code_or_a_word_is_told_without(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        cluster = find_cluster(conn, "dahu")
    assert cluster is not None
    killed = an_end(7, Outcome.KILLED, 1.0)._replace(exit_code=None)
    silent = EndedJob(8, 1, JobKind.EPILOGUE, Outcome.FAILURE, 1, "", "", None)
    told = events(cluster, [killed], VisitEnds([killed], [silent], set()), {}, {(8, 1): ""})
    assert [event.message for event in told] == ["killed", "failure, exit code 1"]


def test_tasks_that_ask_to_be_done_again_are_told_together(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        cluster = find_cluster(conn, "dahu")
    assert cluster is not None
    again = TaskVerdict(TaskState.WAITING, 20)
    asked = [an_end(task, Outcome.RESUBMIT, 1.0)._replace(verdict=again) for task in (3, 4)]
    asked.append(an_end(5, Outcome.RESUBMIT_END, 1.0)._replace(verdict=again))
    told = events(cluster, asked, VisitEnds(asked, [], set()), {}, {})
    assert [(event.code, event.level, event.message, event.job_id) for event in told] == [
        ("RESUBMIT", EventLevel.INFO, "2 tasks ended with exit code 66, to be done again before all others", 4),
        ("RESUBMIT_END", EventLevel.INFO, "a task ended with exit code 67, to be done again after all others", 5),
    ]
    given_up = an_end(6, Outcome.RESUBMIT, 1.0)
    assert [event.code for event in events(cluster, [given_up], VisitEnds([given_up], [], set()), {}, {})] == [
        "TASK_FAILED"
    ]


def test_nine_failures_in_a_row_are_borne_and_the_tenth_is_too_much(local: Grid) -> None:
    local.submit([str(number) for number in range(9)], command="echo broken pipe >&2; exit 7")
    local.run_until(lambda: local.counts() == {"failed": 9})
    assert part(local) == {"errors": 9, "strikes": 0, "aside": False}
    with local.database.begin() as conn:  # more tasks for the same campaign
        copied = "SELECT campaign_id, bucket_id, number + 9, parameter FROM tasks"
        conn.execute(text(f"INSERT INTO tasks (campaign_id, bucket_id, number, parameter) {copied}"))
    local.run_until(lambda: part(local)["aside"])
    (event,) = local.rows("SELECT subject, message FROM events WHERE code = 'CLUSTER_SET_ASIDE'")
    failures = local.counts()["failed"]
    assert failures >= 10
    assert event["subject"] == "campaign 1 on here"
    assert event["message"].startswith(f"{part(local)['errors']} tasks in a row failed")
    assert "failure, exit code 7, broken pipe" in event["message"]


def test_a_set_aside_cluster_is_tried_by_one_job_and_heals_at_a_success(local: Grid) -> None:
    local.tune("budget", errors=2, backoff=100.0)
    mended = Path(local.place) / "mended"
    local.submit([str(number) for number in range(12)], command=f"[ -e {mended} ] || exit 7", retries=9, max_jobs=3)
    local.run_until(lambda: part(local)["aside"])
    local.run_until(lambda: not local.one("SELECT count(*) FROM jobs WHERE state <> 'ended'"))
    before = jobs(local)
    later(local, 90)
    local.cycle()
    assert jobs(local) == before
    later(local, 10)
    local.run_until(lambda: part(local)["strikes"] == 2)  # one job on trial, which fails
    assert jobs(local) == before + 1
    assert 190 < local.one("SELECT extract(epoch FROM blocked_until - now()) FROM campaign_clusters") <= 200
    mended.touch()
    later(local, 200)
    local.run_until(lambda: part(local) == {"errors": 0, "strikes": 0, "aside": False})
    assert not local.rows("SELECT 1 FROM events WHERE code = 'CLUSTER_SET_ASIDE' AND closed_at IS NULL")
    local.run_to_end()
    assert local.counts() == {"done": 12}


def test_a_person_gives_a_set_aside_cluster_back_at_once(local: Grid) -> None:
    local.tune("budget", errors=2, backoff=1000.0)
    mended = Path(local.place) / "mended"
    local.submit(["1", "2", "3", "4"], command=f"[ -e {mended} ] || exit 7", retries=9, max_jobs=1)
    local.run_until(lambda: part(local)["aside"])
    mended.touch()
    local.cycle()
    before = jobs(local)
    with local.database.begin() as conn:
        (event,) = conn.scalars(text("SELECT id FROM events WHERE code = 'CLUSTER_SET_ASIDE'"))
        fix_events(conn, [event], Caller(local.site.user), resubmit=False)
    local.cycle()
    assert jobs(local) == before + 1
    local.run_to_end()
    assert local.counts() == {"done": 4}


def test_a_cluster_that_is_set_aside_is_so_no_more_once_the_campaign_has_ended(local: Grid) -> None:
    local.tune("budget", errors=2, backoff=1000.0)
    campaign = local.submit(["1", "2"], command="exit 7")
    local.run_until(lambda: part(local)["aside"])
    other = local.submit(["1", "2"], command="exit 7")
    aside = "SELECT campaign_id FROM events WHERE code = 'CLUSTER_SET_ASIDE' AND closed_at IS NULL ORDER BY campaign_id"
    local.run_until(lambda: len(local.rows(aside)) == 2)
    local.cycle()
    with local.database.begin() as conn:
        failed = "SELECT id FROM events WHERE code = 'TASK_FAILED' AND campaign_id = :id"
        seen = list(conn.scalars(text(failed), {"id": campaign}))
        fix_events(conn, seen, Caller(local.site.user), resubmit=False)
    local.run_until(lambda: local.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=campaign))
    assert [row["campaign_id"] for row in local.rows(aside)] == [other]
    counted = "SELECT errors, strikes, blocked_until FROM campaign_clusters WHERE campaign_id = :id"
    assert local.rows(counted, id=campaign) == [{"errors": 0, "strikes": 0, "blocked_until": None}]


def test_what_is_told_of_a_campaign_after_its_end_is_closed_too(local: Grid) -> None:
    local.tune("budget", errors=2, backoff=1000.0)
    campaign = local.submit(["1"], command="true")
    local.run_to_end()
    with local.database.begin() as conn:
        put_refusal(conn, campaign, 1, "here", "no", local.settings.budget)
    assert local.one("SELECT count(*) FROM events WHERE closed_at IS NULL") == 1
    janitor.run_once(local.tools)
    assert local.one("SELECT count(*) FROM events WHERE closed_at IS NULL") == 0


def test_some_failing_tasks_among_many_never_stop_the_campaign(local: Grid) -> None:
    """One in four fails: 15 in all, more than the budget, but not in a row."""
    assert BudgetSettings().errors == 10
    local.submit([str(number) for number in range(60)], command="[ $((CIGRI_TASK_NUMBER % 4)) -ne 0 ] || exit 1")
    local.run_until(lambda: local.counts() == {"done": 45, "failed": 15})
    assert not local.rows("SELECT 1 FROM events WHERE code = 'CLUSTER_SET_ASIDE'")
    assert part(local)["strikes"] == 0
    local.assert_sane()
