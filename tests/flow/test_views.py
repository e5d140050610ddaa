"""What users see, from rows made by the functions that the modules use."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, event

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.archive import archive_campaign
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.cancellations import kill_job
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import enable_cluster, find_cluster
from cigri.flow.error_budgets import ErrorBudgetUpdate, update_error_budgets
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.flow.views.campaigns import list_campaigns, list_errors, list_parts
from cigri.flow.views.clusters import list_cluster_views, list_usage
from cigri.flow.views.descriptions import find_description
from cigri.flow.views.jobs import (
    find_job,
    find_task,
    list_attempts_of_job,
    list_attempts_of_task,
    list_latest_tasks,
    list_tasks,
)
from cigri.settings.sections import BudgetSettings
from cigri.states import JobState, KillReason, Outcome, TaskState
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

MANY = 200_000


def test_a_campaign_shows_its_tasks_by_state(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 10)
        jobs = submitted_jobs(conn, campaign, cluster, 5)
        end_jobs(conn, cluster, jobs[:2])
        end_jobs(conn, cluster, jobs[2:3], Outcome.FAILURE, exit_code=1)
        (view,) = list_campaigns(conn, [campaign])
    assert (view.waiting, view.assigned, view.done, view.failed, view.cancelled) == (5, 2, 2, 1, 0)
    assert view.total == 10
    assert view.errors == 1


def test_open_campaigns_are_listed_and_ended_ones_on_demand(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first, second = a_campaign(conn, 1), a_campaign(conn, 1, user="bob")
        cancel_campaign(conn, first, ALICE)
        assert [view.id for view in list_campaigns(conn)] == [second]
        assert [view.id for view in list_campaigns(conn, with_ended=True)] == [first, second]
        assert [view.id for view in list_campaigns(conn, with_ended=True, user="alice")] == [first]
        assert [view.id for view in list_campaigns(conn, [first, 99])] == [first]
        assert not list_campaigns(conn, [first], user="bob")


def test_a_campaign_shows_its_forecast_and_each_part_its_own(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 4)
        jobs = submitted_jobs(conn, campaign, cluster, 3)
        run_jobs(conn, jobs[:1])
        end_jobs(conn, cluster, jobs[2:])
        other = a_campaign(conn, 1)
        submitted_jobs(conn, other, cluster, 1)
        whole = NewForecast(campaign, None, 1.0, 120.0, 10.0, 0.5, 3, NOON)
        put_forecasts(conn, [whole, whole._replace(cluster_id=cluster, throughput=60.0, eta=None)], 60.0)
        (view,), (part,) = list_campaigns(conn, [campaign]), list_parts(conn, [campaign])
    assert (view.throughput, view.mean, view.deviation, view.eta) == (120.0, 10.0, 0.5, NOON)
    assert (part.throughput, part.mean, part.done, part.failed) == (60.0, 10.0, 1, 0)
    assert (part.to_launch, part.waiting, part.running) == (0, 1, 1)
    assert (part.cluster, part.free, part.is_enabled, part.paused_until) == ("dahu", 10, True, None)


def test_a_part_says_until_when_it_is_set_aside_and_why(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 1), a_campaign(conn, 1)
        trials = {campaign: ErrorBudgetUpdate(has_success=False, failures=10, example="exit code 3")}
        update_error_budgets(conn, cluster, "dahu", trials, BudgetSettings())
        aside, free = list_parts(conn, [campaign, other])
    assert aside.set_aside_until == NOON + timedelta(seconds=60)
    assert "exit code 3" in (aside.why or "")
    assert (free.set_aside_until, free.why) == (None, None)


def test_errors_are_the_open_ones_of_the_chosen_campaigns(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, second = a_campaign(conn, 1), a_campaign(conn, 1, user="bob")
        for campaign in (first, second):
            end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), Outcome.FAILURE, exit_code=3)
        assert [error.campaign_id for error in list_errors(conn)] == [first, second]
        assert [error.campaign_id for error in list_errors(conn, user="bob")] == [second]
        (error,) = list_errors(conn, [first])
        assert (error.code, error.cluster, error.times) == ("TASK_FAILED", "dahu", 1)
        cancel_campaign(conn, first, ALICE)  # nobody needs to fix it now
        assert not list_errors(conn, [first])


def test_the_stored_description_has_each_clusters_settings(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "b")
        a_cluster(conn, "a")
        stored = find_description(conn, a_campaign(conn, 1, clusters=("b", "a")))
        assert find_description(conn, 99) is None
    assert stored is not None
    assert list(stored.clusters) == ["a", "b"]
    assert stored.clusters["a"]["exec_file"] == "/bin/true"


def test_a_task_shows_its_last_attempt(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        first = submitted_jobs(conn, campaign, cluster, 1)
        end_jobs(conn, cluster, first, Outcome.PREEMPTED, exit_code=None)
        second = submitted_jobs(conn, campaign, cluster, 1)
        run_jobs(conn, second, node="node-7")
        tasks = list_tasks(conn, campaign, 0, 2)
        assert tasks[0].id is not None
        again = list_attempts_of_task(conn, tasks[0].id)
        assert find_task(conn, tasks[0].id) == tasks[0]
    assert [task.number for task in tasks] == [0, 1]
    assert (tasks[0].attempts, tasks[0].job_id, tasks[0].node) == (2, second[0], "node-7")
    assert (tasks[0].state, tasks[0].job_state) == (TaskState.ASSIGNED, JobState.RUNNING)
    assert (tasks[1].attempts, tasks[1].job_id) == (0, None)
    assert [(attempt.number, attempt.outcome) for attempt in again] == [(1, Outcome.PREEMPTED), (2, None)]


def test_the_latest_tasks_come_first_whatever_their_cluster(database: Database) -> None:
    with database.begin() as conn:
        one, two = a_cluster(conn, "one"), a_cluster(conn, "two")
        campaign = a_campaign(conn, 20, clusters=("one", "two"))
        submitted_jobs(conn, campaign, one, 2)
        submitted_jobs(conn, campaign, two, 2)
        submitted_jobs(conn, campaign, one, 1, tasks=2)
        latest = list_latest_tasks(conn, campaign, 4)
    assert [(task.number, task.cluster) for task in latest] == [(4, "one"), (5, "one"), (3, "two"), (2, "two")]


def test_a_job_shows_its_tasks_in_order_and_who_wants_it_dead(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job_id,) = submitted_jobs(conn, a_campaign(conn, ["a", {"x": 1}]), cluster, 1, tasks=2)
        kill_job(conn, job_id, ALICE)
        job = find_job(conn, job_id)
        attempts = list_attempts_of_job(conn, job_id)
        assert find_job(conn, 99) is None
    assert job is not None
    assert (job.user, job.local_user, job.remote_id, job.array_index) == ("alice", "alice", "r1", 1)
    assert (job.kill, job.kill_asked_by) == (KillReason.USER, "alice")
    assert [(attempt.position, attempt.parameter) for attempt in attempts] == [(1, "a"), (2, {"x": 1})]


def test_an_archived_campaign_keeps_its_counts_and_tasks(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        jobs = submitted_jobs(conn, campaign, cluster, 2)
        end_jobs(conn, cluster, jobs[:1])
        end_jobs(conn, cluster, jobs[1:], Outcome.FAILURE, exit_code=4)
        archive_campaign(conn, campaign)
        (view,) = list_campaigns(conn, [campaign])
        tasks = list_tasks(conn, campaign, 1, 10)
    assert (view.done, view.failed, view.total) == (1, 1, 2)
    assert view.archived_at is not None
    (task,) = tasks
    assert (task.id, task.number, task.exit_code, task.cluster, task.node) == (None, 1, 4, "dahu", "node-1")


def test_a_cluster_says_since_when_it_is_away_and_why(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_cluster(conn, "luke")
        enable_cluster(conn, "luke", enabled=False)
        run_jobs(conn, submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)[:1])
        row = find_cluster(conn, "dahu")
        assert row is not None
        put_failure(conn, row, "CLUSTER_UNREACHABLE", "dahu: no route to host")
        set_time(conn, NOON + timedelta(seconds=9))
        put_failure(conn, row, "CLUSTER_UNREACHABLE", "dahu: timed out")
        dahu, luke = list_cluster_views(conn)
        assert list_cluster_views(conn, ["dahu"]) == list_cluster_views(conn, [str(cluster)]) == [dahu]
    assert (dahu.waiting, dahu.running, dahu.free) == (2, 1, 10)
    assert (dahu.away_since, dahu.why) == (NOON, "dahu: timed out")
    assert dahu.paused_until == NOON + timedelta(seconds=19)
    assert (luke.is_enabled, luke.away_since, luke.why) == (False, None, None)


def test_usage_is_the_mean_of_each_period(database: Database) -> None:
    hour = timedelta(hours=1)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        for minutes, used in ((-200, 99), (-90, 2), (-80, 4), (-10, 8)):
            set_time(conn, NOON + timedelta(minutes=minutes))
            put_cluster_state(conn, cluster, Capacity(10, 10 - used, used, 0), 1)
        set_time(conn, NOON)
        usage = list_usage(conn, [cluster], 2 * hour, hour)
    assert [(row.at, row.used) for row in usage][:1] == [(NOON - 2 * hour, 3)]
    assert sum(row.used == 99 for row in usage) == 0
    assert usage[1].at == NOON - hour


@pytest.fixture
def plans(database: Database) -> Callable[[Callable[[Connection], object]], str]:
    """Give the plans of all statements that a function runs."""

    def explain(look: Callable[[Connection], object]) -> str:
        said: list[tuple[str, Any]] = []

        def note(_conn: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
            said.append((statement, parameters))

        with database.begin() as conn:
            event.listen(database.engine, "before_cursor_execute", note)
            look(conn)
            event.remove(database.engine, "before_cursor_execute", note)
            lines: list[str] = []
            for statement, parameters in said:
                found = conn.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
                lines.append(json.dumps(found.scalar_one()))
        return "\n".join(lines)

    return explain


def test_no_view_scans_the_tasks(database: Database, plans: Callable[[Callable[[Connection], object]], str]) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, MANY)
        job = submitted_jobs(conn, campaign, cluster, 500)[0]
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        conn.exec_driver_sql("ANALYZE")
    assert '"tasks"' in plans(lambda conn: list_tasks(conn, campaign, 0, 5))  # the plan does tell
    for counting in (lambda conn: list_campaigns(conn, [campaign]), lambda conn: list_parts(conn, [campaign])):
        assert '"tasks"' not in plans(counting)
    scan = re.compile(r'"Seq Scan"[^{}]*"tasks"')
    assert scan.search(plans(lambda conn: conn.exec_driver_sql("SELECT * FROM tasks WHERE attempts = 7")))
    for paging in (
        lambda conn: list_tasks(conn, campaign, MANY - 100, 100),
        lambda conn: list_latest_tasks(conn, campaign, 100),
        lambda conn: find_job(conn, job),
        lambda conn: list_attempts_of_job(conn, job),
    ):
        assert not scan.search(found := plans(paging)), found
