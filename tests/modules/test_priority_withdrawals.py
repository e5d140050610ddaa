"""Campaigns of higher priority go before what waits in queues already, whatever the policy is."""

from pathlib import Path

import pytest

from cigri.flow.campaigns import set_own_priority
from cigri.flow.views.cluster_demands import PendingCampaign
from cigri.flow.views.occupancy import Occupancy
from cigri.identity.callers import Caller
from cigri.states import CampaignType
from modules.metascheduler.fairness_withdrawals import CampaignShare
from modules.metascheduler.priority_withdrawals import have_priorities, only_by_priority, with_places
from tests.grid import Grid

WAIT = "until [ -e {place}/go ]; do sleep 0.05; done"
ABOVE, BELOW = CampaignShare(4, 30, 0.0), CampaignShare(0, 6, 4.0)


def claim(
    id: int,
    user: str = "alice",
    own: int = 0,
    priority: int = 0,
    *,
    type: CampaignType = CampaignType.DEFAULT,
    clusters: tuple[int, ...] = (1,),
) -> PendingCampaign:
    return PendingCampaign(id, type, user, "", priority, 7000.0, None, 0.0, clusters, own)


def first_waiting(grid: Grid) -> list[int]:
    """The campaigns of the jobs in the queue, in the order in which they would start."""
    sent = "split_part(remote_id, '_', 1)::int, array_index"
    rows = grid.rows(f"SELECT campaign_id FROM jobs WHERE state = 'submitted' ORDER BY {sent}")
    return [row["campaign_id"] for row in rows]


def full(grid: Grid, waiting: int) -> int:
    """Four of its jobs run, all the others are in the queue."""
    campaign = grid.submit([str(number) for number in range(4 + waiting)], command=WAIT.format(place=grid.place))
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 4)
    grid.run_until(lambda: len(first_waiting(grid)) == waiting)
    return campaign


@pytest.mark.parametrize("policy", ["fifo", "eta", "fairshare"])
def test_an_urgent_campaign_goes_before_all_that_its_user_has_in_the_queue(local: Grid, policy: str) -> None:
    local.tune("policy", order=policy)
    patient = full(local, 26)
    urgent = local.submit(["0", "1"], command="true", priority=10)
    local.run_until(lambda: first_waiting(local)[:2] == [urgent, urgent])
    taken = local.rows("SELECT j.campaign_id, j.started_at FROM kills k JOIN jobs j ON j.id = k.job_id")
    assert {(row["campaign_id"], row["started_at"]) for row in taken} == {(patient, None)}, "what runs goes on"
    told = local.one("SELECT message FROM events WHERE code = 'JOBS_TAKEN_BACK' ORDER BY id LIMIT 1")
    assert "on here; its jobs run on 4 cores, its share is 2" in told
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.one("SELECT sum(failures) FROM tasks") == 0
    assert local.one("SELECT count(*) FROM tasks WHERE state = 'done'") == 32


def test_a_campaign_that_becomes_urgent_later_does_so_too(local: Grid) -> None:
    full(local, 2)
    late = local.submit(["0", "1"], command="true")
    local.run_until(lambda: first_waiting(local)[-2:] == [late, late])
    assert local.one("SELECT count(*) FROM kills") == 0
    with local.database.begin() as conn:
        set_own_priority(conn, late, Caller(local.site.user), 1)
    local.run_until(lambda: first_waiting(local)[:2] == [late, late])
    assert local.one("SELECT count(DISTINCT campaign_id) FROM jobs WHERE state = 'running'") == 1
    (Path(local.place) / "go").touch()
    local.run_to_end()


def test_nothing_is_asked_where_nobody_goes_before_others() -> None:
    assert not have_priorities([claim(1), claim(2, "bob"), claim(3, own=0)])
    assert not have_priorities([claim(1, own=5), claim(2, "bob")]), "priorities are among those of one user"
    assert have_priorities([claim(1, own=5), claim(2)])
    assert have_priorities([claim(1, priority=1), claim(2, "bob")])


@pytest.mark.parametrize(
    ("giving", "urgent", "gives"),
    [
        (claim(1), claim(2, own=10), True),
        (claim(1, own=10), claim(2), False),
        (claim(1, "bob"), claim(2, own=10), False),
        (claim(1, "bob"), claim(2, priority=1), True),
        (claim(1, own=10), claim(2, priority=1), True),
        (claim(1, priority=1), claim(2, own=10), False),
        (claim(1), claim(2, own=10, clusters=()), False),
        (claim(1), claim(2, own=10, type=CampaignType.TEST), False),
    ],
)
def test_only_who_stands_behind_by_priority_gives_something_back(
    giving: PendingCampaign, urgent: PendingCampaign, gives: bool
) -> None:
    found = only_by_priority({1: ABOVE, 2: BELOW}, [giving, urgent])
    assert found == ({1: ABOVE, 2: BELOW} if gives else {2: BELOW})


def test_what_is_in_queues_stands_in_line_with_the_others() -> None:
    sent, asking, idle = claim(1, clusters=()), claim(2, clusters=(2,)), claim(3, clusters=())
    holdings = [Occupancy(1, 1, 4, 26, 30), Occupancy(2, 1, 0, 1, 31), Occupancy(3, 1, 4, 0, 0)]
    assert with_places([sent, asking, idle], holdings) == [
        sent._replace(clusters=(1,), waited=0.0),
        asking._replace(clusters=(1, 2)),
        idle._replace(waited=0.0),
    ]
