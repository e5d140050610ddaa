"""The migration that accounts for core-hours: jobs that had ended before are accounted for, as they are since."""

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.accounting import list_accounted
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

NO_DAY = text("SELECT to_regclass('accounting')")


def test_what_had_ended_before_is_accounted_for(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        well, badly, runs = submitted_jobs(conn, a_campaign(conn, 7), cluster, 3)
        run_jobs(conn, [well, badly, runs])
        conn.execute(text("UPDATE jobs SET started_at = started_at - interval '50 hours', width = 3"))
        end_jobs(conn, cluster, [well], seconds=180_000)
        end_jobs(conn, cluster, [badly], Outcome.LOST, exit_code=None)
        accounted = list_accounted(conn, 9)
        days = conn.scalar(text("SELECT count(DISTINCT day) FROM accounting"))
    schema.downgrade(database, "0044")
    with database.begin() as conn:
        assert conn.scalar(NO_DAY) is None
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        # parts of days are added up, and where the days end depends on the hour of the test
        assert list_accounted(conn, 9) == [pytest.approx(work) for work in accounted]
        assert [work.jobs for work in accounted] == [2]
        assert conn.scalar(text("SELECT count(DISTINCT day) FROM accounting")) == days > 1
