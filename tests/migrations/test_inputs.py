"""The migration that lets inputs travel, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0043", "0044"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{"driver": "local"}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
VALUES (1, 1, '{"exec_file": "e", "walltime": 60}', 1, 'none', 'none');
"""
LACKS = text("SELECT lacks_inputs FROM campaign_clusters")
SOME = f"""
INSERT INTO stored_inputs VALUES ('{"a" * 64}', 3, now());
INSERT INTO sent_inputs VALUES ('{"a" * 64}', 'alice', now());
INSERT INTO campaign_inputs VALUES (1, '{"a" * 64}');
INSERT INTO part_inputs VALUES (1, 1, '{"a" * 64}', false);
INSERT INTO cached_inputs VALUES (1, 'alice', '{"a" * 64}', false, 3, true, now());
"""


def test_campaigns_of_before_lack_nothing(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(LACKS).all() == [(False,)]
        conn.execute(text(SOME))
    schema.downgrade(older, BEFORE)
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(LACKS).all() == [(False,)]
        assert conn.execute(text("SELECT count(*) FROM stored_inputs")).scalar_one() == 0
