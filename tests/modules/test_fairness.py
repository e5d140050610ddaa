"""Over many cycles: everybody gets a due share under fairshare, and nobody waits for ever under any policy."""

import random
from itertools import count

import pytest

from cigri.flow.affinities_and_targets import Principal, UserAffinity
from cigri.settings.sections import PolicySettings
from cigri.states import PrincipalKind
from modules.metascheduler.policies import names
from tests.modules.playing import CYCLE, Play

PLENTY = 10**6


def jain(amounts: list[float]) -> float:
    return sum(amounts) ** 2 / (len(amounts) * sum(amount**2 for amount in amounts))


def used(play: Play, user: str) -> float:
    return sum(amount for (name, _), amount in play.used.items() if name == user)


def a_play(*cores: int, order: str = "fairshare", **settings: float) -> Play:
    return Play(cores, PolicySettings.model_validate({"order": order, "patience": 1e9, "scouts": 0, **settings}))


def play(game: Play, cycles: int) -> None:
    for _ in game.run(cycles):
        pass


def test_equal_demands_get_equal_shares() -> None:
    """Tasks of different lengths and numbers of campaigns make no difference."""
    game = a_play(24, 10)
    users = [f"u{number}" for number in range(5)]
    for number, user in enumerate(users):
        for _ in range(number + 1):
            game.add(user, PLENTY, cycles=3 + 4 * number)
    play(game, 800)
    assert jain([used(game, user) for user in users]) > 0.99
    assert game.idle == 0


def test_a_first_come_first_served_grid_is_not_fair() -> None:
    game = a_play(24, order="fifo")
    for user in ("one", "two"):
        game.add(user, PLENTY)
    play(game, 100)
    assert jain([used(game, user) for user in ("one", "two")]) < 0.6


@pytest.mark.parametrize("kind", PrincipalKind)
def test_targets_are_met(kind: PrincipalKind) -> None:
    game = a_play(40)
    game.targets = {Principal(kind, "one"): 3.0}
    for name in ("one", "two"):
        about = (name, "") if kind is PrincipalKind.USER else (f"user of {name}", name)
        game.add(about[0], PLENTY, cycles=7, project=about[1])
    play(game, 600)
    first, second = (amount for _, amount in sorted(game.used.items()))
    assert 2.6 < first / second < 3.4


def test_who_has_used_little_catches_up_without_stopping_the_other() -> None:
    game = a_play(40)
    old, new = game.add("old", PLENTY), None
    for cycle in game.run(600):
        if cycle == 100:
            new = game.add("new", PLENTY)
        if cycle == 150:
            assert new is not None
            assert len(new.jobs) > 4 * len(old.jobs) > 0
    assert jain([used(game, "old"), used(game, "new")]) > 0.99


def test_wide_jobs_get_their_share_beside_one_core_jobs() -> None:
    game = a_play(16, patience=600.0)
    game.add("narrow", PLENTY, cycles=5)
    game.add("wide", PLENTY, cycles=20, width=8)
    play(game, 1500)
    assert jain([used(game, "narrow"), used(game, "wide")]) > 0.95


def adversary(game: Play, cycle: int, number: int) -> None:
    """Campaigns that every policy likes better than those that are there, for ever."""
    for user in (f"new{number}", "friend"):
        if sum(player.tasks > 0 for player in game.players) < 12:
            game.add(user, 200, cycles=7, priority=9, eta=-1e6 - cycle)


@pytest.mark.parametrize("order", names())
@pytest.mark.parametrize("width", [1, 8])
def test_nobody_waits_for_ever(order: str, width: int) -> None:
    """At most 12 campaigns want something at any time; each of them is served in bounded time, whatever comes."""
    patience = 300.0
    game = a_play(10, 9, order=order, patience=patience)
    game.affinities = frozenset({UserAffinity("friend", 1), UserAffinity("friend", 2)})
    victims = [game.add("big", PLENTY, cycles=20), game.add("victim", PLENTY, cycles=12, width=width, eta=1e9)]
    number = count()
    for cycle in game.run(2000):
        adversary(game, cycle, next(number))
    served = 20  # cycles until the cores of a cluster are free for one after all others
    bound = patience / CYCLE + 12 * served
    assert max(player.longest for player in game.players) <= bound
    assert all(player.tasks < PLENTY for player in victims)


def test_without_aging_they_would() -> None:
    """The adversary is strong enough: it starves others when nobody looks at who waits."""
    for order in ("fifo", "affinity", "eta"):
        game = a_play(10, 9, order=order, patience=1e9, reserve_after=1e9)
        game.affinities = frozenset({UserAffinity("friend", 1), UserAffinity("friend", 2)})
        victim = game.add("victim", PLENTY, eta=1e9)
        number = count()
        for cycle in game.run(500):
            adversary(game, cycle, next(number))
        assert victim.longest > 400


def test_a_small_campaign_is_not_stuck_behind_a_big_one() -> None:
    for order in names():
        game = a_play(20, order=order, patience=300.0)
        game.add("alice", PLENTY, cycles=6)
        small = game.add("bob", 10, cycles=6, eta=1e9)
        play(game, 100)
        assert small.tasks == 0, order


def test_cores_gather_for_a_wide_job_at_the_head_and_idle_no_more_than_they_must() -> None:
    chance = random.Random(4)
    game = a_play(16, 16, order="fifo", reserve_after=50.0)
    wide = game.add("wide", 5, cycles=10, width=12)
    narrow = [game.add("narrow", PLENTY, cycles=chance.randint(4, 30)) for _ in range(9)]
    wide.tasks = 0
    for cycle in game.run(400):
        if cycle == 40:
            wide.tasks, wide.served = 5, cycle
        for player in narrow:
            player.cycles = chance.randint(4, 30)
    assert wide.tasks == 0
    assert game.idle < 5 * 30 * 12  # five times, at most as long as the longest job, less than one job's cores
