"""The plans of what runs in each pass, on a database with a million waiting tasks and many jobs long ended."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from sqlalchemy import Connection, event, text

from cigri.database import Database, embedded
from cigri.flow.campaigns import close_campaigns
from cigri.flow.checkpoint_requests import take_checkpoint_orders
from cigri.flow.expected_durations import match_tasks
from cigri.flow.kill_requests import claim_due_kills, list_clusters_with_requests
from cigri.flow.launches import list_busy, list_launches
from cigri.flow.live_jobs import list_watched
from cigri.flow.prologues_and_epilogues import put_epilogues, put_prologues
from cigri.flow.submit_pools import has_stale
from cigri.flow.suspensions import claim_due_suspensions
from cigri.flow.tasks import claim, take_continuing
from cigri.flow.views.campaign_progress import list_progress
from cigri.flow.views.checkpoint_costs import list_saving_figures
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.cluster_service import list_ages, list_cluster_services, list_under_way
from cigri.flow.views.job_destinations import find_destination, list_closed, list_without_queue
from cigri.flow.views.live_attempts import list_attempts
from cigri.flow.views.occupancy import WithdrawalRange, count_waiting, list_occupancy, list_withdrawable_jobs
from cigri.flow.views.operating_hours import list_closed_by_hours, list_out_of_hours
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.flow.views.unwanted_jobs import WaitLimits, list_unwanted
from cigri.flow.withdrawals import list_launching, put_back_unlaunched
from cigri.settings.sections import HoursSettings, JobSettings
from cigri.states import JobState
from tests.factories import a_campaign, a_cluster, run_jobs, submitted_jobs

pytestmark = pytest.mark.noon

TASKS = 1_000_000
ENDED = 200_000
FILL = f"""
SET LOCAL session_replication_role = replica;
INSERT INTO tasks (campaign_id, bucket_id, number, parameter)
    SELECT 1, 1, n, to_jsonb(n) FROM generate_series(100, {TASKS}) AS n;
INSERT INTO tasks (campaign_id, bucket_id, number, parameter, state, attempts)
    SELECT 2, 2, n, to_jsonb(n), 'done', 1 FROM generate_series(100, {ENDED} + 99) AS n;
INSERT INTO task_counts (campaign_id, state, n) VALUES (1, 'waiting', {TASKS} - 99), (2, 'done', {ENDED});
INSERT INTO batches (tag, campaign_id, cluster_id, local_user, state, size, created_at, settled_at)
    SELECT 'old.' || n, 2, 1, 'alice', 'submitted', 10, now(), now() FROM generate_series(1, {ENDED} / 10) AS n;
INSERT INTO jobs (campaign_id, cluster_id, bucket_id, kind, state, width, walltime, batch_id, array_index, remote_id,
                  created_at, submitted_at, started_at, ended_at, outcome)
    SELECT 2, 1, 2, 'tasks', 'ended', 1, 60, id, n, 'r', now(), now(), now(), now(), 'success'
    FROM batches, generate_series(1, 10) AS n WHERE campaign_id = 2;
INSERT INTO attempts (task_id, number, job_id, position, outcome)
    SELECT tasks.id, 1, jobs.id, 1, 'success'
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM tasks WHERE state = 'done') AS tasks
    JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM jobs WHERE state = 'ended') AS jobs USING (n);
INSERT INTO kills (job_id, reason, asked_at, asked_by, is_open)
    SELECT id, 'flood', now(), 'killer', false FROM jobs WHERE state = 'ended' LIMIT 20000;
"""


class Large(NamedTuple):
    database: Database
    cluster: int
    jobs: list[int]


@pytest.fixture(scope="module")
def large(server: Path) -> Iterator[Large]:
    """Two campaigns: one has a million tasks waiting and some jobs there, the other has ended 200 000."""
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
        conn.execute("CREATE DATABASE large TEMPLATE template_cigri")
    database = Database(embedded.url(server, "large"))
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, _ = a_campaign(conn, 100), a_campaign(conn, 100)
        jobs = submitted_jobs(conn, campaign, cluster, 60)
        run_jobs(conn, jobs[:30])
        for statement in FILL.strip().split(";")[:-1]:
            conn.exec_driver_sql(statement)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        conn.exec_driver_sql("ANALYZE")
    yield Large(database, cluster, jobs)
    database.close()
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
        conn.execute("DROP DATABASE large WITH (FORCE)")


class Node(NamedTuple):
    kind: str
    table: str
    by: str
    rows: float


def nodes_of(database: Database, look: Callable[[Connection], object]) -> list[Node]:
    """Every node of the plans of all statements that a function runs, as they were executed."""
    said: list[tuple[str, Any]] = []

    def note(_conn: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        said.append((statement, parameters))

    found: list[Node] = []
    with database.engine.connect() as conn:
        event.listen(database.engine, "before_cursor_execute", note)
        look(conn)
        event.remove(database.engine, "before_cursor_execute", note)
        conn.rollback()
        for statement, parameters in said:
            plan = conn.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
            walk(plan[0]["Plan"], found)
        conn.rollback()
    return found


def walk(plan: dict[str, Any], found: list[Node]) -> None:
    touched = float(plan["Actual Rows"]) * float(plan["Actual Loops"])
    removed = sum(plan.get(f"Rows Removed by {what}", 0) for what in ("Filter", "Join Filter", "Index Recheck"))
    table = plan.get("Relation Name", "")
    found.append(Node(plan["Node Type"], table, plan.get("Index Name", ""), touched + removed))
    for below in plan.get("Plans", ()):
        walk(below, found)


LIVE = (JobState.SUBMITTED, JobState.RUNNING)
HOLD = "INSERT INTO holds (campaign_id, asked_at, asked_by) VALUES (1, now(), 'alice')"
SHUT = "UPDATE submit_pools SET closed = '{1}'"
NIGHTLY = "UPDATE campaign_clusters SET settings = settings || jsonb_build_object('type', 'nightly')"
LOOKS: dict[str, Callable[[Large, Connection], object]] = {
    "wants": lambda large, conn: list_cluster_demands(conn, 10, 60.0),
    "rooms": lambda large, conn: list_schedulable_clusters(conn),
    "holdings": lambda large, conn: list_occupancy(conn),
    "recalled": lambda large, conn: list_withdrawable_jobs(conn, [WithdrawalRange(1, large.cluster, 2**62)], 5, 100),
    "watched": lambda large, conn: list_watched(conn, large.cluster, 120.0),
    "attempts": lambda large, conn: list_attempts(conn, large.jobs),
    "busy": lambda large, conn: list_busy(conn),
    "launches": lambda large, conn: list_launches(conn, large.cluster, 100, 100),
    "saving": lambda large, conn: list_saving_figures(conn, large.cluster, {1: 120, 2: 120}),
    "launching": lambda large, conn: list_launching(conn, large.cluster),
    "unlaunched": lambda large, conn: put_back_unlaunched(conn, JobSettings()),
    "continuing": lambda large, conn: take_continuing(conn, 1, {large.cluster: 100}, 60.0),
    "requests": lambda large, conn: take_checkpoint_orders(conn, large.cluster),
    "waiting": lambda large, conn: count_waiting(conn, large.cluster),
    "kills": lambda large, conn: claim_due_kills(conn, large.cluster, 60.0),
    "unwanted": lambda large, conn: list_unwanted(conn, {large.cluster: (5, 5)}, WaitLimits(60.0, 60.0, 5)),
    "wished": lambda large, conn: list_clusters_with_requests(conn),
    "prologues": lambda large, conn: put_prologues(conn),
    "epilogues": lambda large, conn: put_epilogues(conn),
    "matching": lambda large, conn: match_tasks(conn),
    "closing": lambda large, conn: close_campaigns(conn),
    "progress": lambda large, conn: list_progress(conn, 3600.0),
    "paces": lambda large, conn: list_cluster_services(conn, 900.0),
    "ages": lambda large, conn: list_ages(conn, [1]),
    "endings": lambda large, conn: list_under_way(conn, [large.cluster]),
    "halts": lambda large, conn: conn.execute(text(HOLD)) and claim_due_suspensions(conn, large.cluster, LIVE, 60.0),
    "stale": lambda large, conn: has_stale(conn, 900.0),
    "barred": lambda large, conn: conn.execute(text(SHUT)) and list_without_queue(conn),
    "closed": lambda large, conn: conn.execute(text(SHUT)) and list_closed(conn, [1]),
    "destination": lambda large, conn: find_destination(conn, 1, 1, large.cluster),
    "shut": lambda large, conn: conn.execute(text(NIGHTLY)) and list_closed_by_hours(conn, HoursSettings()),
    "hours": lambda large, conn: conn.execute(text(NIGHTLY)) and list_out_of_hours(conn, HoursSettings()),
}


def test_a_claim_reads_only_what_it_takes(large: Large) -> None:
    found = nodes_of(large.database, lambda conn: conn.execute(claim(1, 300)))
    assert [node.kind for node in found] == ["Limit", "LockRows", "Index Scan"]
    assert found[-1].by == "ix_tasks_waiting"
    assert max(node.rows for node in found) <= 300


@pytest.mark.parametrize("name", LOOKS)
def test_a_pass_does_not_grow_with_tasks_or_history(large: Large, name: str) -> None:
    found = nodes_of(large.database, lambda conn: LOOKS[name](large, conn))
    assert len(found) > 0
    slow = [node for node in found if node.table in ("tasks", "jobs", "attempts", "kills") and "Seq" in node.kind]
    assert slow == []
    assert max(node.rows for node in found) < 2000, found


def test_a_scan_would_be_noticed(large: Large) -> None:
    found = nodes_of(large.database, lambda conn: conn.execute(text("SELECT count(*) FROM jobs WHERE reason = 'x'")))
    assert [node.table for node in found if "Seq" in node.kind] == ["jobs"]
    assert max(node.rows for node in found) >= ENDED / 4  # workers share it
