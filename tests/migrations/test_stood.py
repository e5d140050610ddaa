"""The migration that keeps how campaigns stood, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0041", "0042"
ROWS = """
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO forecast_history (campaign_id, at, ratio, remaining, eta) VALUES (1, now(), 0.5, 3, now());
"""
STOOD = text("SELECT remaining, cores, done, failed FROM forecast_history")


def test_nobody_knows_how_campaigns_stood_before(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(STOOD).all() == [(3, None, None, None)]
        conn.execute(text("UPDATE forecast_history SET cores = 1, done = 2, failed = 3"))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT remaining FROM forecast_history")).all() == [(3,)]
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(STOOD).all() == [(3, None, None, None)]
