"""The migration by which the portal tells jobs their features (0072), up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.served_features import ServedFeatures, put_served_features

BEFORE, AFTER = "0068", "0072"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO batches (tag, campaign_id, cluster_id, local_user, state, size, created_at)
VALUES ('cigri.k.1', 1, 1, 'alice', 'launching', 1, now());
"""
TOLD = text("SELECT served_features FROM batches")


def test_jobs_of_before_are_told_nothing(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(TOLD).all() == [(None,)]
        put_served_features(conn, 1, ServedFeatures("0" * 64, {"hs06": "1"}, {}))
        assert conn.execute(TOLD).all() == [({"sha256": "0" * 64, "machine": {"hs06": "1"}, "job": {}},)]
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT tag FROM batches")).all() == [("cigri.k.1",)]
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(TOLD).all() == [(None,)]
