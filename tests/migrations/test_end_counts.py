"""The migration that counts what ended: what had ended before is counted too, and goes with its table."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.outcome_counts import list_end_counts
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs


def test_what_had_ended_before_is_counted(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        well, badly, runs = submitted_jobs(conn, a_campaign(conn, 7), cluster, 3, tasks=2)
        run_jobs(conn, [well, badly, runs])
        end_jobs(conn, cluster, [well])
        end_jobs(conn, cluster, [badly], Outcome.LOST, exit_code=None)
        counted = list_end_counts(conn)
    schema.downgrade(database, "0038")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT to_regclass('end_counts')")) is None
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_end_counts(conn) == counted
        assert [(one.outcome, one.attempts, one.jobs) for one in counted] == [("success", 2, 1), ("lost", 2, 1)]
