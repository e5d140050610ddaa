"""The migration by which attempts tell how much memory they took (0076), up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0075", "0076"
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
TOLD = text("SELECT a.seconds, a.peak_memory, p.most_memory FROM attempts a, campaign_clusters p")
LARGE = 64 * 2**40


def test_of_what_ended_before_nobody_knows_it(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(TOLD).all() == [(204, None, None)]
        conn.execute(text(f"UPDATE attempts SET peak_memory = {LARGE}"))
        conn.execute(text(f"UPDATE campaign_clusters SET most_memory = {LARGE}"))
        assert conn.execute(TOLD).all() == [(204, LARGE, LARGE)]
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT seconds FROM attempts")).scalars().all() == [204]
