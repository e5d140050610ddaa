"""The page of use: clusters over the last hours, users now, and what came of what has run."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, text, update

from cigri.api_models.clusters import ClusterUsagePeriod
from cigri.api_models.metrics import AccountingEntry, OutcomeMetric
from cigri.formats.units import HOUR
from cigri.states import Outcome
from cigri.tables.clusters import ClusterUsage
from cigri.tables.jobs import Accounting
from modules.portal.pages.usage import ClusterCoreHours, MeanClusterUse, UserCoreHours, hours_by_user, mean_use, work_of
from modules.portal.rendering.chart_table import ChartRow
from modules.portal.rendering.usage_chart import own_cores_chart
from tests.factories import NOON, submitted_jobs
from tests.portal.browser import Browser
from tests.portal.conftest import Served

ONE_HOUR = timedelta(hours=1)


def test_clusters_are_told_on_the_mean(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(update(ClusterUsage).values(total=10, free=3, used=6, used_by_us=4, unavailable=1))
    assert "dahu 10.0 4.0 2.0 3.0 1.0" in browser.get("/usage?hours=2").words
    with web.database.begin() as conn:
        conn.execute(delete(ClusterUsage))
    assert "None was visited in this time." in browser.get("/usage").words


def test_means_are_taken_over_periods_and_kept_apart_by_cluster(web: Served) -> None:
    with web.database.begin() as conn:
        now = conn.execute(text("SELECT now()")).scalar_one()
    usage = [
        ClusterUsagePeriod("b", now, 8, 8, 0, 0, 0),
        ClusterUsagePeriod("a", now, 4, 1, 3, 1, 0),
        ClusterUsagePeriod("a", now, 4, 3, 1, 1, 0),
    ]
    assert mean_use(usage) == [MeanClusterUse("a", 4, 1, 1, 2, 0), MeanClusterUse("b", 8, 0, 0, 8, 0)]


def used(cluster: str, period: int, cores: int) -> ClusterUsagePeriod:
    return ClusterUsagePeriod(cluster, NOON + period * ONE_HOUR, 9, 9 - cores, cores, cores, 0)


def test_what_the_grid_used_is_drawn_by_cluster() -> None:
    usage = [used("a", 0, 0), used("a", 1, 2), used("a", 2, 3), used("a", 5, 4), used("a", 6, 0), used("a", 7, 0)]
    usage += [used("b", 2, 1), used("idle", 2, 0)]
    told = own_cores_chart(usage, NOON + 7.5 * ONE_HOUR, ONE_HOUR)
    assert told is not None
    assert [series.name for series in told.series] == ["a", "b"]
    assert [((row.at - NOON) / ONE_HOUR, *row.values) for row in told.rows] == [
        (1, 2, None),
        (2, 3, 1),
        (3, None, None),
        (5, 4, None),
        (6, 0, None),
    ]


def test_the_last_period_ends_now() -> None:
    told = own_cores_chart([used("a", 0, 2), used("a", 1, 2)], NOON + 1.5 * ONE_HOUR, ONE_HOUR)
    assert told is not None
    assert told.rows[-1] == ChartRow(NOON + 1.5 * ONE_HOUR, (None,))


def test_a_grid_that_used_nothing_has_no_chart(browser: Browser, web: Served) -> None:
    assert own_cores_chart([used("a", 0, 0)], NOON, ONE_HOUR) is None
    with web.database.begin() as conn:
        conn.execute(update(ClusterUsage).values(used_by_us=0))
    assert "data-chart" not in browser.get("/usage").text
    with web.database.begin() as conn:
        conn.execute(update(ClusterUsage).values(total=10, used=6, used_by_us=4))
    assert 'id="chart-used"' in browser.get("/usage").text


def test_users_are_told_by_what_runs(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        submitted_jobs(conn, 3, 1, 1)
        conn.execute(text("UPDATE jobs SET state = 'running', started_at = now() WHERE campaign_id = 3"))
    told = browser.get("/usage").words
    assert "tasks that wait daemon 1 1 1 0 nobody 2 0 0 5" in told


def test_what_ended_well_is_told_apart() -> None:
    ends = [
        OutcomeMetric("b", Outcome.FAILURE, False, 1, 1, HOUR),
        OutcomeMetric("a", Outcome.SUCCESS, False, 1, 1, 2 * HOUR),
        OutcomeMetric("a", Outcome.SUCCESS, True, 1, 1, HOUR),
        OutcomeMetric("a", Outcome.FAILURE, False, 1, 1, 5 * HOUR),
    ]
    assert work_of(ends) == [ClusterCoreHours("a", 3, 5), ClusterCoreHours("b", 0, 1)]


def test_core_hours_are_told_by_user(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(delete(Accounting))
    assert "Nothing has ended in this time." in browser.get("/usage").words
    with web.database.begin() as conn:
        conn.execute(
            text(
                "INSERT INTO accounting (day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds)"
                " VALUES (now() - interval '40 days', 'bob', '', 'dahu', 'success', false, 7, 7200),"
                " (now(), 'alice', 'astro', 'dahu', 'preempted', false, 1, 1800)"
            )
        )
    told = browser.get("/usage").words
    assert ("alice dahu 1 0.0 0.5 0.0" in told, "bob dahu" in told) == (True, False)
    assert "bob dahu 7 2.0 0.0 0.0 alice dahu 1 0.0 0.5 0.0" in browser.get("/usage?days=50").words
    assert browser.get("/usage?days=0").status == 400


def test_who_used_most_stands_first() -> None:
    accounted = [
        AccountingEntry("alice", "", "a", 1, HOUR, 0, 0),
        AccountingEntry("alice", "astro", "a", 2, 0, HOUR, 0),
        AccountingEntry("bob", "", "a", 1, HOUR, 0, 0),
        AccountingEntry("bob", "", "b", 1, 0, 0, 2 * HOUR),
    ]
    assert hours_by_user(accounted) == [
        UserCoreHours("bob", "b", 1, 0, 0, 2),
        UserCoreHours("bob", "a", 1, 1, 0, 0),
        UserCoreHours("alice", "a", 3, 1, 1, 0),
    ]


def test_names_of_campaigns_are_no_part_of_it(browser: Browser) -> None:
    told = browser.get("/usage").text
    assert ("theirs" in told, "daemon" in told) == (False, True)


@pytest.mark.parametrize("hours", ["0", "-1", "many", "nan", "1e9"])
def test_a_past_that_is_none_is_refused(hours: str, browser: Browser) -> None:
    assert browser.get(f"/usage?hours={hours}").status in (400, 422)


def test_strangers_are_told_nothing_of_use(web: Served) -> None:
    told = Browser(web.port).get("/usage")
    assert (told.status, "dahu" in told.text) == (401, False)
