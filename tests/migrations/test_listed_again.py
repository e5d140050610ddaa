"""The migration by which jobs that are over and listed again are killed (0033), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.kill_requests import request_kills
from cigri.flow.relisted_jobs import RelistedJobs, put_listed_again
from cigri.flow.views.unwanted_jobs import list_over
from cigri.states import KillReason
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

REASONS = "SELECT reason::text FROM kills ORDER BY job_id"


def test_only_what_is_listed_again_is_left_to_its_walltime(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, second = submitted_jobs(conn, a_campaign(conn, 2), cluster, 2)
        run_jobs(conn, [first])
        end_jobs(conn, cluster, [first])
        request_kills(conn, [second], KillReason.USER, "ann")
        tag, user = conn.execute(text("SELECT tag, local_user FROM batches")).one()
        over = list_over(conn, cluster, user, [(tag, 1, "77"), (tag, 2, "78"), ("other", 1, "79")], 0.0, 0.0)
        assert put_listed_again(conn, cluster, user, over) == RelistedJobs(jobs=1, new=1, example="77")
        assert list(conn.scalars(text(REASONS))) == ["listed_again", "user"]
    schema.downgrade(database, "0032")
    with database.begin() as conn:
        assert list(conn.scalars(text(REASONS))) == ["user"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        over = list_over(conn, cluster, user, [(tag, 1, "80")], 0.0, 0.0)
        assert put_listed_again(conn, cluster, user, over) == RelistedJobs(1, 1, "80")
