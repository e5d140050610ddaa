"""Who goes first: the policies as pure functions, and priorities and test campaigns before them."""

from datetime import datetime, timedelta
from math import exp

import pytest

from cigri.errors import ConfigError
from cigri.flow.affinities_and_targets import Principal, UserAffinity
from cigri.flow.fair_share_usage import Consumption
from cigri.flow.views.cluster_demands import BegunCampaign, PendingCampaign
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType, PrincipalKind
from modules.metascheduler.policies import PolicyFacts, load, names
from modules.metascheduler.policies.affinity import order as affinity
from modules.metascheduler.policies.eta import order as eta
from modules.metascheduler.policies.fairshare import dues, karma
from modules.metascheduler.policies.fairshare import order as fairshare
from modules.metascheduler.policies.fifo import order as fifo
from modules.metascheduler.ranking import rank_campaigns
from tests.factories import NOON

SETTINGS = PolicySettings(patience=3600.0, handful=10)


def a_claim(
    campaign: int,
    clusters: tuple[int, ...] = (1, 2),
    *,
    user: str = "alice",
    priority: int = 0,
    type: CampaignType = CampaignType.DEFAULT,
    project: str = "",
    waited: float = 0.0,
    eta: datetime | None = None,
    pressure: float = 0.0,
) -> PendingCampaign:
    return PendingCampaign(campaign, type, user, project, priority, waited, eta, pressure, clusters)


def test_each_policy_is_found_by_its_name_and_no_other() -> None:
    assert {"affinity", "fifo"} <= set(names())
    for name in names():
        assert load(name)([], PolicyFacts()) == []
    with pytest.raises(ConfigError, match=r"no policy 'fofi'; there are: affinity, .*fifo"):
        load("fofi")


def test_the_example_of_the_note_of_2009() -> None:
    """cluster1: affinities campaign1, campaign2; others campaign3. cluster2: campaign2; others campaign1, campaign3."""
    claims = [a_claim(1, user="one"), a_claim(2, user="two"), a_claim(3, user="three")]
    facts = PolicyFacts(frozenset({UserAffinity("one", 1), UserAffinity("two", 1), UserAffinity("two", 2)}))
    launched = [(turn.campaign_id, turn.clusters) for turn in rank_campaigns(claims, SETTINGS, affinity, facts)]
    assert launched == [(1, (1,)), (2, (1, 2)), (1, (2,)), (3, (1, 2))]


def test_without_affinities_the_first_comes_first() -> None:
    claims = [a_claim(2), a_claim(1)]
    assert rank_campaigns(claims, SETTINGS, affinity, PolicyFacts()) == [
        turn._replace(rank=(2.0, 0.0, 1.0, turn.campaign_id))
        for turn in rank_campaigns(claims, SETTINGS, fifo, PolicyFacts())
    ]
    assert [turn.campaign_id for turn in rank_campaigns(claims, SETTINGS, fifo, PolicyFacts())] == [1, 2]


@pytest.mark.parametrize("name", names())
def test_the_first_jobs_of_each_campaign_go_first_under_every_policy(name: str) -> None:
    claims = [a_claim(1, user="one", priority=9), a_claim(2, user="two", waited=9999.0), a_claim(3, user="three")]
    begun = {1: BegunCampaign("one", 40, 40), 2: BegunCampaign("two", 0, 0), 3: BegunCampaign("three", 2, 1)}
    settings = PolicySettings(patience=3600.0, handful=1, first_jobs=5)
    turns = rank_campaigns(claims, settings, load(name), PolicyFacts(begun=begun))
    assert [(turn.campaign_id, turn.max_jobs) for turn in turns[:3]] == [(2, 1), (2, 5), (3, 3)]
    assert turns[3].campaign_id == 1
    assert all(turn.max_jobs is None for turn in turns[3:])


def test_who_makes_a_hundred_campaigns_of_one_gains_nothing() -> None:
    claims = [a_claim(campaign, user="many" if campaign > 1 else "one") for campaign in range(1, 101)]
    begun = {claim.campaign_id: BegunCampaign(claim.user, 0, 0) for claim in claims}
    settings = PolicySettings(first_jobs=5)
    first = [turn for turn in rank_campaigns(claims, settings, fifo, PolicyFacts(begun=begun)) if turn.max_jobs]
    assert [(turn.campaign_id, turn.max_jobs) for turn in first] == [(1, 5), (2, 5)]
    for tasks, most in (((4, 4), [1]), ((6, 6), []), ((50, 50), []), ((7, 4), [3]), ((9, 4), [5])):
        begun[2] = BegunCampaign("many", *tasks)  # as many have begun, and so many of them are in jobs
        first = [turn for turn in rank_campaigns(claims[2:], settings, fifo, PolicyFacts(begun=begun)) if turn.max_jobs]
        assert [(turn.campaign_id, turn.max_jobs) for turn in first] == [(3, each) for each in most], tasks


def test_priorities_go_before_the_policy_and_tests_before_priorities() -> None:
    claims = [
        a_claim(1, user="one"),
        a_claim(2, priority=-1, user="two"),
        a_claim(3, priority=5),
        a_claim(4, type=CampaignType.TEST),
    ]
    facts = PolicyFacts(frozenset({UserAffinity("two", 1)}))
    for policy in (fifo, affinity):
        assert list(dict.fromkeys(turn.campaign_id for turn in rank_campaigns(claims, SETTINGS, policy, facts))) == [
            4,
            3,
            1,
            2,
        ]


def test_the_earliest_end_less_the_time_of_a_task_goes_first_and_unknown_ends_last() -> None:
    claims = [
        a_claim(1),
        a_claim(2, eta=NOON),
        a_claim(3, eta=NOON + timedelta(seconds=50), pressure=100.0),
        a_claim(4, eta=NOON - timedelta(seconds=10)),
    ]
    assert [turn.campaign_id for turn in rank_campaigns(claims, SETTINGS, eta, PolicyFacts())] == [3, 4, 2, 1]


def test_who_has_waited_too_long_comes_first_the_longest_before_the_others_and_once_more_in_line() -> None:
    claims = [a_claim(1, priority=9), a_claim(2, waited=3601.0), a_claim(3, waited=4000.0), a_claim(4, waited=3600.0)]
    line = rank_campaigns(claims, SETTINGS, fifo, PolicyFacts())
    assert [(turn.campaign_id, turn.max_jobs) for turn in line[:2]] == [(3, 10), (2, 10)]
    assert [(turn.campaign_id, turn.max_jobs) for turn in line[2:]] == [(1, None), (2, None), (3, None), (4, None)]


def test_karma_is_that_of_oar() -> None:
    """Used 60 %, asked 30 % where half is due; of its project's due half nothing is wrong."""
    usage = {("one", "p"): Consumption(60.0, 30.0), ("two", "p"): Consumption(40.0, 70.0)}
    due = dues(usage, {})
    assert due == {("one", "p"): 0.5, ("two", "p"): 0.5}
    assert karma(due, usage)["one", "p"] == pytest.approx(2 * (0.6 - 0.5) + 1 * (0.3 - 0.5))
    apart = {("one", "p"): usage["one", "p"], ("two", "q"): usage["two", "p"]}
    by_project = 1 * (0.6 - 0.5)
    assert karma(dues(apart, {}), apart)["one", "p"] == pytest.approx(by_project + 2 * (0.6 - 0.5) + 1 * (0.3 - 0.5))
    targets = {Principal(PrincipalKind.USER, "one"): 3.0, Principal(PrincipalKind.PROJECT, "q"): 2.0}
    assert dues([("one", "p"), ("two", "p"), ("two", "q")], targets) == pytest.approx(
        {("one", "p"): 0.25, ("two", "p"): 1 / 12, ("two", "q"): 2 / 3}
    )


def test_several_campaigns_of_a_user_share_what_is_due_to_the_user() -> None:
    claims = [a_claim(1, user="one"), a_claim(2, user="one"), a_claim(3, user="two")]
    assert [turn.weight for turn in fairshare(claims, PolicyFacts())] == pytest.approx([0.25, 0.25, 0.5])


def test_who_wants_nothing_now_does_not_count() -> None:
    claims = [a_claim(1, user="one"), a_claim(2, user="two")]
    away = {("away", ""): Consumption(1e9, 1e9)}
    assert [turn.weight for turn in fairshare(claims, PolicyFacts(usage=away))] == pytest.approx([0.5, 0.5])


def test_who_has_had_more_than_is_due_gets_less_now() -> None:
    claims = [a_claim(1, user="one"), a_claim(2, user="two")]
    had = {("one", ""): Consumption(75.0, 75.0), ("two", ""): Consumption(25.0, 25.0)}
    first, second = (turn.weight for turn in fairshare(claims, PolicyFacts(usage=had)))
    assert second / first == pytest.approx(exp(4 * 3 * 0.5))
