"""Migration 0002, up and down, with rows in the tables that it changes."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from cigri.database import Database, schema

ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
VALUES (1, 1, '{}', 1, 'none', 'none');
INSERT INTO buckets (campaign_id, requirements) VALUES (1, '{}');
INSERT INTO tasks (campaign_id, bucket_id, number, parameter, state)
VALUES (1, 1, 0, '"a"', 'waiting'), (1, 1, 1, '"b"', 'done');
INSERT INTO jobs (campaign_id, cluster_id, bucket_id, kind, state, width, walltime, created_at, ended_at, outcome)
VALUES (1, 1, 1, 'tasks', 'ended', 1, 60, now(), now(), 'resubmit_end');
INSERT INTO attempts (task_id, number, job_id, position, outcome) VALUES (2, 1, 1, 1, 'preempted');
"""
STOPPED = """
UPDATE tasks SET checkpoints = 1, checkpoint_cluster_id = 1, stopped_at = now() WHERE id = 1;
UPDATE attempts SET outcome = 'checkpointed';
"""


@pytest.fixture
def database(empty_url: str) -> Iterator[Database]:
    """At the migration before."""
    database = Database(empty_url)
    schema.upgrade(database, "0001")
    with database.begin() as conn:
        conn.execute(text(ROWS))
    yield database
    database.close()


def outcomes(database: Database) -> list[str]:
    with database.begin() as conn:
        found = conn.scalars(text("SELECT outcome::text FROM jobs UNION ALL SELECT outcome::text FROM attempts"))
        return list(found)


def test_old_tasks_have_no_checkpoint(database: Database) -> None:
    schema.upgrade(database, "0002")
    with database.begin() as conn:
        columns = "checkpoints, checkpoint_cluster_id, stopped_at"
        assert conn.execute(text(f"SELECT DISTINCT {columns} FROM tasks")).all() == [(0, None, None)]
    assert outcomes(database) == ["resubmit_end", "preempted"]


def test_a_checkpointed_attempt_is_a_resubmitted_one_before(database: Database) -> None:
    schema.upgrade(database, "0002")
    with database.begin() as conn:
        conn.execute(text(STOPPED))
    schema.downgrade(database, "0001")
    assert outcomes(database) == ["resubmit_end", "resubmit"]
    schema.upgrade(database, "0002")
    assert outcomes(database) == ["resubmit_end", "resubmit"]
