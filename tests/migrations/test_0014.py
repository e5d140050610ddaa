"""The migration that remembers where tasks failed, up and down with rows."""

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

pytestmark = pytest.mark.noon


def test_tasks_of_before_may_go_anywhere(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 2), cluster, 1)
        run_jobs(conn, jobs)
        end_jobs(conn, cluster, jobs, Outcome.LOST, exit_code=None)
        assert [want.avoiding for want in list_cluster_demands(conn, 10, 0.0)] == [1]
    schema.downgrade(database, "0012")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'waiting'")) == 2
    schema.upgrade(database)
    with database.begin() as conn:
        assert [want.avoiding for want in list_cluster_demands(conn, 10, 0.0)] == [0]
