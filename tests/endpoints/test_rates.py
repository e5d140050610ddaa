"""Rates tell how many tasks were done in each period of a campaign's last day."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from cigri.api_models.histories import MOST_PERIODS, ThroughputHistory
from cigri.database import Database
from cigri.endpoints.dispatch import run_endpoint
from cigri.endpoints.histories import rates
from cigri.errors import UsageError
from cigri.flow.archive import archive_campaign
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from tests.factories import NOON, a_campaign, a_cluster, set_time

pytestmark = pytest.mark.noon

INSERT = "INSERT INTO completions (campaign_id, cluster_id, minute, tasks) VALUES (:campaign, :cluster, :at, :tasks)"
MINUTE = timedelta(minutes=1)


def ask(database: Database, campaigns: str) -> list[ThroughputHistory]:
    told = run_endpoint(rates, database, Settings, Caller("bob"), {"campaigns": campaigns})
    assert isinstance(told, list)
    return told


def put_done(database: Database, campaign: int, at: datetime, *tasks: int) -> None:
    """So many in that minute, cluster by cluster."""
    with database.begin() as conn:
        for cluster, number in enumerate(tasks, start=1):
            conn.execute(text(INSERT), {"campaign": campaign, "cluster": cluster, "at": at, "tasks": number})


@pytest.fixture
def grid(database: Database) -> Database:
    """Campaigns 1 and 2 on two clusters, since noon."""
    with database.begin() as conn:
        a_cluster(conn)
        a_cluster(conn, "luke")
        for number in (1, 2):
            assert a_campaign(conn, 3, clusters=("dahu", "luke")) == number
    return database


def test_a_young_campaign_is_told_minute_by_minute(grid: Database) -> None:
    put_done(grid, 1, NOON, 3)
    put_done(grid, 1, NOON + 2 * MINUTE, 4, 5)
    set_time(grid, NOON + 3.5 * MINUTE)
    assert ask(grid, "1") == [ThroughputHistory(1, NOON, 60.0, [3, 0, 9, 0])]


def test_an_old_one_by_more_minutes_and_its_last_day_only(grid: Database) -> None:
    put_done(grid, 1, NOON, 100)
    put_done(grid, 1, NOON + timedelta(days=2), 7)
    set_time(grid, NOON + timedelta(days=3))
    put_done(grid, 1, NOON + timedelta(days=3) - MINUTE, 8)
    told = ask(grid, "1")[0]
    assert (told.since, told.period) == (NOON + timedelta(days=2), 25 * 60)
    assert told.done == [7, *[0] * 56, 8]


@pytest.mark.parametrize("minutes", [0, 1, 59, 60, 61, 119, 120, 1439, 1440, 1441, 100_000])
def test_there_are_never_more_periods(minutes: int, grid: Database) -> None:
    set_time(grid, NOON + minutes * MINUTE + timedelta(seconds=59))
    told = ask(grid, "1")[0]
    assert len(told.done) <= MOST_PERIODS
    assert timedelta(seconds=told.period * len(told.done)) >= min(minutes * MINUTE, timedelta(days=1))


def test_an_ended_one_stands_still(grid: Database) -> None:
    put_done(grid, 2, NOON + MINUTE, 6)
    set_time(grid, NOON + 2 * MINUTE)
    with grid.begin() as conn:
        conn.execute(text("UPDATE campaigns SET state = 'terminated', ended_at = now() WHERE id = 2"))
    set_time(grid, NOON + timedelta(days=9))
    assert ask(grid, "2,7") == [ThroughputHistory(2, NOON, 60.0, [0, 6, 0])]
    with grid.begin() as conn:
        archive_campaign(conn, 2)
    assert ask(grid, "2,7") == []


def test_many_are_asked_for_at_once_and_not_too_many(grid: Database) -> None:
    put_done(grid, 2, NOON, 1)
    assert [(told.campaign_id, told.done) for told in ask(grid, "1-100")] == [(1, [0]), (2, [1])]
    with pytest.raises(UsageError, match="100 at most"):
        ask(grid, "1-101")
