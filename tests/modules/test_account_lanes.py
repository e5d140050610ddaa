"""Which accounts of a cluster are asked, for how long the others wait for one, and what is left to itself."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from cigri.gateway import account_lanes
from cigri.gateway.account_lanes import ACCOUNTS, MOST_LEFT_BEHIND, AccountLanes
from tests.waiting import PATIENCE, looks


class Accounts:
    """Those that are `stuck` answer when they are let go; `asked` has every question, the first one first."""

    def __init__(self) -> None:
        self.stuck: dict[str, threading.Event] = {}
        self.asked: list[str] = []

    def stick(self, *users: str) -> None:
        self.stuck |= {user: threading.Event() for user in users}

    def let_go(self) -> None:
        for event in self.stuck.values():
            event.set()
        self.stuck = {}

    def ask(self, user: str) -> str:
        self.asked.append(user)
        if gate := self.stuck.get(user):
            assert gate.wait(PATIENCE)
        return user.upper()


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts()
    yield accounts
    accounts.let_go()


@pytest.fixture
def lanes(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> Iterator[AccountLanes]:
    monkeypatch.setattr(account_lanes, "BUDGET", 0.5)
    monkeypatch.setattr(account_lanes, "MOMENT", 0.05)
    with ThreadPoolExecutor(20) as executor:
        yield AccountLanes("dahu", executor)
        accounts.let_go()


def until_none_is_left_behind(lanes: AccountLanes) -> None:
    assert any(all(future.done() for future in lanes.left_behind) for _ in looks())


def test_answers_come_in_the_order_of_the_accounts(lanes: AccountLanes, accounts: Accounts) -> None:
    users = [f"user{number}" for number in range(3 * ACCOUNTS)]
    assert lanes.run(users, accounts.ask).in_time == [user.upper() for user in users]
    assert not lanes.had_left_behind


def test_one_that_hangs_is_left_behind_and_not_begun_again(lanes: AccountLanes, accounts: Accounts) -> None:
    accounts.stick("bob")
    users = ["bob", *(f"user{number}" for number in range(2 * ACCOUNTS))]
    assert lanes.run(users, accounts.ask).in_time == [user.upper() for user in users[1:]]
    again = lanes.run(users, accounts.ask)
    assert (len(again.in_time), again.not_begun) == (2 * ACCOUNTS, ["bob"])
    assert accounts.asked.count("bob") == 1
    assert lanes.had_left_behind
    accounts.let_go()
    until_none_is_left_behind(lanes)
    assert lanes.run(users, accounts.ask).not_begun == []
    assert lanes.had_left_behind  # it has gone on since
    lanes.run(users, accounts.ask)
    assert not lanes.had_left_behind


@pytest.mark.parametrize("doubtful", [False, True])
def test_the_slow_and_the_doubtful_come_last(lanes: AccountLanes, accounts: Accounts, doubtful: bool) -> None:
    if not doubtful:
        accounts.stick("bob")
        lanes.run(["bob"], accounts.ask)
        accounts.let_go()
        until_none_is_left_behind(lanes)
    accounts.asked.clear()
    users = ["bob", *(f"user{number}" for number in range(2 * ACCOUNTS))]
    lanes.run(users, accounts.ask, doubtful={"bob"} if doubtful else ())
    assert accounts.asked.index("bob") > ACCOUNTS


def test_one_that_is_slow_is_forgiven_when_it_answers_in_time(lanes: AccountLanes, accounts: Accounts) -> None:
    accounts.stick("bob")
    lanes.run(["bob"], accounts.ask)
    accounts.let_go()
    until_none_is_left_behind(lanes)
    lanes.run(["bob"], accounts.ask)
    accounts.asked.clear()
    lanes.run(["bob", "alice"], accounts.ask)
    assert accounts.asked == ["bob", "alice"]


def test_many_that_hang_leave_room_for_the_others_and_take_turns(lanes: AccountLanes, accounts: Accounts) -> None:
    hostile = [f"hostile{number}" for number in range(MOST_LEFT_BEHIND + 2)]
    accounts.stick(*hostile)
    lanes.run(hostile, accounts.ask)  # nobody has known it of them
    accounts.let_go()
    until_none_is_left_behind(lanes)
    accounts.stick(*hostile)
    accounts.asked.clear()
    answers = lanes.run([*hostile, "alice"], accounts.ask)
    assert answers.in_time == ["ALICE"]
    assert len(answers.not_begun) == 2
    accounts.let_go()
    until_none_is_left_behind(lanes)
    accounts.asked.clear()
    lanes.run(hostile, accounts.ask)
    assert accounts.asked[:2] == answers.not_begun


def test_what_fails_in_time_is_raised_and_what_fails_later_is_logged(
    lanes: AccountLanes, accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(user: str) -> str:
        accounts.ask(user)
        raise ValueError(f"{user} fails")

    with pytest.raises(ValueError, match="alice fails"):
        lanes.run(["alice"], fail)
    accounts.stick("bob")
    assert lanes.run(["bob"], fail).in_time == []
    accounts.let_go()
    until_none_is_left_behind(lanes)
    assert any("account bob, which took long, failed: bob fails" in caplog.text for _ in looks())
