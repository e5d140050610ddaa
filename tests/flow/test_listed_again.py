"""Jobs listed again, between the look for them and the wish that they die."""

from cigri.database import Database
from cigri.flow.relisted_jobs import RelistedJobs, put_listed_again
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs


def test_a_job_that_was_archived_meanwhile_spoils_no_other(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        run_jobs(conn, [job])
        end_jobs(conn, cluster, [job])
        job_id = conn.exec_driver_sql("SELECT id FROM jobs").scalar_one()
        user = conn.exec_driver_sql("SELECT local_user FROM batches").scalar_one()
        assert put_listed_again(conn, cluster, user, {777: "a", job_id: "b"}) == RelistedJobs(1, 1, "b")
        assert put_listed_again(conn, cluster, user, {777: "a"}) == RelistedJobs(0, 0, "")
