"""Waiting jobs of those above their share make way for those below theirs; running ones never do."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.kill_requests import claim_due_kills, request_kills
from cigri.flow.live_jobs import mark_missing
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.invariants import examine
from cigri.flow.views.occupancy import (
    Occupancy,
    WithdrawalRange,
    WithdrawnJob,
    count_waiting,
    list_occupancy,
    list_withdrawable_jobs,
)
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.flow.views.unwanted_jobs import list_queues
from cigri.states import KillReason, Outcome, PendingReasonCode
from modules.laboratory.scenario import Scenario
from modules.laboratory.simulated_grid import SimulatedGrid
from modules.metascheduler.fairness_withdrawals import (
    BEHIND_ALL,
    CampaignShare,
    SharingResult,
    compute_shares,
    count_withdrawn,
    plan_withdrawals,
    subtract_withdrawn,
    withdraw_for_fairness,
    withdrawal_events,
)
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import RankedCampaign
from modules.metascheduler.progressive_filling import share_clusters
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.modules.test_metascheduler_share import NO_SCOUTS, a_room, a_want, claims_of

pytestmark = pytest.mark.noon

SMALL, GIANT, OTHER = 1, 2, 3
ABOVE, BELOW, EVEN = CampaignShare(40, 400, 20.0), CampaignShare(0, 20, 20.0), CampaignShare(20, 20, 20.0)


def side_by_side(*campaigns: int, weight: float = 1.0) -> list[RankedCampaign]:
    return [RankedCampaign(campaign, (1,), (2.0, 0.0), weight) for campaign in campaigns]


def test_shares_are_of_the_cores_that_run_and_are_free() -> None:
    holdings = [Occupancy(GIANT, 1, 30, 9, 5), Occupancy(GIANT, 2, 8, 0, 0), Occupancy(SMALL, 1, 1, 4, 9)]
    wants = [a_want(GIANT, waiting=900), a_want(GIANT, 2, waiting=900), a_want(OTHER, width=4, waiting=3)]
    found = compute_shares(side_by_side(GIANT, SMALL, OTHER), holdings, wants, [a_room(free=3)])
    assert found == {
        GIANT: CampaignShare(38, 947, 25.0),
        SMALL: CampaignShare(1, 5, 5.0),
        OTHER: CampaignShare(0, 12, 12.0),
    }
    assert [one.is_above for one in found.values()] == [True, False, False]
    assert [one.is_below for one in found.values()] == [False, True, True]


def test_shares_go_by_weight_and_to_those_of_higher_priority_first() -> None:
    holdings = [Occupancy(campaign, 1, 20, 100, 5) for campaign in (GIANT, SMALL, OTHER)]
    heavy = RankedCampaign(SMALL, (1,), (2.0, 0.0), 3.0)
    starving = RankedCampaign(OTHER, (1,), (1.0, -9.0, OTHER), max_jobs=10)
    urgent = RankedCampaign(OTHER, (1,), (2.0, -1.0))
    even = compute_shares([starving, *side_by_side(GIANT), heavy], holdings, [], [])
    assert {campaign: one.share for campaign, one in even.items()} == {GIANT: 15.0, SMALL: 45.0}
    first = compute_shares([urgent, *side_by_side(GIANT, SMALL)], holdings, [], [a_room(free=80)])
    assert {campaign: one.share for campaign, one in first.items()} == {OTHER: 120.0, GIANT: 10.0, SMALL: 10.0}


@pytest.mark.parametrize(
    ("small", "last", "sent", "expected"),
    [
        pytest.param(BELOW, 7, set(), [WithdrawalRange(GIANT, 1, 7)], id="before its last waiting job"),
        pytest.param(BELOW, 7, {1}, [WithdrawalRange(GIANT, 1, BEHIND_ALL)], id="before what it is sent now"),
        pytest.param(BELOW, 0, {2}, [], id="not where it has nothing"),
        pytest.param(EVEN, 7, set(), [], id="not for one that has its share"),
    ],
)
def test_what_stands_before_those_below_their_share_is_taken_back(
    small: CampaignShare, last: int, sent: set[int], expected: list[WithdrawalRange]
) -> None:
    holdings = [Occupancy(GIANT, 1, 40, 9, 5), Occupancy(SMALL, 1, small.running, int(last > 0), last)]
    assert plan_withdrawals({GIANT: ABOVE, SMALL: small}, holdings, sent) == expected


def test_only_those_above_their_share_give_something_back() -> None:
    holdings = [Occupancy(GIANT, 1, 20, 9, 5), Occupancy(OTHER, 1, 9, 9, 9), Occupancy(4, 1, 9, 9, 9)]
    assert (
        plan_withdrawals({GIANT: EVEN, OTHER: BELOW, SMALL: BELOW}, holdings, {1}) == []
    )  # 4 is no longer in treatment


def shared(recalled: Sequence[WithdrawnJob], max_jobs: int | None = None) -> SharingResult:
    """The giant has jobs waiting on dahu; the small one would like to have some there."""
    rooms = [a_room(1, free=0, waiting=20, keep=6)]
    wants = [a_want(SMALL, waiting=5, max_jobs=max_jobs), a_want(GIANT, live=60)]
    standing = {GIANT: ABOVE, SMALL: BELOW}
    return withdraw_for_fairness(
        standing,
        [Occupancy(GIANT, 1, 40, 20, 20)],
        rooms,
        wants,
        lambda plan: list(recalled) if plan else [],
        lambda rooms, wants: share_clusters(rooms, wants, claims_of(wants), NO_SCOUTS),
    )


BACK = [WithdrawnJob(10 + number, GIANT, 1, 1) for number in range(18)]


def test_the_places_are_given_anew_at_once_those_below_first() -> None:
    assert shared([]).stock.given == {}  # the queue is full
    found = shared(BACK)
    assert found.recalled == BACK
    assert found.stock.given == {(SMALL, 1): 4}  # two are left there, and six are kept


def test_nothing_is_taken_back_for_one_that_can_be_given_nothing() -> None:
    found = shared(BACK, max_jobs=0)
    assert found.recalled == []
    assert found.stock.given == {}


def recalled_of(small: int, giant: int, node: int, *rooms: int) -> list[WithdrawalRange]:
    """What is looked for first, the jobs of both having so many cores, and the nodes of these clusters as well."""
    asked: list[WithdrawalRange] = []
    found = [a_room(id, free=0)._replace(largest_node_cores=node) for id in rooms]
    wants = [a_want(SMALL, width=small), a_want(GIANT, width=giant)]
    holdings = [Occupancy(GIANT, 1, 40, 20, 20, giant), Occupancy(SMALL, 1, 0, 8, 30, small)]

    def find(plan: Sequence[WithdrawalRange]) -> list[WithdrawnJob]:
        asked.extend(plan)
        return []

    withdraw_for_fairness(
        {GIANT: ABOVE, SMALL: BELOW},
        holdings,
        found,
        wants,
        find,
        lambda rooms, wants: share_clusters(rooms, wants, [], NO_SCOUTS),
    )
    return asked


def test_nothing_is_taken_back_where_a_node_has_to_be_gathered() -> None:
    """Neither for jobs that take half a node, nor such jobs, nor where the cluster does not answer."""
    assert recalled_of(1, 3, 8, 1) == recalled_of(3, 1, 8, 1) == [WithdrawalRange(GIANT, 1, BEHIND_ALL)]
    assert recalled_of(1, 4, 0, 1) == [WithdrawalRange(GIANT, 1, BEHIND_ALL)]  # nobody knows how large a node is
    assert recalled_of(1, 4, 8, 1) == recalled_of(4, 1, 8, 1) == recalled_of(1, 3, 8, 2) == []


def test_what_is_taken_back_no_longer_fills_the_queue() -> None:
    wide = [job._replace(width=2) for job in BACK]
    giant = a_want(GIANT, live=60)._replace(queued=20)
    rooms, wants = subtract_withdrawn(wide, [a_room(1, waiting=40), a_room(2, waiting=40)], [giant, a_want(SMALL)])
    assert [(room.waiting, room.waiting_cores) for room in rooms] == [(22, 4), (40, 40)]
    assert [(want.live, want.queued) for want in wants] == [(42, 2), (0, 0)]


def test_it_is_told_with_the_figures() -> None:
    found = shared(BACK)
    (event,) = withdrawal_events(found)
    assert (event.code, event.campaign_id) == ("JOBS_TAKEN_BACK", GIANT)
    figures = "18 on c1; its jobs run on 40 cores, its share is 20; below theirs are campaign 1 on 0 of 20"
    assert event.message.endswith(figures)
    (cut,) = (cut for cut in explain(found.stock, count_withdrawn(found)) if cut.campaign_id == GIANT)
    assert (cut.reason, cut.used, cut.most) == (PendingReasonCode.SHARE, 18, 20)


def test_jobs_that_wait_are_found_the_newest_first(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 9)
        jobs = submitted_jobs(conn, campaign, cluster, 9)
        run_jobs(conn, jobs[:2])
        conn.execute(text("UPDATE jobs SET halted_since = now() WHERE id = :id"), {"id": jobs[2]})
        request_kills(conn, jobs[3:4], KillReason.USER, "alice")
        assert list_occupancy(conn) == [Occupancy(campaign, cluster, 2, 5, jobs[8])]
        conn.execute(text("UPDATE jobs SET width = id - :id"), {"id": jobs[0] - 1})
        assert list_occupancy(conn) == [Occupancy(campaign, cluster, 3, 35, jobs[8], 9)]
        assert newest(conn, WithdrawalRange(campaign, cluster, BEHIND_ALL)) == jobs[:3:-1]
        assert newest(conn, WithdrawalRange(campaign, cluster, BEHIND_ALL), most=2) == jobs[:6:-1]
        assert newest(conn, WithdrawalRange(campaign, cluster, jobs[6])) == [jobs[5], jobs[4]]
        assert newest(conn, WithdrawalRange(campaign, cluster + 1, BEHIND_ALL)) == []
        assert newest(conn, WithdrawalRange(campaign, cluster, BEHIND_ALL), moves=0) == []


@pytest.mark.parametrize(("reason", "times"), [(KillReason.FAIRNESS, 5), (KillReason.FLOOD, 2)])
def test_a_task_makes_way_as_often_as_others_are_below_their_share(
    database: Database, reason: KillReason, times: int
) -> None:
    """It goes first in line again, and would soon stand in everybody's way."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        for before in range(5):
            jobs = submitted_jobs(conn, campaign, cluster, 1)
            assert newest(conn, WithdrawalRange(campaign, cluster, BEHIND_ALL), moves=2) == (
                jobs if before < times else []
            )
            request_kills(conn, jobs, reason, "metascheduler")
            end_jobs(conn, cluster, jobs, Outcome.WITHDRAWN, exit_code=None)


def test_what_is_no_longer_there_neither_waits_nor_runs_though_its_end_is_not_known_yet(
    database: Database,
) -> None:
    """Else the places of what was taken back could be given to nobody for another cycle."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 20)
        jobs = submitted_jobs(conn, campaign, cluster, 9)
        run_jobs(conn, jobs[:4])
        mark_missing(conn, [jobs[0], *jobs[6:]])
        assert list_occupancy(conn) == [Occupancy(campaign, cluster, 3, 2, jobs[5])]
        (room,) = list_schedulable_clusters(conn)
        assert (room.waiting, room.waiting_cores, room.running) == (2, 2, 3)
        (want,) = list_cluster_demands(conn, 10, 0.0)
        assert (want.live, want.queued) == (9, 2)  # what may still run counts for all limits
        assert count_waiting(conn, cluster) == 2
        assert [(queue.waiting, queue.waiting_cores) for queue in list_queues(conn)] == [(2, 2)]
        assert newest(conn, WithdrawalRange(campaign, cluster, BEHIND_ALL)) == [jobs[5], jobs[4]]


def test_one_that_has_begun_meanwhile_goes_on(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 4), cluster, 4)
        request_kills(conn, jobs[:3], KillReason.FAIRNESS, "metascheduler")
        request_kills(conn, jobs[3:], KillReason.WALLTIME, "killer")
        run_jobs(conn, [jobs[0], jobs[3]])
        assert {kill.job_id for kill in claim_due_kills(conn, cluster, 60.0)} == set(jobs[1:])
        run_jobs(conn, jobs[1:2])  # it was killed too late, or in vain
        later = NOON + timedelta(seconds=60)
        set_time(conn, later)
        assert {kill.job_id for kill in claim_due_kills(conn, cluster, 60.0)} == set(jobs[2:])
        assert request_kills(conn, jobs, KillReason.USER, "alice") == 4  # nothing stands in the way of other wishes


def newest(conn: Connection, plan: WithdrawalRange, moves: int = 5, most: int = 100) -> list[int]:
    return [job.job_id for job in list_withdrawable_jobs(conn, [plan], moves, most)]


CROWD: dict[str, Any] = {
    "name": "crowd",
    "length": 2100,
    "cycle": 60,
    "clusters": [{"name": "ann", "nodes": 2, "cores_per_node": 8, "config": {"keep_waiting": 12}}],
    "campaigns": [
        {"user": "giant", "tasks": 90, "seconds": {"mean": 300, "cv": 0.3}},
        {"user": "small", "at": 900, "tasks": 12, "seconds": {"mean": 300}},
    ],
}


def waited(database: VirtualTimeDatabase, recall: int, policy: str = "fairshare") -> float:
    """Seconds until half of the small campaign has begun."""
    settings = {"policy": {"order": policy, "recall": recall}, "forecast": {"algorithm": "simple"}}
    SimulatedGrid(Scenario.model_validate(CROWD | {"settings": settings}), database, Path("/")).run()
    statement = (
        "SELECT extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY a.started_at) - min(c.submitted_at))"
        " FROM campaigns c JOIN tasks t ON t.campaign_id = c.id JOIN attempts a ON a.task_id = t.id"
        " WHERE c.grid_user = 'small' AND a.started_at IS NOT NULL"
    )
    with database.begin() as conn:
        assert examine(conn) == []
        return float(conn.execute(text(statement)).scalar_one())


def test_a_newcomer_begins_before_the_jobs_that_a_giant_has_waiting(database: VirtualTimeDatabase) -> None:
    assert waited(database, recall=100) < 140
    with database.begin() as conn:
        taken = conn.execute(
            text(
                "SELECT c.grid_user, count(*) AS jobs, count(j.started_at) AS begun, max(k.asked_by) AS by"
                " FROM kills k JOIN jobs j ON j.id = k.job_id JOIN campaigns c ON c.id = j.campaign_id"
                " WHERE k.reason = 'fairness' GROUP BY 1"
            )
        ).all()
        assert [(row.grid_user, row.begun, row.by) for row in taken] == [("giant", 0, "metascheduler")]
        assert taken[0].jobs <= 30  # not over and over
        often = "SELECT count(*) FROM attempts WHERE outcome = 'withdrawn' GROUP BY task_id ORDER BY 1 DESC LIMIT 1"
        assert conn.execute(text(often)).scalar_one() <= 2
        told = conn.execute(text("SELECT message FROM events WHERE code = 'JOBS_TAKEN_BACK' ORDER BY id")).scalars()
        assert "below theirs are campaign 2 on 0 of" in next(iter(told))


@pytest.mark.parametrize(("policy", "recall"), [("fairshare", 0), ("fifo", 100)])
def test_nothing_is_taken_back_where_nobody_wants_it(database: VirtualTimeDatabase, policy: str, recall: int) -> None:
    assert waited(database, recall, policy) > 140
    with database.begin() as conn:
        assert conn.execute(text("SELECT count(*) FROM kills WHERE reason = 'fairness'")).scalar_one() == 0
