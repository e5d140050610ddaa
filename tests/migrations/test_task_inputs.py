"""The migration that lets tasks have inputs, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0046", "0050"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{"driver": "local"}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue)
VALUES (1, 1, '{"exec_file": "e", "walltime": 60}', 1, 'none', 'none');
"""
HAVE = text("SELECT tasks_have_inputs FROM campaigns")
SOME = f"""
UPDATE campaigns SET tasks_have_inputs = true;
INSERT INTO task_inputs VALUES (1, 0, 0, '{"a" * 64}');
INSERT INTO task_places VALUES (1, 0, 1, true, now());
"""


def test_tasks_of_before_have_no_inputs(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(HAVE).all() == [(False,)]
        conn.execute(text(SOME))
    schema.downgrade(older, BEFORE)
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(HAVE).all() == [(False,)]
        assert conn.execute(text("SELECT count(*) FROM task_places")).scalar_one() == 0
