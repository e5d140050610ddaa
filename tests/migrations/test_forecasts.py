"""Migration 0005: forecasts of before know neither an interval nor what to keep, and lose both on the way back."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from cigri.database import Database, schema

ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue, done, seconds, squares)
VALUES (1, 1, '{}', 1, 'none', 'none', 2, 20, 200);
INSERT INTO forecasts (campaign_id, cluster_id, at, ratio, mean, remaining) VALUES (1, 1, now(), 0.5, 10, 3);
INSERT INTO forecast_history (campaign_id, at, ratio, remaining, eta) VALUES (1, now(), 0.5, 3, now());
"""
NEW = "keep, send, memory, submitted, free, eta_low, eta_high, median, p95"
UNKNOWN: tuple[object, ...] = (None, None, {}, 0, None, None, None, None, None)


@pytest.fixture
def database(empty_url: str) -> Iterator[Database]:
    """At the migration before, with a forecast and its history."""
    database = Database(empty_url)
    schema.upgrade(database, "0004")
    with database.begin() as conn:
        conn.execute(text(ROWS))
    yield database
    database.close()


def test_old_forecasts_stay_and_know_nothing_new(database: Database) -> None:
    schema.upgrade(database, "0005")
    with database.begin() as conn:
        for table in ("forecasts", "forecast_history"):
            assert conn.execute(text(f"SELECT ratio, remaining, {NEW} FROM {table}")).all() == [(0.5, 3, *UNKNOWN)]
        assert conn.execute(text("SELECT done, durations FROM campaign_clusters")).one() == (2, [])


def test_forecasts_go_back_and_forth(database: Database) -> None:
    schema.upgrade(database, "0005")
    with database.begin() as conn:
        conn.execute(text("UPDATE forecasts SET keep = 3, memory = '{\"rate\": 4}', eta_low = at, eta_high = at"))
        conn.execute(text("UPDATE campaign_clusters SET durations = '{0, 2}'"))
        conn.execute(text("INSERT INTO cluster_forecasts (cluster_id, at, hazard) VALUES (1, now(), 0.1)"))
    schema.downgrade(database, "0004")
    with database.begin() as conn:
        assert conn.execute(text("SELECT ratio, mean FROM forecasts")).all() == [(0.5, 10.0)]
    schema.upgrade(database, "0005")
    with database.begin() as conn:
        assert conn.execute(text(f"SELECT {NEW} FROM forecasts")).all() == [UNKNOWN]
