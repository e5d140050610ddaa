"""What lies in the store already is counted (0069), and is forgotten on the way back."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE = "0068"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{"driver": "local"}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at) VALUES
    ('kept', 'alice', 'default', 'in_treatment', '', now()), ('purged', 'alice', 'default', 'in_treatment', '', now());
UPDATE campaigns SET purged_at = now() WHERE id = 2;
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
    SELECT id, 1, '{"exec_file": "e", "walltime": 60}', 1, 'none', 'none' FROM campaigns;
INSERT INTO buckets (campaign_id, requirements) VALUES (1, '{}'), (2, '{}');
INSERT INTO tasks (campaign_id, bucket_id, number, parameter)
    VALUES (1, 1, 0, '""'), (1, 1, 1, '""'), (1, 1, 2, '""'), (2, 2, 0, '""');
INSERT INTO parcels (task_id, attempt, campaign_id, cluster_id, files, bytes, ended_at, collected_at, remove_at,
    is_delivered)
VALUES (1, 1, 1, 1, 2, 100, now(), now(), now(), false), (2, 1, 1, 1, 2, 100, now(), now(), now(), true),
    (3, 1, 1, 1, 2, 100, now(), NULL, NULL, false), (4, 1, 2, 1, 2, 100, now(), now(), now(), false);
"""


def test_what_lies_there_is_counted(older: Database) -> None:
    schema.upgrade(older)
    with older.begin() as conn:
        assert schema.differences(conn) == []
        counted = text("SELECT campaign_id, stored_bytes FROM campaign_clusters ORDER BY campaign_id")
        assert [tuple(row) for row in conn.execute(counted)] == [(1, 100 + 2 * 4096), (2, 0)]
    schema.downgrade(older, BEFORE)
    schema.upgrade(older)
