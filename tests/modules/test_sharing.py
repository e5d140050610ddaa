"""Campaigns that share a grid, and other people's load on it."""

import pytest

from modules.predictor.local_load import LocalLoadModel, SharedCluster, done, outlook, reached
from modules.predictor.sharing import RunningCampaign, groups, in_line, share_free_cores, side_by_side
from tests.modules.test_predictor import progress

HOUR = 3600.0


def test_what_one_leaves_goes_to_the_first_in_line() -> None:
    """The second has one core until the first has ended after 10 s, then eleven; the third waits for that."""
    ends = in_line([RunningCampaign(1, 100, 10), RunningCampaign(2, 120, 1), RunningCampaign(3, 110, 0)])
    assert ends == {1: 10.0, 2: 20.0, 3: 30.0}


def test_the_first_gains_from_those_behind_that_end() -> None:
    assert in_line([RunningCampaign(1, 100, 5), RunningCampaign(2, 25, 5)]) == {1: 12.5, 2: 5.0}


def test_side_by_side_all_gain() -> None:
    """When the first has ended, after 10 s, the others have twice as many cores; at 30 s the last one has all 20."""
    ends = side_by_side([RunningCampaign(1, 100, 10), RunningCampaign(2, 300, 6), RunningCampaign(3, 280, 4)])
    assert ends == pytest.approx({1: 10.0, 2: 30.0, 3: 34.0})


@pytest.mark.parametrize("ends", [in_line, side_by_side])
def test_nothing_is_lost_and_nothing_done_twice(ends: object) -> None:
    """The last ends when all cores together have done all work; one without cores, alone, never ends."""
    assert callable(ends)
    found = ends(
        [RunningCampaign(1, 500, 3), RunningCampaign(2, 40, 4), RunningCampaign(3, 900, 5), RunningCampaign(4, 60, 1)]
    )
    assert max(found.values()) == pytest.approx(1500 / 13)
    assert ends([RunningCampaign(1, 500, 0)]) == {}


def test_only_those_that_have_clusters_in_common_share_them() -> None:
    assert [set(group) for group in groups({1: [1, 2], 2: [3], 3: [2, 4], 4: [4], 5: [3]})] == [{1, 3, 4}, {2, 5}]
    assert [set(group) for group in groups({1: [1], 2: [2], 3: [1, 2]})] == [{1, 2, 3}]


def test_others_are_not_foreseen_for_a_short_while() -> None:
    assert [reached(600.0, LocalLoadModel(0.5), chance) for chance in (0.05, 0.5, 0.95)] == pytest.approx(
        [600.0] * 3, rel=0.01
    )


@pytest.mark.parametrize(
    ("now", "low", "middle", "high"),
    [
        pytest.param(LocalLoadModel(0.1), 0.3, 1.0, 1.0, id="few cores: it can be much sooner"),
        pytest.param(LocalLoadModel(1.0), 1.0, 1.0, 2.45, id="all cores: it can be later"),
        pytest.param(LocalLoadModel(1.0, 1 / (100 * HOUR)), 1.0, 1.0, 1.0, id="others that hardly ever come"),
    ],
)
def test_others_may_come_or_go_in_four_hours(now: LocalLoadModel, low: float, middle: float, high: float) -> None:
    found = [reached(4 * HOUR, now, chance) / (4 * HOUR) for chance in (0.05, 0.5, 0.95)]
    assert found == pytest.approx([low, middle, high], rel=0.15)


def test_of_what_lies_days_ahead_half_the_grid_is_expected() -> None:
    assert 0.2 < reached(80 * HOUR, LocalLoadModel(0.1), 0.5) / (80 * HOUR) < 0.3
    assert reached(40 * HOUR, LocalLoadModel(1.0), 0.5) / (40 * HOUR) == pytest.approx(2, rel=0.2)


def test_the_chance_to_be_done_grows_with_time() -> None:
    chances = [done(4 * HOUR, LocalLoadModel(0.4), hours * HOUR) for hours in (1, 2, 3, 4, 6, 9, 30)]
    assert chances == sorted(chances)
    assert 0 <= chances[0] < 0.02
    assert chances[-1] > 0.98


def test_the_outlook_is_that_of_all_clusters_together() -> None:
    """All 30 cores of one others took and gave back in the last hour; the 10 of the other one they have taken."""
    found = outlook([SharedCluster(30, 0, 2 * 30**2, 0, HOUR), SharedCluster(10, 10, 10**2, 10, HOUR)])
    assert found.share == 0.75
    assert found.jumps == pytest.approx((1 + 6 * (2 * 900 + 100) / 1600) / (7 * HOUR))
    assert found.returns == pytest.approx(6 * 2 * 900 / 1600)  # the second has not come back
    quiet, unknown = outlook([SharedCluster(40, 0, 0.0, 0, HOUR)]), outlook([])
    assert quiet.jumps < unknown.jumps == LocalLoadModel().jumps


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        pytest.param("fifo", {1: {1: 10.0}, 2: {2: 8.0}}, id="the first that has tasks for them"),
        pytest.param("fairshare", {1: {1: 5.0}, 2: {1: 5.0, 2: 8.0}}, id="shared evenly, whole jobs only"),
    ],
)
def test_free_cores_go_to_whom_has_tasks_for_them(order: str, expected: dict[int, dict[int, float]]) -> None:
    """The youngest has begun all that it has; a core more than two jobs of four is of no use to the second one."""
    first, second = progress(1, running=2, remaining=50), progress(1, running=3, remaining=50)._replace(campaign_id=2)
    third = progress(1, running=5, remaining=5)._replace(campaign_id=3)
    wide = progress(2, running=1, remaining=50, width=4)._replace(campaign_id=2)
    full = progress(3, running=1, remaining=50)
    assert share_free_cores([third, second, wide, first, full], {1: 10, 2: 9, 3: 0}, order) == expected
