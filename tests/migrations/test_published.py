"""The migration that publishes when campaigns end, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema

BEFORE, AFTER = "0016", "0017"
ROWS = """
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO forecasts (campaign_id, at, ratio, mean, remaining) VALUES (1, now(), 0.5, 10, 3);
INSERT INTO forecast_history (campaign_id, at, ratio, remaining, eta) VALUES (1, now(), 0.5, 3, now());
"""


def test_forecasts_of_before_have_told_nobody_an_end(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        for table in ("forecasts", "forecast_history"):
            found = conn.execute(text(f"SELECT remaining, pressure, published FROM {table}")).all()
            assert found == [(3, None, None)]
        conn.execute(text("UPDATE forecasts SET pressure = 10, published = now()"))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT mean FROM forecasts")).all() == [(10.0,)]
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(text("SELECT pressure, published FROM forecasts")).all() == [(None, None)]
