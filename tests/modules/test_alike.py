"""Campaigns that stand alike are reckoned once, and forecast as if each had been by itself."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Row, text

from cigri.database import Database
from cigri.flow.views.forecast_groups import list_alike
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from modules import predictor
from modules.predictor.algorithms import AlgorithmInputs, Prediction, load
from modules.predictor.sharing import share_free_cores
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.modules.test_predictor import progress

pytestmark = pytest.mark.noon

FORECASTS = "SELECT (to_jsonb(forecasts) - '{id,at}'::text[])::text FROM forecasts ORDER BY campaign_id, cluster_id"


def a_grid(database: Database) -> list[int]:
    """Seven campaigns: one has done something, one runs, five wait, of which one has other clusters, one replicas."""
    with database.begin() as conn:
        here, _ = a_cluster(conn, "dahu", free=3), a_cluster(conn, "luke", free=0, used=7)
        done, running = (a_campaign(conn, 20, clusters=("dahu", "luke")) for _ in range(2))
        first = submitted_jobs(conn, done, here, 2)
        run_jobs(conn, first)
        set_time(conn, NOON + timedelta(seconds=40))
        end_jobs(conn, here, first)
        set_time(conn, NOON)
        run_jobs(conn, submitted_jobs(conn, running, here, 1))
        others = [a_campaign(conn, tasks, clusters=("dahu", "luke")) for tasks in (5, 5, 8)]
        others += [
            a_campaign(conn, 5, clusters=("luke",)),
            a_campaign(conn, 5, clusters=("dahu", "luke"), max_replicas=1),
        ]
    return [done, running, *others]


def forecasts(database: Database, now: datetime) -> list[Row[tuple[str]]]:
    set_time(database, now)
    predictor.run_once(PassContext(database, Settings(), TransportGateway()))
    with database.begin() as conn:
        return list(conn.execute(text(FORECASTS)).all())


def test_those_without_jobs_that_differ_in_their_tasks_only_stand_for_each_other(database: Database) -> None:
    _, _, first, second, third, _, _ = a_grid(database)
    with database.begin() as conn:
        assert list_alike(conn) == {first: {second: 5, third: 8}}


def test_one_whose_forecasts_are_of_other_tasks_on_one_cluster_stands_for_itself(database: Database) -> None:
    with database.begin() as conn:
        here, _ = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        first, second, third, fourth = (a_campaign(conn, tasks, clusters=("dahu", "luke")) for tasks in (5, 5, 8, 5))
    forecasts(database, NOON)
    stale = text("UPDATE forecasts SET remaining = 4 WHERE campaign_id = :id AND cluster_id = :cluster")
    with database.begin() as conn:
        assert list_alike(conn) == {first: {second: 5, third: 8, fourth: 5}}
        conn.execute(stale, {"id": second, "cluster": here})
        assert list_alike(conn) == {first: {third: 8, fourth: 5}}
        conn.execute(text("UPDATE forecasts SET remaining = 4 WHERE campaign_id IN (2, 4)"))
        assert list_alike(conn) == {first: {third: 8}, second: {fourth: 5}}


def test_each_is_forecast_as_if_it_had_been_by_itself(
    database: Database, other_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for grid in (database, other_database):
        a_grid(grid)
    together = [forecasts(database, NOON + timedelta(minutes=minutes)) for minutes in (1, 2, 30)]
    monkeypatch.setattr(predictor, "list_alike", lambda _conn, _apart: {})
    alone = [forecasts(other_database, NOON + timedelta(minutes=minutes)) for minutes in (1, 2, 30)]
    assert together == alone
    assert len(together[0]) == 6 * 3 + 2


def test_a_campaign_whose_tasks_have_changed_is_forecast_anew(database: Database) -> None:
    *_, second, third, _, _ = a_grid(database)
    forecasts(database, NOON)
    with database.begin() as conn:
        conn.execute(
            text("UPDATE tasks SET state = 'cancelled' WHERE campaign_id = :id AND number = 1"), {"id": second}
        )
    forecasts(database, NOON)
    with database.begin() as conn:
        remaining = conn.execute(text("SELECT campaign_id, remaining FROM forecasts WHERE cluster_id IS NULL")).all()
    assert {row.campaign_id: row.remaining for row in remaining}.items() >= {second: 4, third: 8}.items()


def test_where_one_fails_those_alike_fail_with_it_and_are_then_looked_at_by_themselves(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, first, second, third, fourth, _ = a_grid(database)

    def fail(flow: AlgorithmInputs) -> Prediction:
        raise ZeroDivisionError("float division by zero")

    with database.begin() as conn:
        set_algorithm = """UPDATE campaign_clusters SET settings = settings || '{"algorithm": "broken"}'
            WHERE campaign_id BETWEEN :first AND :last"""
        conn.execute(text(set_algorithm), {"first": first, "last": third})
    monkeypatch.setattr(predictor, "load", lambda name: fail if name == "broken" else load(name))
    forecasts(database, NOON)
    with database.begin() as conn:
        quarantined = conn.scalars(text("SELECT campaign_id FROM quarantines ORDER BY campaign_id")).all()
        forecast = conn.scalars(text("SELECT DISTINCT campaign_id FROM forecasts")).all()
        conn.execute(text("UPDATE campaign_clusters SET settings = settings - 'algorithm'"))
    assert quarantined == [first, second, third]
    assert fourth in forecast
    assert not set(quarantined) & set(forecast)
    forecasts(database, NOON + timedelta(days=1))
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(DISTINCT campaign_id) FROM forecasts")) == 7


def test_all_that_are_alike_share_what_is_free() -> None:
    [part] = [progress(remaining=10)]
    assert share_free_cores([part._replace(alike=4)], {1: 8}, "fairshare") == {1: {1: 2.0}}
    assert share_free_cores([part._replace(alike=4)], {1: 8}, "fifo") == {1: {1: 8.0}}
