"""The course of a campaign: what was done up to now, what is forecast from there, and what had been forecast."""

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
from modules.portal.rendering.progress_chart import MOST_TOLD_ENDS, ForecastMark, cores_stack, course
from modules.portal.rendering.stacked_chart import ChartBand
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


def test_what_is_done_goes_up_to_now_and_the_forecast_from_there() -> None:
    campaign = OPEN._replace(eta=NOON + 3 * ONE_HOUR, eta_low=NOON + 2.5 * ONE_HOUR, eta_high=NOON + 4 * ONE_HOUR)
    told = course(progress((0, 0, 0), (1, 20, 0), (2, 50, 10)), campaign)
    assert told is not None
    assert (told.since, told.until, told.now) == (NOON, NOON + 4 * ONE_HOUR, 480)
    assert told.done == "M0 100L240 80L480 50"
    assert told.failed == "M0 100L240 100L480 90"
    assert told.ahead == "M480 50L720 0"
    assert told.fan == "M480 50L600 0L960 0z"


def test_a_forecast_far_away_leaves_the_chart_at_its_side() -> None:
    campaign = OPEN._replace(eta=NOON + 3 * ONE_HOUR, eta_low=NOON + 2 * ONE_HOUR, eta_high=NOON + 100 * ONE_HOUR)
    told = course(progress((0, 0, 0), (1, 1, 0)), campaign)
    assert told is not None
    assert told.until == NOON + 4 * ONE_HOUR
    assert told.fan == "M240 99L480 0H960L960 96z", "above, by the corner, and down to where it is then"


def test_of_an_ended_one_all_is_past_and_its_end_is_there() -> None:
    said = [EndForecastPoint(NOON + ONE_HOUR, NOON + 3 * ONE_HOUR, NOON + 2 * ONE_HOUR, NOON + 9 * ONE_HOUR)]
    said += [EndForecastPoint(NOON + 3 * ONE_HOUR, NOON + 4 * ONE_HOUR, None, None)]
    campaign = OPEN._replace(state=CampaignState.TERMINATED, ended_at=NOON + 4 * ONE_HOUR)
    told = course(progress((0, 0, 0), (4, 100, 0), told=said), campaign)
    assert told is not None
    assert (told.fan, told.ahead, told.failed) == ("", "", "")
    assert (told.highest, told.end) == (NOON + 9 * ONE_HOUR, 56)
    assert told.marks == [ForecastMark(240, 78, 0), ForecastMark(720, 56, 56)]
    assert told.told == said[::-1]


def test_of_many_forecasts_some_are_told_and_the_last() -> None:
    said = [EndForecastPoint(NOON + n * ONE_HOUR / 100, NOON + ONE_HOUR, None, None) for n in range(100)]
    told = course(progress((0, 0, 0), (1, 100, 0), told=said), OPEN)
    assert told is not None
    assert len(told.told) <= MOST_TOLD_ENDS
    assert told.told[0] == said[-1]


@pytest.mark.parametrize("points", [((0, 0, 0), (0, 0, 0))])
def test_of_one_that_has_just_begun_there_is_none(points: tuple[tuple[float, int, int], ...]) -> None:
    assert course(progress(*points), OPEN) is None
    assert course(progress((0, 0, 0), (1, 0, 0))._replace(total=0), OPEN) is None


def test_cores_of_clusters_stand_on_each_other() -> None:
    moments = [NOON, NOON + ONE_HOUR, NOON + 2 * ONE_HOUR]
    told = cores_stack(
        CoresHistory(moments, [ClusterCoresSeries("dahu", [0, 2, 2]), ClusterCoresSeries("luke", [1, 2, 9])])
    )
    assert told is not None
    assert told.most == 4
    assert told.names == {"c0 n0": "dahu", "c1 n1": "luke"}
    assert told.bands == [
        ChartBand("c0 n0", "M0 100V100H480V50H960V100H480V100H0z"),
        ChartBand("c1 n1", "M0 75V75H480V0H960V50H480V100H0z"),
    ]
    assert cores_stack(CoresHistory(moments, [])) is None
    assert cores_stack(CoresHistory(moments, [ClusterCoresSeries("dahu", [0, 0, 7])])) is None


def test_the_page_draws_what_is_known(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '2 h' WHERE id = 1"))
        told = {"at": "now() - interval '1 h'", "eta": "now() + interval '1 h'", "eta_high": "now() + interval '2 h'"}
        moments = {name: text(moment) for name, moment in told.items()} | {"eta_low": text("now()")}
        conn.execute(insert(ForecastHistory).values(campaign_id=1, ratio=1.0, remaining=3, done=1, failed=1, **moments))
    page = browser.get("/campaigns/1/course")
    assert page.status == 200
    assert page.text.count('class="mark"') == 1
    assert "of 4 tasks done over time" in page.text
    assert "Ends that were forecast" in page.words


def test_the_campaigns_page_fetches_it_and_leads_to_it(browser: Browser) -> None:
    told = browser.get("/campaigns/1").text
    assert 'hx-get="/campaigns/1/course"' in told
    assert '<a href="/campaigns/1/course">' in told


def test_others_see_it_as_they_see_how_campaigns_stand(browser: Browser) -> None:
    assert browser.get("/campaigns/3/course").status == 200
    assert browser.get("/campaigns/99/course").status == 404
