"""The page of use: clusters over the last hours, users now, and what came of what has run."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import delete, text, update

from cigri.api_models.clusters import ClusterUsagePeriod
from cigri.api_models.metrics import OutcomeMetric
from cigri.formats.units import HOUR
from cigri.states import Outcome
from cigri.tables.clusters import ClusterUsage
from cigri.tables.jobs import Accounting
from modules.portal.pages.usage import ClusterCoreHours, MeanClusterUse, mean_use, work_of
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


@pytest.fixture
def used_grid(web: Served) -> Served:
    with web.database.begin() as conn:
        conn.execute(delete(Accounting))
        conn.execute(
            text(
                "INSERT INTO accounting"
                " (day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds, asked)"
                " VALUES (now() - interval '40 days', 'bob', '', 'dahu', 'success', false, 7, 7200, 9000),"
                " (now(), 'alice', 'astro', 'dahu', 'preempted', false, 1, 1800, 3600),"
                " (now(), 'alice', '=1+1', 'luke', 'failure', false, 2, 3600, 3600),"
                " (now(), 'alice', '=1+1', 'luke', 'success', true, 1, 360, 3600)"
            )
        )
    return web


def test_core_hours_are_told_by_user_and_cluster_with_their_sum(browser: Browser, used_grid: Served) -> None:
    told = browser.get("/usage").words
    assert "alice luke 3 0.0 1.0 0.0 0.1 1.1 2.0 alice dahu 1 0.0 0.0 0.5 0.0 0.5 1.0" in told
    assert "all together 4 0.0 1.0 0.5 0.1 1.6 3.0" in told
    assert "bob dahu" not in told
    assert "bob dahu 7 2.0 0.0 0.0 0.0 2.0 2.5 alice luke" in browser.get("/usage?days=50").words, "most first"
    assert browser.get("/usage?days=0").status == 400


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("project", "reserved =1+1 3 0.0 1.0 0.0 0.1 1.1 2.0 astro 1 0.0 0.0 0.5 0.0 0.5 1.0 all together 4"),
        ("user", "reserved alice 4 0.0 1.0 0.5 0.1 1.6 3.0 Core-hours"),
        ("cluster,project", "project cluster jobs that ended"),
    ],
)
def test_core_hours_are_told_by_what_one_chooses(by: str, said: str, browser: Browser, used_grid: Served) -> None:
    assert said in browser.get(f"/usage?by={by}").words


def test_days_of_core_hours_stand_in_their_order(browser: Browser, used_grid: Served) -> None:
    days = re.findall(r'data-label="day">([^<]+)<', browser.get("/usage?by=day&days=50").text)
    assert (len(days), days) == (2, sorted(days))


def test_core_hours_come_as_csv_that_no_spreadsheet_runs(browser: Browser, used_grid: Served) -> None:
    (address,) = re.findall(r'href="(/usage/core-hours[^"]+)"', browser.get("/usage?by=project&days=50").text)
    told = browser.get(address.replace("&amp;", "&"))
    assert told.headers["content-type"] == "text/csv; charset=utf-8"
    assert told.headers["content-disposition"] == 'attachment; filename="core-hours-by-project-50-days.csv"'
    assert told.text.splitlines() == [
        "project,jobs,well,failed,lost,replicas,asked",
        ",7,2.00,0.00,0.00,0.00,2.50",
        "'=1+1,3,0.00,1.00,0.00,0.10,2.00",
        "astro,1,0.00,0.00,0.50,0.00,1.00",
    ]


@pytest.mark.parametrize("path", ["/usage", "/usage/core-hours.csv"])
def test_what_tells_nothing_apart_is_refused(path: str, browser: Browser) -> None:
    told = browser.get(f"{path}?by=colour")
    assert (told.status, "'colour' groups nothing" in told.words) == (400, True)


def test_nothing_used_is_said(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(delete(Accounting))
    told = browser.get("/usage").words
    assert ("Nothing has ended in this time." in told, "all together" in told) == (True, False)


def test_names_of_campaigns_are_no_part_of_it(browser: Browser) -> None:
    told = browser.get("/usage").text
    assert ("theirs" in told, "daemon" in told) == (False, True)


@pytest.mark.parametrize("hours", ["0", "-1", "many", "nan", "1e9"])
def test_a_past_that_is_none_is_refused(hours: str, browser: Browser) -> None:
    assert browser.get(f"/usage?hours={hours}").status in (400, 422)


def test_strangers_are_told_nothing_of_use(web: Served) -> None:
    told = Browser(web.port).get("/usage")
    assert (told.status, "dahu" in told.text) == (401, False)
