"""The doctor finds each thing that must never be, when it is made by hand."""

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow.kill_requests import request_kills
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.invariants import RULES, examine
from cigri.states import KillReason
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

END = "state = 'ended', outcome = 'lost', ended_at = now()"
BREAK = {
    "an assigned task has a live attempt": "UPDATE tasks SET state = 'assigned' WHERE state = 'waiting'",
    "only assigned tasks, and losers, have live attempts": (
        "UPDATE tasks SET state = 'waiting' WHERE state = 'assigned'"
    ),
    "a live attempt has a live job": f"UPDATE jobs SET {END} WHERE state = 'to_launch'",
    "a live job has a live attempt": "UPDATE attempts SET outcome = 'lost' WHERE outcome IS NULL",
    "a submitted job has a submitted batch": "UPDATE batches SET state = 'void'",
    "a batch has as many jobs as its size": "UPDATE batches SET size = size + 1",
    "the counts of tasks are those of the tasks": "UPDATE task_counts SET n = n + 1 WHERE state = 'done'",
    "an ended campaign has no task left to do": "UPDATE campaigns SET state = 'terminated', ended_at = now()",
    "outputs are counted as they are awaited, and an ended campaign awaits none": (
        "UPDATE campaign_clusters SET uncollected = 1"
    ),
    "a task is blocked only while its campaign waits for another": (
        "UPDATE tasks SET state = 'blocked' WHERE state = 'waiting'"
    ),
    "an ended job is not to be killed, unless its cluster lists it again": (
        f"UPDATE jobs SET {END} WHERE state = 'submitted'"
    ),
}
FURTHER = {
    "the counts of tasks are those of the tasks": [
        "INSERT INTO task_counts (campaign_id, state, n) VALUES (1, 'failed', 1)",
        "DELETE FROM task_counts WHERE state = 'done'",
        "UPDATE tasks SET state = 'cancelled' WHERE state = 'done'",
    ],
    "an ended campaign has no task left to do": [
        "UPDATE campaigns SET state = 'cancelled', ended_at = now()",
        "UPDATE campaigns SET state = 'terminated', ended_at = now()",
    ],
}


def a_life(conn: Connection) -> None:
    """Tasks, jobs and batches in every state, and a wish to kill."""
    cluster = a_cluster(conn)
    campaign = a_campaign(conn, 8)
    jobs = submitted_jobs(conn, campaign, cluster, 4)
    end_jobs(conn, cluster, jobs[:2])
    request_kills(conn, jobs[2:3], KillReason.FLOOD, "killer")
    put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, 2)])


def test_every_rule_is_broken_here() -> None:
    assert BREAK.keys() == RULES.keys()


@pytest.mark.parametrize(
    ("rule", "statement"),
    [*BREAK.items(), *((rule, statement) for rule, statements in FURTHER.items() for statement in statements)],
)
def test_a_broken_rule_is_found(database: Database, rule: str, statement: str) -> None:
    with database.begin() as conn:
        a_life(conn)
        assert examine(conn) == []
        conn.execute(text("ALTER TABLE tasks DISABLE TRIGGER USER"))
        assert conn.execute(text(statement)).rowcount > 0
        found = {finding.rule: finding for finding in examine(conn)}
        assert rule in found
        assert found[rule].examples
        assert str(found[rule]).startswith(f"{rule}: {found[rule].times} times, e.g. ")


def test_a_finding_says_how_often_and_shows_a_few(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 40)
        conn.execute(text("UPDATE tasks SET state = 'assigned'"))
        (finding,) = examine(conn)
        assert (finding.times, len(finding.examples)) == (40, 5)
