"""The migration that keeps how long jobs ran: those that had ended before keep what they were counted by."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.accounting import list_corrections
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon


def test_what_had_ended_before_counts_as_it_was_counted(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        ended, runs, waits = submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)
        run_jobs(conn, [ended, runs])
        set_time(conn, NOON + timedelta(seconds=100))
        end_jobs(conn, cluster, [ended], seconds=40)
    schema.downgrade(database, "0059")
    with database.begin() as conn:
        names = conn.scalars(text("SELECT column_name FROM information_schema.columns WHERE table_name = 'jobs'")).all()
        assert not {"ran_seconds", "running_from"} & set(names)
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        kept = {row.id: row for row in conn.execute(text("SELECT id, ran_seconds, running_from, started_at FROM jobs"))}
        assert (kept[ended].ran_seconds, kept[runs].ran_seconds, kept[waits].ran_seconds) == (40, None, None)
        assert kept[runs].running_from == kept[runs].started_at
        assert kept[waits].running_from is None
        assert list_corrections(conn) == []
