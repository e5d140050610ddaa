"""The migration that knows what tasks use, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0055", "0056"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{"driver": "local"}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue, done, seconds)
VALUES (1, 1, '{"exec_file": "run", "walltime": 60}', 1, 'none', 'none', 7, 70);
"""
USED = "UPDATE campaign_clusters SET profiled = 7, profiled_seconds = 70, cpu = 60, most_cpu = 9, bytes_read = 1e15"
SEEN = "SELECT done, profiled, profiled_seconds, cpu, most_cpu, bytes_read, most_written FROM campaign_clusters"


def test_of_what_ran_before_nothing_is_known(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(text(SEEN)).one() == (7, 0, 0, 0, 0, 0, 0)
        conn.execute(text(USED))
    schema.downgrade(older, BEFORE)
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(text(SEEN)).one() == (7, 0, 0, 0, 0, 0, 0)
