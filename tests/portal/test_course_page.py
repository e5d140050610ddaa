"""The course of a campaign: what was done up to now, what is forecast from there, and what had been forecast."""

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import insert, text

from cigri.api_models.histories import (
    ClusterCoresSeries,
    CoresHistory,
    EndForecastPoint,
    ProgressHistory,
    ProgressPoint,
)
from cigri.states import CampaignState
from cigri.tables.campaigns import ForecastHistory
from modules.portal.rendering.chart_table import MOST_SERIES, ChartSeries, ChartTable, ChartValue
from modules.portal.rendering.progress_chart import cores_chart, ends_chart, progress_chart
from tests.cli.screens import LARGE
from tests.factories import NOON
from tests.portal.browser import Browser
from tests.portal.conftest import Served

ONE_HOUR = timedelta(hours=1)
OPEN = LARGE._replace(
    state=CampaignState.IN_TREATMENT, is_held=False, ended_at=None, waiting=50, eta=None, eta_low=None, eta_high=None
)


def progress(*points: tuple[float, int, int], told: Sequence[EndForecastPoint] = ()) -> ProgressHistory:
    return ProgressHistory(100, [ProgressPoint(NOON + hours * ONE_HOUR, *tasks) for hours, *tasks in points], [*told])


def rows(chart: ChartTable | None) -> list[tuple[float | ChartValue, ...]]:
    """Hours after noon, and what is told then."""
    assert chart is not None
    return [((row.at - NOON) / ONE_HOUR, *row.values) for row in chart.rows]


def names(chart: ChartTable | None) -> list[str]:
    assert chart is not None
    return [series.name for series in chart.series]


def said(at: float, eta: float, *interval: float) -> EndForecastPoint:
    low, high = (NOON + hours * ONE_HOUR for hours in interval) if interval else (None, None)
    return EndForecastPoint(NOON + at * ONE_HOUR, NOON + eta * ONE_HOUR, low, high)


def test_what_is_done_goes_up_to_now_and_the_forecast_from_there() -> None:
    campaign = OPEN._replace(eta=NOON + 3 * ONE_HOUR, eta_low=NOON + 2.5 * ONE_HOUR, eta_high=NOON + 4 * ONE_HOUR)
    told = progress_chart(progress((0, 0, 0), (1, 20, 0), (2, 50, 10)), campaign)
    assert names(told) == ["done", "failed", "forecast", "90 % early", "90 % late"]
    assert told is not None
    assert (told.unit, told.top) == ("tasks", 100)
    assert rows(told) == [
        (0, 0, 0, None, None, None),
        (1, 20, 0, None, None, None),
        (2, 50, 10, 50, 50, 50),
        (2.5, None, None, 75, 100, 62),
        (3, None, None, 100, 100, 75),
        (4, None, None, 100, 100, 100),
    ]


def test_a_forecast_far_away_ends_where_the_chart_does() -> None:
    campaign = OPEN._replace(eta=NOON + 3 * ONE_HOUR, eta_low=NOON + 2 * ONE_HOUR, eta_high=NOON + 100 * ONE_HOUR)
    told = progress_chart(progress((0, 0, 0), (1, 1, 0)), campaign)
    assert rows(told)[-1] == (4, None, 100, 100, 4)


def test_an_end_without_an_interval_is_drawn_alone() -> None:
    told = progress_chart(progress((0, 0, 0), (1, 50, 0)), OPEN._replace(eta=NOON + 2 * ONE_HOUR))
    assert rows(told) == [(0, 0, None, None, None), (1, 50, 50, None, None), (2, None, 100, None, None)]


def test_an_overdue_end_is_drawn_where_it_is_now() -> None:
    campaign = OPEN._replace(eta=NOON + 3 * ONE_HOUR, eta_low=NOON + ONE_HOUR, eta_high=NOON + 4 * ONE_HOUR)
    told = progress_chart(progress((0, 0, 0), (2, 50, 0)), campaign)
    assert [row[:3] for row in rows(told)] == [(0, 0, None), (2, 50, 50), (3, None, 100), (4, None, 100)]


def test_the_time_before_the_first_task_is_left_out() -> None:
    told = progress_chart(progress((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 4), (4, 7, 4)), OPEN)
    assert rows(told) == [(2, 0, 0), (3, 0, 4), (4, 7, 4)]
    assert progress_chart(progress((0, 0, 0), (1, 0, 0), (2, 0, 0)), OPEN) is None


@pytest.mark.parametrize("points", [((0, 0, 0), (0, 0, 0))])
def test_of_one_that_has_just_begun_there_is_none(points: tuple[tuple[float, int, int], ...]) -> None:
    assert progress_chart(progress(*points), OPEN) is None
    assert progress_chart(progress((0, 0, 0), (1, 0, 0))._replace(total=0), OPEN) is None


def test_of_an_ended_one_all_is_past_and_its_end_is_there() -> None:
    forecasts = [said(1, 3, 2, 9), said(3, 4)]
    campaign = OPEN._replace(state=CampaignState.TERMINATED, ended_at=NOON + 4 * ONE_HOUR)
    history = progress((0, 0, 0), (1, 9, 0), (2, 9, 0), (3, 9, 0), (4, 100, 0), told=forecasts)
    assert names(progress_chart(history, campaign)) == ["done"]
    told = ends_chart(history, campaign)
    assert told is not None
    assert told.end == campaign.ended_at
    assert rows(told) == [
        (1, NOON + 3 * ONE_HOUR, NOON + 2 * ONE_HOUR, NOON + 9 * ONE_HOUR),
        (2, None, None, None),
        (3, NOON + 4 * ONE_HOUR, None, None),
        (4, None, None, None),
    ], "a moment at which no end was known is a gap"


def test_the_present_forecast_is_the_last_one_that_is_told() -> None:
    campaign = OPEN._replace(eta=NOON + 4 * ONE_HOUR, eta_low=NOON + 3 * ONE_HOUR, eta_high=NOON + 5 * ONE_HOUR)
    told = ends_chart(progress((0, 0, 0), (1, 9, 0), (2, 9, 0), told=[said(1, 3)]), campaign)
    assert rows(told) == [
        (1, NOON + 3 * ONE_HOUR, None, None),
        (2, *(NOON + hours * ONE_HOUR for hours in (4, 3, 5))),
    ]


def test_without_a_forecast_no_end_is_drawn() -> None:
    assert ends_chart(progress((0, 0, 0), (1, 1, 0), (2, 2, 0)), OPEN) is None


def test_cores_of_clusters_stand_on_each_other_while_there_are_any() -> None:
    moments = [NOON + hours * ONE_HOUR for hours in range(6)]
    clusters = [ClusterCoresSeries("da hu", [0, 0, 2, 0, 0, 0]), ClusterCoresSeries("luke", [0, 1, 2, 0, 0, 0])]
    told = cores_chart(CoresHistory(moments, clusters), OPEN)
    assert rows(told) == [(1, 0, 1), (2, 2, 2), (3, 0, 0)]
    assert told is not None
    assert told.series == [ChartSeries("c0", "da hu", "/clusters/da%20hu"), ChartSeries("c1", "luke", "/clusters/luke")]
    assert cores_chart(CoresHistory(moments, []), OPEN) is None
    assert cores_chart(CoresHistory(moments, [ClusterCoresSeries("dahu", [0, 0, 0, 0, 0, 7])]), OPEN) is None


def test_a_time_of_which_nothing_was_kept_is_a_gap() -> None:
    minutes = [0, 1, 2, 3, 60, 61, 62]
    moments = [NOON + timedelta(minutes=minute) for minute in minutes]
    told = cores_chart(CoresHistory(moments, [ClusterCoresSeries("dahu", [1, 1, 1, 1, 1, 1, 1])]), OPEN)
    assert told is not None
    assert [((row.at - NOON) / timedelta(minutes=1), *row.values) for row in told.rows] == [
        *((minute, 1) for minute in minutes[:4]),
        (4, None),
        *((minute, 1) for minute in minutes[4:]),
    ]


def test_of_many_clusters_the_small_ones_are_told_together() -> None:
    clusters = [ClusterCoresSeries(f"c{n:02}", [n, n, n]) for n in range(1, MOST_SERIES + 4)]
    told = cores_chart(CoresHistory([NOON, NOON + ONE_HOUR, NOON + 2 * ONE_HOUR], clusters), OPEN)
    assert names(told) == [*(f"c{n:02}" for n in range(5, MOST_SERIES + 4)), "4 others"]
    assert rows(told)[0] == (0, *range(5, MOST_SERIES + 4), 1 + 2 + 3 + 4)


def test_the_page_has_tables_of_what_is_known(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '2 h' WHERE id = 1"))
        told = {"at": "now() - interval '1 h'", "eta": "now() + interval '1 h'", "eta_high": "now() + interval '2 h'"}
        moments = {name: text(moment) for name, moment in told.items()} | {"eta_low": text("now()")}
        conn.execute(insert(ForecastHistory).values(campaign_id=1, ratio=1.0, remaining=3, done=1, failed=1, **moments))
    page = browser.get("/campaigns/1/course")
    assert page.status == 200
    assert re.findall(r'data-chart="(\w+)" data-unit="([^"]+)"', page.text) == [
        ("lines", "tasks"),
        ("ends", "predicted end"),
    ]
    assert 'data-top="4"' in page.text
    assert re.search(
        r'<tr><td><time datetime="[^"]+\.\d{3}\+00:00">[^<]+:\d\d UTC</time></td>'
        r'<td class="number"><data value="1">1</data></td>',
        page.text,
    )


def test_the_campaigns_page_fetches_it_and_leads_to_it(browser: Browser) -> None:
    told = browser.get("/campaigns/1").text
    assert 'hx-get="/campaigns/1/course"' in told
    assert '<a href="/campaigns/1/course">' in told


def test_others_see_it_as_they_see_how_campaigns_stand(browser: Browser) -> None:
    assert browser.get("/campaigns/3/course").status == 200
    assert browser.get("/campaigns/99/course").status == 404
