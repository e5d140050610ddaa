"""Wishes to stand still: whose they are, how they overlap, and who makes no jobs because of them."""

import pytest
from sqlalchemy import Connection, select, text

from cigri.database import Database
from cigri.errors import CigriError, NotFound
from cigri.flow.batches import put_batch
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.grid_identity import grid_key
from cigri.flow.holds import HoldEffect, hold_campaign, hold_job, resume_campaign, resume_job
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.prologues_and_epilogues import put_prologues
from cigri.flow.suspensions import claim_due_suspensions, has_suspensions
from cigri.flow.tasks import take_waiting
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.invariants import examine
from cigri.flow.views.occupancy import count_waiting
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.flow.withdrawals import put_back_unlaunched
from cigri.settings.sections import JobSettings
from cigri.states import JobState
from cigri.tables.campaigns import Hold
from cigri.tables.grid import Event
from tests.callers import ALICE, BOB, ROOT
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

pytestmark = pytest.mark.noon

LIVE = (JobState.SUBMITTED, JobState.RUNNING)


def wishes(conn: Connection) -> list[tuple[int, int | None, int | None, bool]]:
    found = select(Hold.c.campaign_id, Hold.c.cluster_id, Hold.c.job_id, Hold.c.waiting_only).order_by(Hold.c.id)
    return [(row[0], row[1], row[2], row[3]) for row in conn.execute(found)]


def ordered(conn: Connection, cluster: int) -> dict[int, bool]:
    """Which jobs are told to stand still (True) or to go on."""
    return {order.job_id: order.is_wanted for order in claim_due_suspensions(conn, cluster, LIVE, 60.0)}


def test_a_wish_is_one_whatever_is_asked_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        (job, other) = submitted_jobs(conn, campaign, cluster, 2)
        run_jobs(conn, [other])
        assert hold_campaign(conn, campaign, ALICE) == [HoldEffect("dahu", {"driver": "local"}, 1, 1)]
        hold_campaign(conn, campaign, ALICE, waiting_only=True)
        hold_campaign(conn, campaign, ALICE, cluster="dahu")
        assert hold_job(conn, job, ALICE) == [HoldEffect("dahu", {"driver": "local"}, 1, 0)]
        hold_job(conn, job, ALICE)
        assert wishes(conn) == [
            (campaign, None, None, True),
            (campaign, cluster, None, False),
            (campaign, None, job, False),
        ]
        resume_campaign(conn, campaign, ALICE)
        assert wishes(conn) == []
        assert conn.scalars(select(Event.c.code).order_by(Event.c.id)).all() == ["HELD"] * 5 + ["RELEASED"]
        assert examine(conn) == []


def test_a_part_goes_on_only_if_the_whole_does(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "luke")
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2, clusters=("dahu", "luke"))
        (job,) = submitted_jobs(conn, campaign, cluster, 1)
        hold_campaign(conn, campaign, ALICE)
        hold_job(conn, job, ALICE)
        way_on = f"`gridresume {campaign}` lets campaign {campaign} go on"
        with pytest.raises(CigriError, match=way_on):
            resume_job(conn, job, ALICE)
        with pytest.raises(CigriError, match=way_on):
            resume_campaign(conn, campaign, ALICE, cluster="dahu")
        resume_campaign(conn, campaign, ALICE)
        hold_campaign(conn, campaign, ALICE, cluster="dahu")
        with pytest.raises(CigriError, match=f"campaign {campaign} is not held there"):
            resume_campaign(conn, campaign, ALICE, cluster="luke")
        with pytest.raises(CigriError, match="it is held with its campaign"):
            resume_job(conn, job, ALICE)
        resume_campaign(conn, campaign, ALICE, cluster="dahu")
        with pytest.raises(CigriError, match=r"is not held$"):
            resume_job(conn, job, ALICE)
        with pytest.raises(CigriError, match=r"is not held$"):
            resume_campaign(conn, campaign, ALICE)


def test_nobody_holds_what_is_somebody_elses(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        (job,) = submitted_jobs(conn, campaign, cluster, 1)
        hold_campaign(conn, campaign, ROOT)
        for act in (hold_campaign, resume_campaign):
            with pytest.raises(NotFound, match=f"you have no campaign {campaign}"):
                act(conn, campaign, BOB)
        for deed in (hold_job, resume_job):
            with pytest.raises(NotFound, match=f"you have no job {job}"):
                deed(conn, job, BOB)
        assert wishes(conn) == [(campaign, None, None, False)]


def test_what_is_over_or_elsewhere_is_not_held(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "luke")
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (job,) = submitted_jobs(conn, campaign, cluster, 1)
        with pytest.raises(NotFound, match="does not use cluster luke; it uses dahu"):
            hold_campaign(conn, campaign, ALICE, cluster="luke")
        end_jobs(conn, cluster, [job])
        with pytest.raises(CigriError, match=f"job {job} has ended already"):
            hold_job(conn, job, ALICE)
        cancel_campaign(conn, campaign, ALICE)
        with pytest.raises(CigriError, match=f"campaign {campaign} is cancelled"):
            hold_campaign(conn, campaign, ALICE)


def test_no_new_jobs_of_a_held_share(database: Database) -> None:
    with database.begin() as conn:
        luke, dahu = a_cluster(conn, "luke"), a_cluster(conn)
        campaign, other = (a_campaign(conn, 9, clusters=("dahu", "luke")) for _ in range(2))
        for cluster in (luke, dahu):
            put_jobs(conn, campaign, [NewJob(cluster, 1, 60, take_waiting(conn, campaign, 1))])
        hold_campaign(conn, campaign, ALICE, cluster="dahu")
        wanted = [(want.campaign_id, want.cluster_id) for want in list_cluster_demands(conn, 10, 60.0)]
        assert wanted == [(campaign, luke), (other, luke), (other, dahu)]
        assert [len(list_launches(conn, cluster, 9, 9)) for cluster in (luke, dahu)] == [1, 0]
        assert put_back_unlaunched(conn, JobSettings()) == 1
        conn.execute(text("UPDATE campaign_clusters SET prologue = 'waiting'"))
        assert put_prologues(conn) == 3
        assert examine(conn) == []


def test_a_held_job_that_was_not_launched_yet_keeps_its_place_here(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, 2)])
        hold_job(conn, 1, ALICE)
        (launch,) = list_launches(conn, cluster, 9, 9)
        assert [job.id for job in launch.jobs] == [2]
        assert put_back_unlaunched(conn, JobSettings()) == 0
        assert put_batch(conn, launch, cluster, grid_key(conn)) is not None
        resume_job(conn, 1, ALICE)
        (launch,) = list_launches(conn, cluster, 9, 9)
        assert [job.id for job in launch.jobs] == [1]


def test_held_jobs_are_in_nobodys_way(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 5), cluster, 5)
        conn.execute(text("UPDATE jobs SET halted_since = now() WHERE id <= 3"))
        (room,) = list_schedulable_clusters(conn)
        assert (room.waiting, count_waiting(conn, cluster)) == (2, 2)


def test_only_what_is_not_as_wished_is_told(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 4), a_campaign(conn, 1)
        waiting, running, killed, unknown = submitted_jobs(conn, campaign, cluster, 4)
        submitted_jobs(conn, other, cluster, 1)
        run_jobs(conn, [running])
        assert not has_suspensions(conn)
        hold_campaign(conn, campaign, ALICE)
        conn.execute(text(f"UPDATE jobs SET remote_id = NULL WHERE id = {unknown}"))
        conn.execute(
            text(f"INSERT INTO kills (job_id, reason, asked_at, asked_by) VALUES ({killed}, 'user', now(), 'a')")
        )
        assert has_suspensions(conn)
        assert ordered(conn, cluster) == {waiting: True, running: True}
        assert ordered(conn, cluster) == {}
        run_jobs(conn, [waiting])  # it slipped through: now it is to be suspended
        assert ordered(conn, cluster) == {waiting: True}
        hold_campaign(conn, campaign, ALICE, waiting_only=True)
        assert ordered(conn, cluster) == {waiting: False, running: False}
        cancel_campaign(conn, campaign, ALICE)
        conn.execute(text("UPDATE jobs SET state = 'ended', outcome = 'killed', ended_at = now()"))
        assert ordered(conn, cluster) == {}
        assert not has_suspensions(conn)
