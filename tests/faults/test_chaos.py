"""Random kills of every kind on four real clusters: a few of them; `scripts/chaos` does as many as one likes."""

import pytest

from tests.chaos.experiment import play

pytestmark = pytest.mark.cluster


@pytest.mark.timeout(900)
def test_each_task_is_done_once_whatever_is_killed() -> None:
    account = play(seed=7, injections=6, tasks=400)
    assert account.injections.total() > 0
    assert account.is_right, account
