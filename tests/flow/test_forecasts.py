"""What the predictor writes down."""

from datetime import timedelta

from sqlalchemy import select

from cigri.database import Database
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.tables.campaigns import Forecast
from tests.factories import NOON, a_campaign, a_cluster


def test_only_a_forecast_that_has_changed_is_written_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        here = NewForecast(campaign, cluster, 1.0, None, None, None, 3, None)
        whole = here._replace(cluster_id=None)
        put_forecasts(conn, [here, whole], 60.0, NOON)
        later = NOON + timedelta(seconds=10)
        put_forecasts(conn, [here, whole._replace(throughput=2.0)], 60.0, later)
        found = conn.execute(select(Forecast.c.cluster_id, Forecast.c.throughput, Forecast.c.at)).all()
    assert {tuple(row) for row in found} == {(cluster, None, NOON), (None, 2.0, later)}
