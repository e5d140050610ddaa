"""Pressure and the published end of campaigns: each sentence of open-lmake's on them is a test."""

from datetime import timedelta
from random import Random

import pytest
from sqlalchemy import update

from cigri.database import Database
from cigri.flow.forecasts import NewForecast, list_in_all, put_forecasts
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.campaigns import list_campaigns
from cigri.flow.views.cluster_demands import list_cluster_demands, list_pending_campaigns
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignState
from cigri.tables.campaigns import Campaign
from modules.metascheduler.policies import PolicyFacts
from modules.metascheduler.policies.eta import order as eta
from modules.metascheduler.ranking import rank_campaigns
from modules.predictor.campaign_estimates import estimate, together
from modules.predictor.campaign_work import build_work_model
from modules.predictor.eta.published_dates import pressure, published_end
from tests.factories import NOON, a_campaign, a_cluster
from tests.modules.test_policies import a_claim
from tests.modules.test_predictor import NOW, forecasts, progress

pytestmark = pytest.mark.noon

HOUR = timedelta(hours=1)


def test_pressure_is_the_accumulated_time_along_the_critical_path_to_the_end() -> None:
    """Of tasks that wait for none of the others, that of the longest one that remains."""
    even = progress(durations=(100.0,) * 50, remaining=10, window=600)
    assert pressure(even) == pytest.approx(100, rel=0.19)
    luck = Random(1)
    lengths = tuple(luck.lognormvariate(4.0, 0.8) for _ in range(500))
    uneven = progress(durations=lengths, remaining=100, window=600)
    longest = sum(max(luck.lognormvariate(4.0, 0.8) for _ in range(100)) for _ in range(200)) / 200
    assert pressure(uneven) == pytest.approx(longest, rel=0.25)


def test_the_more_tasks_remain_the_longer_is_the_longest_of_them() -> None:
    lengths = tuple(float(seconds) for seconds in range(1, 101))
    pressures = [pressure(progress(durations=lengths, remaining=tasks)) for tasks in (0, 1, 10, 100)]
    assert pressures == sorted({seconds or 0.0 for seconds in pressures})
    assert pressures[0] == 0.0
    assert pressures[1] == pytest.approx(50.5, rel=0.01)


def test_the_time_necessary_includes_the_considered_job() -> None:
    """The pressure of a campaign's last task is all of its own time."""
    assert pressure(progress(durations=(60.0, 60.0), remaining=1)) == pytest.approx(60, rel=0.19)


def test_without_any_success_the_users_guess_is_taken() -> None:
    new = progress(remaining=8, running=4)
    assert (estimate(new), pressure(new), build_work_model([new], {})) == (None, None, None)
    guessed = new._replace(guess=90.0)
    assert (estimate(guessed), pressure(guessed)) == (90.0, 90.0)
    assert build_work_model([guessed._replace(running=0)], {}) is None  # how many run at a time is not known
    assert estimate(together([guessed, guessed._replace(cluster_id=2, guess=None)])) == 90.0
    (_, whole) = forecasts([guessed])
    assert whole.eta is not None
    assert whole.eta_low is not None
    assert whole.eta_high is not None
    assert whole.eta_low < NOW + timedelta(seconds=4 * 90 / 4 + 90) < whole.eta_high


def test_the_users_guess_gives_way_to_what_is_measured() -> None:
    assert estimate(progress(durations=(10.0,), remaining=8)._replace(guess=90.0)) == 10.0


def test_an_eta_is_a_date_absolute_and_comparable() -> None:
    (_, whole) = forecasts([progress(durations=(10.0,) * 4, running=1, remaining=10)])
    assert whole.published == whole.eta
    assert whole.eta is not None
    assert whole.eta.utcoffset() == timedelta()


@pytest.mark.parametrize(("moved", "is_told"), [(59, False), (-59, False), (61, True), (-61, True), (3600, True)])
def test_an_end_is_published_anew_when_it_has_moved_by_more_than_a_sixteenth_of_what_is_left(
    moved: int, is_told: bool
) -> None:
    before = NOW + timedelta(minutes=16)
    after = before + timedelta(seconds=moved)
    assert published_end(before, after, NOW) == (after if is_told else before)


def test_an_end_that_has_passed_is_published_anew_at_once() -> None:
    soon = NOW + timedelta(seconds=1)
    assert published_end(NOW - HOUR, soon, NOW) == soon
    assert published_end(None, soon, NOW) == soon
    assert published_end(soon, None, NOW) == soon


def test_eta_minus_pressure_is_when_it_is_desirable_to_schedule_and_the_earliest_goes_first() -> None:
    claims = [
        a_claim(1, eta=NOON + 3 * HOUR, pressure=60.0),
        a_claim(2, eta=NOON + 4 * HOUR, pressure=7200.0),
        a_claim(3),
        a_claim(4, eta=NOON + 2 * HOUR, pressure=0.0),
        a_claim(5, eta=NOON + 3 * HOUR, pressure=3600.0),
    ]
    order = [turn.campaign_id for turn in rank_campaigns(claims, PolicySettings(), eta, PolicyFacts())]
    assert order == [2, 4, 5, 1, 3]


def test_what_is_published_is_what_others_reckon_with(database: Database) -> None:
    """The claim of the metascheduler, the batch of the runner, and what users and other grids read."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, unknown = a_campaign(conn, 3), a_campaign(conn, 1)
        whole = NewForecast(campaign, None, 1.0, None, None, None, 3, NOON + 2 * HOUR, pressure=600.0)
        put_forecasts(conn, [whole._replace(published=NOON + HOUR)], 60.0)
        assert {id: whole.published for id, whole in list_in_all(conn).items()} == {campaign: NOON + HOUR}
        claims = list_pending_campaigns(conn, list_cluster_demands(conn, 10, 0.0))
        assert [(claim.eta, claim.pressure) for claim in claims] == [(NOON + HOUR, 600.0), (None, 0.0)]
        for one in (campaign, unknown):
            put_jobs(conn, one, [NewJob(cluster, 1, 60, take_waiting(conn, one, 1))])
        dates = {launch.campaign_id: launch.start_by for launch in list_launches(conn, cluster, 9, 9)}
        assert dates == {campaign: NOON + timedelta(minutes=50), unknown: None}
        views = list_campaigns(conn)
        assert [(view.published, view.pressure) for view in views] == [(NOON + HOUR, 600.0), (None, None)]
        conn.execute(
            update(Campaign).where(Campaign.c.id == campaign).values(state=CampaignState.TERMINATED, ended_at=NOON)
        )
        assert list_in_all(conn) == {}


def test_campaigns_are_ordered_anew_when_a_forecast_is_published_anew(database: Database) -> None:
    def ordered(*ends: timedelta) -> list[int]:
        with database.begin() as conn:
            for campaign, end in zip(campaigns, ends, strict=True):
                whole = NewForecast(campaign, None, 1.0, None, None, None, 1, NOON + end, pressure=60.0)
                put_forecasts(conn, [whole._replace(published=NOON + end)], 60.0)
            claims = list_pending_campaigns(conn, list_cluster_demands(conn, 10, 0.0))
        turns = rank_campaigns(claims, PolicySettings(), eta, PolicyFacts())
        return [campaigns.index(turn.campaign_id) for turn in turns]

    with database.begin() as conn:
        a_cluster(conn)
        campaigns = [a_campaign(conn, 1), a_campaign(conn, 1)]
    assert ordered(HOUR, 2 * HOUR) == [0, 1]
    assert ordered(3 * HOUR, 2 * HOUR) == [1, 0]
