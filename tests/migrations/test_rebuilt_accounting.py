"""The migrations that let accounting be rebuilt, with types and what was asked: what was archived before is kept."""

import pytest
from sqlalchemy import Connection, text

from cigri.api_models.metrics import AccountingEntry
from cigri.database import Database, schema
from cigri.flow.accounting import add_up_accounting, list_accounted, list_corrections, rebuild
from cigri.flow.archive import archive_campaign
from cigri.formats.units import DAY, HOUR
from cigri.states import Outcome
from tests.factories import a_cluster
from tests.flow.test_accounting import one_ended

pytestmark = pytest.mark.noon

BEFORE, REBUILDS = "0056", "0057"
BY_USER = "SELECT grid_user, sum(jobs)::int, sum(core_seconds) FROM {table} GROUP BY 1 ORDER BY 1"
BY_TYPE = "SELECT type, sum(jobs)::int, sum(core_seconds), sum(asked) FROM accounting GROUP BY 1 ORDER BY 1"


def accounted(conn: Connection) -> list[AccountingEntry]:
    """Alice's jobs are there, the first nightly, and one of Bob's; another one of his is archived."""
    a_cluster(conn)
    one_ended(conn, "alice", 2 * DAY, cores=3)
    nightly = 'UPDATE campaign_clusters SET settings = settings || \'{"type": "nightly"}\''
    conn.execute(text(nightly))
    one_ended(conn, "alice", 500, outcome=Outcome.LOST)
    one_ended(conn, "bob", 2 * DAY)
    archive_campaign(conn, 3)
    one_ended(conn, "bob", 70)
    rebuild(conn)
    return list_accounted(conn, 9)


def test_what_was_archived_before_is_not_lost_by_a_rebuild(database: Database) -> None:
    with database.begin() as conn:
        before = accounted(conn)
    schema.downgrade(database, BEFORE)
    with database.begin() as conn:
        assert conn.scalar(text("SELECT to_regclass('archived_accounting')")) is None
    schema.upgrade(database, REBUILDS)
    with database.begin() as conn:
        assert conn.execute(text(BY_USER.format(table="archived_accounting"))).all() == [("bob", 1, 2 * DAY)]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert (list_corrections(conn), list_accounted(conn, 9)) == ([], before)
        conn.execute(text("DELETE FROM accounting"))
        rebuild(conn)
        assert list_accounted(conn, 9) == before


def test_what_accounting_lacked_before_is_not_taken_for_archived(database: Database) -> None:
    with database.begin() as conn:
        before = accounted(conn)
        conn.execute(text("UPDATE accounting SET core_seconds = 1, jobs = 0 WHERE grid_user = 'alice'"))
    schema.downgrade(database, BEFORE)
    schema.upgrade(database, REBUILDS)
    with database.begin() as conn:
        assert conn.execute(text(BY_USER.format(table="archived_accounting"))).all() == [("bob", 1, 2 * DAY)]
    schema.upgrade(database)
    with database.begin() as conn:
        assert (list_corrections(conn), list_accounted(conn, 9)) == ([], before)


def test_types_are_those_of_jobs_that_are_there(database: Database) -> None:
    with database.begin() as conn:
        before = accounted(conn)
        kinds = [("best-effort", 3, 2 * DAY + 570, 3 * HOUR), ("nightly", 1, 6 * DAY, 3 * HOUR)]
        assert conn.execute(text(BY_TYPE)).all() == kinds
    schema.downgrade(database, REBUILDS)
    with database.begin() as conn:
        here = conn.execute(text(BY_USER.format(table="accounting"))).all()
        assert here == [("alice", 2, 6 * DAY + 500), ("bob", 2, 2 * DAY + 70)]
    schema.upgrade(database)
    with database.begin() as conn:
        kinds[0] = ("best-effort", 2, 570, 2 * HOUR)
        assert conn.execute(text(BY_TYPE)).all() == [("", 1, 2 * DAY, 0), *kinds]
        assert (list_corrections(conn), list_accounted(conn, 9)) == ([], before)


def test_two_types_of_a_day_are_one_sum_without_types(database: Database) -> None:
    with database.begin() as conn:
        accounted(conn)
        conn.execute(text("UPDATE accounting SET type = 'normal' WHERE grid_user = 'alice'"))
        one_ended(conn, "alice", 30, cores=3)
        add_up_accounting(conn, 0)
    schema.downgrade(database, REBUILDS)
    with database.begin() as conn:
        here = conn.execute(text(BY_USER.format(table="accounting"))).all()
        assert here == [("alice", 3, 6 * DAY + 590), ("bob", 2, 2 * DAY + 70)]
        sums = "SELECT count(*), count(DISTINCT (day, outcome)) FROM accounting WHERE is_sum AND grid_user = 'alice'"
        assert conn.execute(text(sums)).all() == [(4, 4)]
