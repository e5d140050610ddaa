"""Forecasts of a real run, and passes that have nothing to do."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import cast, event, select, update
from sqlalchemy.dialects.postgresql import JSONB

from cigri.database import Database
from cigri.estimates.durations import counted
from cigri.flow.forecasts import NewForecast
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.tables.campaigns import CampaignCluster, Forecast
from modules import campaign_schedulers, metascheduler, predictor
from modules.predictor.algorithms import AlgorithmInputs, Prediction
from tests.factories import a_campaign, a_cluster
from tests.grid import Grid

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def statements(grid: Grid) -> Iterator[list[str]]:
    said: list[str] = []

    def note(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    event.listen(grid.database.engine, "before_cursor_execute", note)
    yield said
    event.remove(grid.database.engine, "before_cursor_execute", note)


@pytest.mark.parametrize("module", [predictor, metascheduler, campaign_schedulers])
def test_a_pass_without_work_is_one_statement(local: Grid, module: ModuleType) -> None:
    local.cycle()
    with statements(local) as said:
        assert module.run_once(local.tools) == {}
    assert len(said) == 1, said


def test_a_real_run_is_forecast_with_a_history(local: Grid) -> None:
    local.tune("forecast", history=0.001)
    last = f'[ "$CIGRI_TASK_NUMBER" -lt 8 ] || until [ -e {local.place}/go ]; do sleep 0.05; done'
    local.submit([str(number) for number in range(12)], command=f"sleep 0.2; {last}")
    local.run_until(lambda: local.counts().get("done", 0) > 0)
    local.cycle()
    for row in local.rows("SELECT * FROM forecasts"):
        assert row["ratio"] == 1.0
        assert 0.2 <= row["mean"] < 5
        assert 0 < row["remaining"] < 12
        assert row["throughput"] > 60  # tasks per hour, with four cores
        assert (row["eta"] is None) is (row["cluster_id"] is not None)
        assert 0.15 <= row["median"] <= row["p95"] < 6
        if row["eta"]:
            assert row["eta_low"] <= row["eta"] <= row["eta_high"]
    kinds = "SELECT count(*) AS n, count(cluster_id) AS parts FROM forecasts"
    assert local.rows(kinds) == [{"n": 2, "parts": 1}]
    (Path(local.place) / "go").touch()
    local.run_to_end()
    history = local.rows("SELECT remaining, at FROM forecast_history WHERE cluster_id IS NULL ORDER BY at")
    assert len(history) > 2
    assert [row["remaining"] for row in history] == sorted((row["remaining"] for row in history), reverse=True)


@pytest.mark.noon
@pytest.mark.parametrize(
    ("grid", "cluster", "campaign", "is_tap"),
    [
        ("lean", "", "", False),
        ("tap", "", "", True),
        ("lean", "tap", "", True),
        ("tap", "simple", "", False),
        ("simple", "lean", "tap", True),
        ("tap", "tap", "lean", False),
    ],
)
def test_the_nearest_place_says_the_algorithm(
    database: Database, grid: str, cluster: str, campaign: str, is_tap: bool
) -> None:
    """Only the tap says how many jobs to send."""
    settings = Settings.model_validate({"forecast": {"algorithm": grid}})
    with database.begin() as conn:
        a_cluster(conn, algorithm=cluster)
        campaign_id = a_campaign(conn, 3)
        chosen = cast({"algorithm": campaign}, JSONB)
        settled = update(CampaignCluster).values(settings=CampaignCluster.c.settings + chosen)
        conn.execute(settled.where(CampaignCluster.c.campaign_id == campaign_id))
    with closing(TransportGateway()) as gateway:
        predictor.run_once(PassContext(database, settings, gateway))
    with database.begin() as conn:
        sends = conn.scalars(select(Forecast.c.send).where(Forecast.c.cluster_id.is_not(None))).all()
    assert [send is not None for send in sends] == [is_tap]


def test_the_end_of_an_endless_campaign_is_not_told() -> None:
    part = CampaignProgress(1, 1, 1, 1, 400_000.0, 0.0, 0, 0.0, 1, 0, 1_000_000, counted([400_000.0]))
    assert whole(part).eta is None
    soon = whole(part._replace(seconds=60.0, remaining=1, durations=counted([60.0]))).eta
    assert soon is not None
    assert NOW < soon < NOW + timedelta(seconds=90)


def whole(part: CampaignProgress) -> NewForecast:
    return predictor.forecast([part], [Prediction(1.0)], [AlgorithmInputs(1)], NOW)[-1]
