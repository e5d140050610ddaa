"""What users have used of the grid, counted by what their jobs' ends and starts say."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow.ends import EndedJob, put_ended
from cigri.flow.fair_share_usage import Consumption, add_up_usage, list_usage
from cigri.flow.views.cluster_demands import list_cluster_demands, list_pending_campaigns
from cigri.states import JobKind, Outcome
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

A_WEEK = 7.0
LATER = NOON + timedelta(days=7)


def some_ended(conn: Connection, user: str, jobs: int, *, project: str = "") -> None:
    """Each ran 100 s on one core, of 3600 s."""
    campaign = a_campaign(conn, jobs, user=user, clusters=("dahu",))
    if project:
        made = text("INSERT INTO projects (name) VALUES (:name) ON CONFLICT DO NOTHING")
        conn.execute(made, {"name": project})
        conn.execute(
            text("UPDATE campaigns SET project_id = (SELECT id FROM projects WHERE name = :name) WHERE id = :id"),
            {"name": project, "id": campaign},
        )
    ids = submitted_jobs(conn, campaign, 1, jobs)
    set_time(conn, NOON - timedelta(seconds=100))
    run_jobs(conn, ids)
    set_time(conn, NOON)
    end_jobs(conn, 1, ids, seconds=100)


def test_used_and_asked_by_user_and_project(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        some_ended(conn, "alice", 2)
        some_ended(conn, "alice", 1, project="astro")
        some_ended(conn, "bob", 1)
        found = list_usage(conn, A_WEEK)
    assert found == {
        ("alice", ""): Consumption(200.0, 7200.0),
        ("alice", "astro"): Consumption(100.0, 3600.0),
        ("bob", ""): Consumption(100.0, 3600.0),
    }


def test_it_counts_half_after_the_half_life(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        some_ended(conn, "alice", 2)
        set_time(conn, LATER)
        assert list_usage(conn, A_WEEK)["alice", ""] == Consumption(100.0, 3600.0)
        assert list_usage(conn, A_WEEK / 2)["alice", ""] == Consumption(50.0, 1800.0)
        assert list_usage(conn, 1e-6)["alice", ""].used == pytest.approx(0)


def test_what_runs_counts_so_far_and_what_never_ran_counts_nothing(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        ids = submitted_jobs(conn, a_campaign(conn, 3), 1, 3)
        conn.execute(text("UPDATE jobs SET width = 4 WHERE id = :id"), {"id": ids[0]})
        run_jobs(conn, ids[:1])
        set_time(conn, NOON + timedelta(seconds=50))
        assert list_usage(conn, A_WEEK) == {("alice", ""): Consumption(200.0, 14400.0)}


def test_an_end_counts_once_and_is_no_longer_running(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        some_ended(conn, "alice", 1)
        (id,) = conn.scalars(text("SELECT id FROM jobs"))
        put_ended(conn, 1, [], [EndedJob(id, 1, JobKind.TASKS, Outcome.SUCCESS, 0, "", "", None)])
        assert list_usage(conn, A_WEEK) == {("alice", ""): Consumption(100.0, 3600.0)}


def test_adding_up_changes_no_total(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        for _ in range(4):
            some_ended(conn, "alice", 1)
        some_ended(conn, "bob", 1)
        set_time(conn, LATER)
        before = list_usage(conn, A_WEEK)
        add_up_usage(conn, A_WEEK, longest=3)
        assert conn.scalar(text("SELECT count(*) FROM usages")) == 2
        after = list_usage(conn, A_WEEK)
    assert {who: pytest.approx(tuple(had)) for who, had in before.items()} == {k: tuple(v) for k, v in after.items()}


def test_a_campaign_waits_since_jobs_were_last_made_of_it(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        set_time(conn, NOON - timedelta(seconds=500))
        campaign = a_campaign(conn, 9)
        set_time(conn, NOON)
        wants = list_cluster_demands(conn, 10, 60.0)
        assert [claim.waited for claim in list_pending_campaigns(conn, wants)] == [500.0]
        set_time(conn, NOON - timedelta(seconds=20))
        submitted_jobs(conn, campaign, 1, 1)
        set_time(conn, NOON)
        assert [claim.waited for claim in list_pending_campaigns(conn, wants)] == [20.0]


def test_a_claim_has_the_published_end_and_the_pressure_of_its_campaign(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 9)
        conn.execute(
            text(
                "INSERT INTO forecasts (campaign_id, at, ratio, remaining, mean, pressure, eta, published)"
                " VALUES (1, :at, 1, 9, 7.5, 8.5, :at - interval '1 minute', :at)"
            ),
            {"at": NOON},
        )
        (claim,) = list_pending_campaigns(conn, list_cluster_demands(conn, 10, 60.0))
    assert (claim.eta, claim.pressure) == (NOON, 8.5)
