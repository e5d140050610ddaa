"""Users put their own campaigns before each other, and nobody else waits any longer for it."""

import pytest

from cigri.flow.affinities_and_targets import UserAffinity
from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.occupancy import Occupancy
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType
from modules.metascheduler.fairness_withdrawals import compute_shares
from modules.metascheduler.policies import PolicyFacts, load, names
from modules.metascheduler.progressive_filling import share_clusters
from modules.metascheduler.ranking import rank_campaigns
from tests.modules.test_metascheduler_share import a_room, a_want

FACTS = PolicyFacts(frozenset({UserAffinity("al", 1)}))
PATIENT = PolicySettings(scouts=0, patience=1e9)


def a_claim(id: int, user: str, own: int = 0, clusters: tuple[int, ...] = (1, 2), **about: object) -> PendingCampaign:
    claim = PendingCampaign(id, CampaignType.DEFAULT, user, "", 0, 0.0, None, 0.0, clusters, own)
    return claim._replace(**about)  # type: ignore[arg-type]


def wants(claims: list[PendingCampaign], tasks: int = 100, live: int = 0) -> list[ClusterDemand]:
    return [a_want(one.campaign_id, where, waiting=tasks, live=live) for one in claims for where in one.clusters]


def given(claims: list[PendingCampaign], policy: str, free: int, **about: int) -> dict[int, int]:
    """Jobs by campaign."""
    rooms = [a_room(1, free=free), a_room(2, free=free)]
    found = share_clusters(rooms, wants(claims, **about), claims, PATIENT, load(policy), FACTS)
    return {one.campaign_id: sum(n for (id, _), n in found.given.items() if id == one.campaign_id) for one in claims}


@pytest.mark.parametrize("policy", names())
def test_the_one_of_higher_own_priority_goes_first(policy: str) -> None:
    claims = [a_claim(1, "al"), a_claim(2, "al", own=5), a_claim(3, "al", own=-1)]
    assert given(claims, policy, free=40) == {1: 0, 2: 80, 3: 0}
    assert given(claims, policy, free=40, tasks=30) == {1: 30, 2: 30, 3: 20}


@pytest.mark.parametrize("policy", names())
@pytest.mark.parametrize("own", [(5, 0), (0, 5), (-5, 5)])
def test_others_get_as_much_as_without(policy: str, own: tuple[int, int]) -> None:
    plain = [a_claim(1, "al"), a_claim(2, "bo"), a_claim(3, "al"), a_claim(4, "cy")]
    told = [plain[0]._replace(own_priority=own[0]), plain[1], plain[2]._replace(own_priority=own[1]), plain[3]]
    for free in (10, 22, 50, 65, 85):
        before, after = given(plain, policy, free, tasks=50), given(told, policy, free, tasks=50)
        assert after[2] >= before[2]
        assert after[4] >= before[4]
        assert sum(after.values()) == sum(before.values())


@pytest.mark.parametrize("live", [(20, 0), (0, 20)])
def test_side_by_side_a_user_has_the_same_share_whatever_runs_of_it(live: tuple[int, int]) -> None:
    """All that al has runs in one campaign, and still counts for both."""
    claims = [a_claim(1, "al", own=5), a_claim(2, "al"), a_claim(3, "bo")]
    rooms = [a_room(1, free=10)]
    some = [a_want(1, live=live[0]), a_want(2, live=live[1]), a_want(3, live=10)]
    found = share_clusters(rooms, some, claims, PATIENT, load("fairshare"), FACTS)
    assert found.given == {(3, 1): 10}


def test_an_operator_goes_before_a_user() -> None:
    claims = [a_claim(1, "al", priority=1), a_claim(2, "al", own=5)]
    assert given(claims, "fifo", free=30) == {1: 60, 2: 0}


def test_who_wants_other_clusters_steps_behind_nobody() -> None:
    claims = [a_claim(1, "al", clusters=(1,)), a_claim(2, "bo"), a_claim(3, "al", own=5, clusters=(2,))]
    assert [turn.campaign_id for turn in rank_campaigns(claims, PATIENT, load("fifo"), FACTS)] == [1, 2, 3]
    both = [claims[0]._replace(clusters=(1, 2)), *claims[1:]]
    assert [turn.campaign_id for turn in rank_campaigns(both, PATIENT, load("fifo"), FACTS)] == [2, 3, 1]


def test_several_step_behind_in_their_own_order() -> None:
    claims = [a_claim(1, "al", own=-2), a_claim(2, "al", own=-1), a_claim(3, "al"), a_claim(4, "bo")]
    assert [turn.campaign_id for turn in rank_campaigns(claims, PATIENT, load("fifo"), FACTS)] == [3, 2, 1, 4]


def test_one_that_has_waited_for_long_is_given_a_handful_all_the_same() -> None:
    claims = [a_claim(1, "al", waited=2.0), a_claim(2, "al", own=5)]
    impatient = PolicySettings(scouts=0, patience=1.0, handful=3)
    for policy in names():
        found = share_clusters([a_room(1, free=9)], wants(claims), claims, impatient, load(policy), FACTS)
        assert found.given == {(1, 1): 3, (2, 1): 6}


def test_a_campaign_behind_ones_own_is_not_below_its_share() -> None:
    claims = [a_claim(1, "al"), a_claim(2, "al", own=5), a_claim(3, "bo")]
    turns = rank_campaigns(claims, PATIENT, load("fairshare"), FACTS)
    holdings = [Occupancy(2, 1, 40, 0, 0), Occupancy(3, 1, 20, 0, 0)]
    found = compute_shares(turns, holdings, wants(claims), [])
    assert {id: one.share for id, one in found.items()} == {1: 0.0, 2: 30.0, 3: 30.0}
