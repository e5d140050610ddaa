"""The migration by which attempts tell for how long they stood still (0073), up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0072", "0073"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
VALUES (1, 1, '{}', 1, 'none', 'none');
INSERT INTO buckets (campaign_id, requirements) VALUES (1, '{}');
INSERT INTO tasks (campaign_id, bucket_id, number, parameter, state) VALUES (1, 1, 0, '{}', 'done');
INSERT INTO jobs (campaign_id, cluster_id, bucket_id, kind, state, width, walltime, created_at, ended_at, outcome)
VALUES (1, 1, 1, 'tasks', 'ended', 1, 60, now(), now(), 'success');
INSERT INTO attempts (task_id, number, job_id, position, outcome, seconds) VALUES (1, 1, 1, 1, 'success', 204);
"""
TOLD = text("SELECT seconds, halted_seconds FROM attempts")


def test_what_ended_before_keeps_its_seconds(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(TOLD).all() == [(204, 0)]
        conn.execute(text("UPDATE attempts SET seconds = 20, halted_seconds = 184"))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT seconds FROM attempts")).scalars().all() == [204]
