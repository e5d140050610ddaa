"""What PostgreSQL itself refuses: each sentence with "never" in the tables, by one bad row."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from cigri.database import Database
from tests.factories import a_campaign, a_cluster, submitted_jobs

BAD = {
    "ck_grid_one_row": "INSERT INTO grid VALUES (false, 'abcd')",
    "pk_grid": "INSERT INTO grid VALUES (true, 'abcd')",
    "ck_grid_key": "UPDATE grid SET key = 'A b'",
    "ck_clusters_name": "UPDATE clusters SET name = '../x'",
    "uq_clusters_name": "INSERT INTO clusters (name, config) SELECT name, config FROM clusters",
    "ck_clusters_blocked_after_failures": "UPDATE clusters SET failures = 1",
    "ck_campaigns_ended": "UPDATE campaigns SET state = 'terminated'",
    "ck_campaign_clusters_width": "UPDATE campaign_clusters SET width = 0",
    "ck_campaign_clusters_max_jobs": "UPDATE campaign_clusters SET max_jobs = 0",
    "fk_tasks_bucket_id_campaign_id": "UPDATE tasks SET bucket_id = 77",
    "uq_tasks_campaign_id_number": "UPDATE tasks SET number = 0",
    "uq_buckets_anywhere": """INSERT INTO buckets (campaign_id, requirements)
        SELECT campaign_id, '{}' FROM buckets""",
    "uq_buckets_tested": """INSERT INTO buckets (campaign_id, requirements, cluster_id)
        SELECT campaign_id, jsonb_build_object('number', n), 1 FROM buckets, generate_series(1, 2) n""",
    "ck_batches_settled": "UPDATE batches SET state = 'launching'",
    "ck_batches_size": "UPDATE batches SET size = 0",
    "uq_batches_tag": """INSERT INTO batches (tag, campaign_id, cluster_id, local_user, state, size, created_at)
        SELECT tag, campaign_id, cluster_id, local_user, 'launching', 1, now() FROM batches""",
    "fk_jobs_campaign_id_cluster_id": "UPDATE jobs SET cluster_id = 77",
    "ck_jobs_ended_has_outcome": "UPDATE jobs SET outcome = 'success'",
    "ck_jobs_ended_at": "UPDATE jobs SET ended_at = now()",
    "ck_jobs_batch_and_index": "UPDATE jobs SET array_index = NULL",
    "ck_jobs_submitted_has_batch": "UPDATE jobs SET batch_id = NULL, array_index = NULL",
    "ck_jobs_to_launch_has_no_batch": "UPDATE jobs SET state = 'to_launch'",
    "ck_jobs_tasks_have_bucket": "UPDATE jobs SET kind = 'prologue'",
    "ck_jobs_size": "UPDATE jobs SET walltime = 0",
    "uq_jobs_batch_id_array_index": "UPDATE jobs SET array_index = 1",
    "pk_attempts": "UPDATE attempts SET task_id = 1, number = 1",
    "uq_attempts_live": """INSERT INTO attempts (task_id, number, job_id, position)
        SELECT task_id, number + 1, job_id, position + 1 FROM attempts""",
    "uq_attempts_job_id_position": """INSERT INTO attempts (task_id, number, job_id, position, outcome)
        SELECT task_id, number + 1, job_id, position, 'lost' FROM attempts""",
    "ck_offers_not_empty": """INSERT INTO offers
        SELECT campaign_id, cluster_id, 1, 0, 0, now(), 1, 1, 0 FROM campaign_clusters""",
    "ck_forecasts_ratio": """INSERT INTO forecasts (campaign_id, cluster_id, at, ratio, remaining)
        SELECT campaign_id, cluster_id, now(), 0, 1 FROM campaign_clusters""",
    "uq_forecasts_campaign": """INSERT INTO forecasts (campaign_id, at, ratio, remaining)
        SELECT campaign_id, now(), 1, 1 FROM campaign_clusters, generate_series(1, 2)""",
    "ck_forecasts_jobs": """INSERT INTO forecasts (campaign_id, at, ratio, remaining, keep)
        SELECT campaign_id, now(), 1, 1, -1 FROM campaign_clusters""",
    "ck_forecasts_interval": """INSERT INTO forecasts (campaign_id, at, ratio, remaining, eta, eta_low, eta_high)
        SELECT campaign_id, now(), 1, 1, now(), now() + interval '1 s', now() FROM campaign_clusters""",
    "ck_events_closed_by": """INSERT INTO events (code, level, subject, message, opened_at, last_at, closed_at)
        VALUES ('X', 'info', 's', 'm', now(), now(), now())""",
    "ck_clusters_site": "UPDATE clusters SET site = 'a b'",
    "uq_queues_cluster_id_name": """INSERT INTO queues (cluster_id, name, remote_name)
        SELECT cluster_id, name, remote_name FROM queues""",
    "ck_queues_default": "UPDATE queues SET name = 'fat'",
    "ck_declared_properties_place": "INSERT INTO declared_properties VALUES ('grid', 'dahu', '', 'os', '1', false)",
    "ck_node_classes_nodes": """INSERT INTO node_classes (cluster_id, at, properties, nodes)
        SELECT id, now(), '{}', 0 FROM clusters""",
    "uq_events_open": """INSERT INTO events (code, level, subject, message, opened_at, last_at)
        SELECT 'X', 'info', 's', 'm', now(), now() FROM generate_series(1, 2)""",
}


def test_wrong_rows_are_refused(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 3), cluster, 2)
    missed = {}
    for name, statement in BAD.items():
        try:
            with database.begin() as conn:
                conn.execute(text(statement))
            missed[name] = "taken"
        except IntegrityError as error:
            refused = error.orig.diag.constraint_name  # type: ignore[union-attr]  # psycopg's own
            if refused != name:
                missed[name] = refused
    assert missed == {}


@pytest.mark.parametrize("table", ["tasks", "jobs", "campaigns"])
def test_a_state_that_nobody_knows_is_refused(database: Database, table: str) -> None:
    with pytest.raises(DBAPIError, match="invalid input value for enum"), database.begin() as conn:
        conn.execute(text(f"UPDATE {table} SET state = 'asleep'"))


def test_nothing_is_left_without_its_campaign(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 3), cluster, 2)
        conn.execute(text("DELETE FROM campaigns"))
        for table in ("tasks", "attempts", "jobs", "batches", "buckets", "campaign_clusters"):
            assert conn.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
        assert conn.execute(text("SELECT coalesce(sum(n), 0) FROM task_counts")).scalar_one() == 0
