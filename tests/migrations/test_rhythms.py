"""The migration that keeps how often the tasks of a batch save their state, up and down with rows."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cigri.database import Database, schema

BEFORE, AFTER = "0058", "0059"
ROWS = """
INSERT INTO clusters (name, config) VALUES ('dahu', '{}');
INSERT INTO campaigns (name, grid_user, type, state, scheduler, submitted_at)
VALUES ('n', 'alice', 'default', 'in_treatment', '', now());
INSERT INTO batches (tag, campaign_id, cluster_id, local_user, state, size, created_at)
VALUES ('cigri.k.1', 1, 1, 'alice', 'launching', 1, now());
"""
CHOSEN = text("SELECT checkpoint_period, checkpoint_life, checkpoint_cost FROM batches")


def test_nothing_was_chosen_for_the_batches_of_before(older: Database) -> None:
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(CHOSEN).all() == [(None, None, None)]
        conn.execute(text("UPDATE batches SET checkpoint_period = 60, checkpoint_life = 1, checkpoint_cost = 2"))
    with pytest.raises(IntegrityError, match="ck_batches_checkpoint"), older.begin() as conn:
        conn.execute(text("UPDATE batches SET checkpoint_cost = NULL"))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.execute(text("SELECT tag FROM batches")).all() == [("cigri.k.1",)]
    schema.upgrade(older, AFTER)
    with older.begin() as conn:
        assert conn.execute(CHOSEN).all() == [(None, None, None)]
