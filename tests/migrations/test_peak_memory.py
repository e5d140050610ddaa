"""The migration by which attempts tell how much memory they took (0076), up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from tests.migrations.test_standstill import ROWS  # noqa: F401  (the fixture asks for it)

BEFORE, AFTER = "0075", "0076"
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
