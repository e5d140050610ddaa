"""Who goes first: the policies as pure functions, and priorities and test campaigns before them."""

import pytest

from cigri.errors import ConfigError
from cigri.flow.metascheduler_to_campaign_schedulers import Claim
from cigri.flow.operator_to_metascheduler import Affinity
from cigri.states import CampaignType
from modules.metascheduler.policies import Facts, load, names
from modules.metascheduler.policies.affinity import order as affinity
from modules.metascheduler.policies.fifo import order as fifo
from modules.metascheduler.share import line_up


def a_claim(
    campaign: int,
    clusters: tuple[int, ...] = (1, 2),
    *,
    user: str = "alice",
    priority: int = 0,
    type: CampaignType = CampaignType.DEFAULT,
) -> Claim:
    return Claim(campaign, type, user, "", priority, clusters)


def test_each_policy_is_found_by_its_name_and_no_other() -> None:
    assert {"affinity", "fifo"} <= set(names())
    for name in names():
        assert load(name)([], Facts()) == []
    with pytest.raises(ConfigError, match=r"no policy 'fofi'; there are: affinity, .*fifo"):
        load("fofi")


def test_the_example_of_the_note_of_2009() -> None:
    """cluster1: affinities campaign1, campaign2; others campaign3. cluster2: campaign2; others campaign1, campaign3."""
    claims = [a_claim(1, user="one"), a_claim(2, user="two"), a_claim(3, user="three")]
    facts = Facts(frozenset({Affinity("one", 1), Affinity("two", 1), Affinity("two", 2)}))
    launched = [(turn.campaign_id, turn.clusters) for turn in line_up(claims, affinity, facts)]
    assert launched == [(1, (1,)), (2, (1, 2)), (1, (2,)), (3, (1, 2))]


def test_without_affinities_the_first_comes_first() -> None:
    claims = [a_claim(2), a_claim(1)]
    assert line_up(claims, affinity, Facts()) == [
        turn._replace(rank=(1.0, 0.0, 1.0, turn.campaign_id)) for turn in line_up(claims, fifo, Facts())
    ]
    assert [turn.campaign_id for turn in line_up(claims, fifo, Facts())] == [1, 2]


def test_priorities_go_before_the_policy_and_tests_before_priorities() -> None:
    claims = [
        a_claim(1, user="one"),
        a_claim(2, priority=-1, user="two"),
        a_claim(3, priority=5),
        a_claim(4, type=CampaignType.TEST),
    ]
    facts = Facts(frozenset({Affinity("two", 1)}))
    for policy in (fifo, affinity):
        assert list(dict.fromkeys(turn.campaign_id for turn in line_up(claims, policy, facts))) == [4, 3, 1, 2]
