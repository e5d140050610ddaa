"""The migration that lets lists leave ended campaigns out, up and down with rows."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cigri.database import Database, schema

BEFORE, AFTER = "0076", "0077"
ROWS = """
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at, ended_at)
VALUES ('n', 'alice', 'default', 'terminated', '', now(), now()),
       ('n', 'alice', 'default', 'in_treatment', '', now(), NULL);
"""
FORGET = "UPDATE campaigns SET forgotten_at = now() WHERE id = {}"
FORGOTTEN = text("SELECT id, forgotten_at IS NOT NULL FROM campaigns ORDER BY id")


def test_no_campaign_of_before_is_forgotten(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(FORGOTTEN).all() == [(1, False), (2, False)]
        conn.execute(text(FORGET.format(1)))
    schema.downgrade(older, BEFORE)
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(FORGOTTEN).all() == [(1, False), (2, False)]


def test_an_open_campaign_is_never_forgotten(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with pytest.raises(IntegrityError, match="ck_campaigns_forgotten"), older.begin() as conn:
        conn.execute(text(FORGET.format(2)))
