"""The migration that knows which inputs tasks had, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0067", "0068"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{"driver": "local"}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
VALUES (1, 1, '{"exec_file": "e", "walltime": 60}', 1, 'none', 'none');
INSERT INTO batches (id, tag, campaign_id, cluster_id, local_user, state, size, created_at, settled_at)
VALUES (7, 't', 1, 1, 'alice', 'submitted', 1, now(), now());
"""
VERSIONS = text(
    "SELECT p.inputs_version, b.inputs_version, c.sent_from FROM campaign_clusters p, batches b, campaigns c"
)
SOME = """
UPDATE campaigns SET sent_from = '/home/alice';
UPDATE campaign_clusters SET inputs_version = 2;
INSERT INTO earlier_inputs VALUES (1, 1, 1, '[]', now());
"""


def test_all_of_before_has_the_first_inputs(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(VERSIONS).all() == [(1, 1, None)]
        conn.execute(text(SOME))
    schema.downgrade(older, BEFORE)
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(VERSIONS).all() == [(1, 1, None)]
        assert conn.execute(text("SELECT count(*) FROM earlier_inputs")).scalar_one() == 0
    schema.upgrade(older)
    with older.begin() as conn:
        assert schema.differences(conn) == []
