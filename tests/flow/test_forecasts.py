"""What the predictor writes down."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from cigri.database import Database
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.tables.campaigns import Forecast, ForecastHistory
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon


def test_only_a_forecast_that_has_changed_is_written_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        here = NewForecast(campaign, cluster, 1.0, None, None, None, 3, None)
        whole = here._replace(cluster_id=None)
        put_forecasts(conn, [here, whole], 60.0)
        later = NOON + timedelta(seconds=10)
        set_time(conn, later)
        put_forecasts(conn, [here, whole._replace(throughput=2.0)], 60.0)
        found = conn.execute(select(Forecast.c.cluster_id, Forecast.c.throughput, Forecast.c.at)).all()
    assert {tuple(row) for row in found} == {(cluster, None, NOON), (None, 2.0, later)}


def test_there_is_a_history_of_those_alone_of_which_something_is_known(database: Database) -> None:
    """Else each of thousands that wait would leave a row for each of its clusters in each minute."""
    with database.begin() as conn:
        cluster, other = a_cluster(conn), a_cluster(conn, "luke")
        campaigns = [a_campaign(conn, 3, clusters=("dahu", "luke")) for _ in range(3)]
        here = [NewForecast(id, one, 1.0, None, None, None, 3, None) for id in campaigns for one in (cluster, other)]
        nothing, mean, end = (NewForecast(id, None, 1.0, None, None, None, 3, None) for id in campaigns)
        put_forecasts(conn, [*here, nothing, mean._replace(mean=5.0), end._replace(eta=NOON)], 60.0)
        kept = conn.execute(select(ForecastHistory.c.campaign_id, ForecastHistory.c.cluster_id)).all()
        set_time(conn, NOON + timedelta(seconds=30))
        put_forecasts(conn, [nothing._replace(mean=6.0)], 60.0)
        later = conn.scalars(select(ForecastHistory.c.campaign_id).where(ForecastHistory.c.at > NOON)).all()
    assert {tuple(row) for row in kept} == {(id, one) for id in campaigns[1:] for one in (cluster, other, None)}
    assert later == [campaigns[0]] * 3


def test_there_is_a_history_of_those_that_run_and_of_how_they_are(database: Database) -> None:
    with database.begin() as conn:
        cluster, other = a_cluster(conn), a_cluster(conn, "luke")
        first, second = (a_campaign(conn, 3, clusters=("dahu", "luke")) for _ in range(2))
        run_jobs(conn, submitted_jobs(conn, first, cluster, 2))
        ids = (cluster, other, None)
        put_forecasts(
            conn, [NewForecast(id, at, 1.0, None, None, None, 3, None) for id in (first, second) for at in ids], 60.0
        )
        kept = select(*(ForecastHistory.c[name] for name in ("campaign_id", "cluster_id", "cores", "done", "failed")))
        found = {tuple(row) for row in conn.execute(kept)}
    assert found == {(first, cluster, 2, None, None), (first, other, 0, None, None), (first, None, 2, 0, 0)}
