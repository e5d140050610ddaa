"""How a campaign came to where it is: what was written down of it then, and never more than a chart shows."""

from datetime import timedelta
from itertools import pairwise
from time import monotonic

import pytest
from sqlalchemy import text

from cigri.api_models.histories import (
    MOST_MOMENTS,
    ClusterCoresSeries,
    CoresHistory,
    EndForecastPoint,
    ProgressHistory,
    ProgressPoint,
)
from cigri.database import Database
from cigri.endpoints.dispatch import run_endpoint
from cigri.endpoints.histories import cores, progress
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from cigri.states import Outcome
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

BOB = Caller("bob")
MINUTE = timedelta(minutes=1)
A_MONTH = 30 * 24 * 60
LONGEST = 1.0  # seconds, on a busy machine; measured: 0.02
FILL = f"""
INSERT INTO forecast_history (campaign_id, cluster_id, at, ratio, remaining, eta, cores, done, failed)
    SELECT 1, cluster, now() + n * interval '1 minute', 1, 9, now() + interval '31 days',
           CASE WHEN cluster IS NULL THEN 2 * n ELSE n END, CASE WHEN cluster IS NULL THEN n END,
           CASE WHEN cluster IS NULL THEN 0 END
    FROM generate_series(1, {A_MONTH}) AS n, (VALUES (1), (2), (NULL)) AS clusters (cluster)
"""


def ask(database: Database) -> tuple[ProgressHistory, CoresHistory]:
    told = (
        run_endpoint(progress, database, Settings, BOB, {"campaign_id": 1}),
        run_endpoint(cores, database, Settings, BOB, {"campaign_id": 1}),
    )
    assert isinstance(told[0], ProgressHistory)
    assert isinstance(told[1], CoresHistory)
    return told[0], told[1]


@pytest.fixture
def grid(database: Database) -> Database:
    """A campaign of 4 tasks on two clusters; three jobs of it run on the first one."""
    with database.begin() as conn:
        dahu, _ = a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 4, clusters=("dahu", "luke"))
        run_jobs(conn, submitted_jobs(conn, campaign, dahu, 3))
    return database


def foretell(database: Database, minute: int, eta: int | None = None) -> None:
    """The predictor's pass in that minute, when it expects the end in another one, give or take five."""
    set_time(database, NOON + minute * MINUTE)
    blank = NewForecast(1, 1, 1.0, None, None, None, 4, None)
    whole = blank._replace(cluster_id=None)
    if eta is not None:
        end = NOON + eta * MINUTE
        whole = whole._replace(eta=end, eta_low=end - 5 * MINUTE, eta_high=end + 5 * MINUTE)
    with database.begin() as conn:
        put_forecasts(conn, [blank, blank._replace(cluster_id=2), whole], 60.0)


def test_it_is_told_as_it_was_then(grid: Database) -> None:
    foretell(grid, 1)
    with grid.begin() as conn:
        end_jobs(conn, 1, [1])
    foretell(grid, 2, 20)
    with grid.begin() as conn:
        end_jobs(conn, 1, [2], Outcome.FAILURE, exit_code=1)
    foretell(grid, 3, 40)
    set_time(grid, NOON + 4 * MINUTE)
    far, had = ask(grid)
    assert far.total == 4
    assert far.points == [
        ProgressPoint(NOON, 0, 0),
        ProgressPoint(NOON + MINUTE, 0, 0),
        ProgressPoint(NOON + 2 * MINUTE, 1, 0),
        ProgressPoint(NOON + 3 * MINUTE, 1, 1),
        ProgressPoint(NOON + 4 * MINUTE, 1, 1),
    ]
    assert far.forecasts == [
        EndForecastPoint(NOON + 2 * MINUTE, NOON + 20 * MINUTE, NOON + 15 * MINUTE, NOON + 25 * MINUTE),
        EndForecastPoint(NOON + 3 * MINUTE, NOON + 40 * MINUTE, NOON + 35 * MINUTE, NOON + 45 * MINUTE),
    ]
    assert had == CoresHistory([NOON + n * MINUTE for n in range(5)], [ClusterCoresSeries("dahu", [0, 3, 2, 1, 1])])


def test_a_campaign_of_which_nothing_is_kept_has_a_beginning_and_an_end(grid: Database) -> None:
    set_time(grid, NOON + MINUTE)
    with grid.begin() as conn:
        end_jobs(conn, 1, [1, 2, 3])
        conn.execute(text("UPDATE campaigns SET state = 'cancelled', ended_at = now()"))
    set_time(grid, NOON + timedelta(days=2))
    far, had = ask(grid)
    assert far == ProgressHistory(4, [ProgressPoint(NOON, 0, 0), ProgressPoint(NOON + MINUTE, 3, 0)], [])
    assert had == CoresHistory([NOON, NOON + MINUTE], [])


def test_what_is_from_before_it_was_kept_is_left_out(grid: Database) -> None:
    foretell(grid, 1, 20)
    with grid.begin() as conn:
        conn.execute(text("UPDATE forecast_history SET cores = NULL, done = NULL, failed = NULL"))
    set_time(grid, NOON + 2 * MINUTE)
    far, had = ask(grid)
    assert [point.at for point in far.points] == [NOON, NOON + 2 * MINUTE] == had.moments
    assert far.forecasts == []
    assert had.clusters == [ClusterCoresSeries("dahu", [0, 3])]


def test_a_month_is_told_in_a_few_moments_and_soon(grid: Database) -> None:
    with grid.begin() as conn:
        conn.execute(text(FILL))
        conn.execute(text("ANALYZE forecast_history"))
    set_time(grid, NOON + A_MONTH * MINUTE + MINUTE)
    begun = monotonic()
    far, had = ask(grid)
    assert monotonic() - begun < LONGEST
    assert MOST_MOMENTS - 3 <= len(far.points) <= MOST_MOMENTS
    assert len(far.forecasts) == len(far.points) - 2
    assert [point.at for point in far.points] == had.moments
    kept = [(point.at - NOON) // MINUTE for point in far.points[1:-1]]
    assert [point.done for point in far.points[1:-1]] == kept == had.clusters[1].cores[1:-1]
    assert max(after - before for before, after in pairwise(kept)) <= A_MONTH // 198 + 2
    assert had.clusters[0].cores[-1] == 3
