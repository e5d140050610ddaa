"""When prologues and epilogues are due, and when a campaign is over."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection, select, update

from cigri.database import Database
from cigri.flow.batches import put_batch
from cigri.flow.campaigns import close_campaigns
from cigri.flow.cancellations import kill_job
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import enable_cluster, find_cluster
from cigri.flow.error_budgets import put_refusal
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.grid_identity import grid_key
from cigri.flow.holds import hold_campaign
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.prologues_and_epilogues import put_epilogues, put_prologues
from cigri.flow.tasks import take_waiting
from cigri.flow.withdrawals import return_tasks
from cigri.settings.sections import BudgetSettings, JobSettings
from cigri.states import CampaignState, EventLevel, JobKind, JobState, Outcome, StepState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.jobs import Job
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

HOUR = timedelta(hours=1)


def with_steps(conn: Connection, campaign: int, **settings: int) -> None:
    part = CampaignCluster
    own = {"walltime": 3600, "retries": 0, **settings}
    steps = {"prologue": StepState.WAITING, "epilogue": StepState.WAITING, "settings": own}
    conn.execute(update(part).where(part.c.campaign_id == campaign).values(steps))


def step_jobs(conn: Connection) -> list[tuple[JobKind, int, int]]:
    found = conn.execute(
        select(Job.c.kind, Job.c.cluster_id, Job.c.walltime).where(Job.c.kind != JobKind.TASKS).order_by(Job.c.id)
    )
    return [(row.kind, row.cluster_id, row.walltime) for row in found]


def test_each_cluster_gets_one_prologue_with_its_own_walltime(database: Database) -> None:
    with database.begin() as conn:
        clusters = [a_cluster(conn, name) for name in ("dahu", "luke")]
        with_steps(conn, a_campaign(conn, 1, clusters=("dahu", "luke")), prologue_walltime=77)
        assert put_prologues(conn) == 2
        assert put_prologues(conn) == 0
        assert step_jobs(conn) == [(JobKind.PROLOGUE, cluster, 77) for cluster in clusters]


def test_a_step_without_a_walltime_has_that_of_the_tasks(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        with_steps(conn, a_campaign(conn, 1))
        put_prologues(conn)
        assert step_jobs(conn) == [(JobKind.PROLOGUE, cluster, 3600)]


def test_no_prologue_where_no_task_waits(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        empty, over = a_campaign(conn, 0), a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, over, cluster, 1))
        with_steps(conn, empty)
        with_steps(conn, over)
        assert put_prologues(conn) == 0


@pytest.mark.parametrize("why", ["disabled", "failing", "set aside", "held"])
def test_no_step_on_a_cluster_that_cannot_take_it(database: Database, why: str) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        fresh, over = a_campaign(conn, 1), a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, over, cluster, 1))
        for campaign in (fresh, over):
            with_steps(conn, campaign)
            if why == "set aside":
                put_refusal(conn, campaign, cluster, "dahu", "no", BudgetSettings())
            elif why == "held":
                hold_campaign(conn, campaign, ALICE)
        row = find_cluster(conn, "dahu")
        assert row is not None
        if why == "disabled":
            enable_cluster(conn, "dahu", enabled=False)
        elif why == "failing":
            put_failure(conn, row, "CLUSTER_UNREACHABLE", "no")
        assert (put_prologues(conn), put_epilogues(conn), close_campaigns(conn)) == (0, 0, 0)
        if why == "set aside":
            set_time(conn, NOON + HOUR)
            assert (put_prologues(conn), put_epilogues(conn)) == (1, 1)


def test_the_epilogue_waits_for_the_last_task_and_keeps_the_campaign_open(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        with_steps(conn, campaign, epilogue_walltime=55)
        conn.execute(update(CampaignCluster).values(prologue=StepState.DONE))
        first, last = submitted_jobs(conn, campaign, cluster, 2)
        end_jobs(conn, cluster, [first])
        assert put_epilogues(conn) == 0
        end_jobs(conn, cluster, [last])
        assert put_epilogues(conn) == 1
        assert put_epilogues(conn) == 0
        assert step_jobs(conn) == [(JobKind.EPILOGUE, cluster, 55)]
        assert close_campaigns(conn) == 0
        conn.execute(update(CampaignCluster).values(epilogue=StepState.DONE))
        assert close_campaigns(conn) == 1


@pytest.mark.parametrize("how", ["never launched", "refused"])
def test_no_epilogue_where_nothing_ran(database: Database, how: str) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 2, clusters=("dahu", "luke"))
        put_jobs(conn, campaign, [NewJob(luke, 1, 60, take_waiting(conn, campaign, 1))])
        (launch,) = list_launches(conn, luke, 9, 9)
        if how == "refused":
            batch = put_batch(conn, launch, luke, grid_key(conn))
            assert batch is not None
            return_tasks(conn, luke, batch.id, Outcome.REFUSED, "no", JobSettings())
            put_refusal(conn, campaign, luke, "luke", "no", BudgetSettings())
            end_jobs(conn, dahu, submitted_jobs(conn, campaign, dahu, 2))
        else:
            kill_job(conn, launch.jobs[0].id, ALICE)
            end_jobs(conn, dahu, submitted_jobs(conn, campaign, dahu, 1))
        with_steps(conn, campaign)
        assert put_epilogues(conn) == 1
        assert [cluster for _, cluster, _ in step_jobs(conn)] == [dahu]
        states = conn.execute(select(CampaignCluster.c.epilogue).order_by(CampaignCluster.c.cluster_id)).scalars()
        assert list(states) == [StepState.RUNNING, StepState.DONE]


@pytest.mark.parametrize("code", ["TASK_FAILED", "EPILOGUE_FAILED"])
def test_a_campaign_stays_open_until_its_failures_are_dealt_with(database: Database, code: str) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        put_events(conn, [NewEvent(code, EventLevel.ERROR, "it", "no", campaign, cluster)])
        assert close_campaigns(conn) == 0
        close_events(conn, [code], ["it"], "alice")
        assert close_campaigns(conn) == 1
        row = conn.execute(select(Campaign.c.state, Campaign.c.ended_at)).one()
        assert tuple(row) == (CampaignState.TERMINATED, NOON)


def test_a_campaign_with_a_live_job_is_not_over(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        submitted_jobs(conn, campaign, cluster, 1)
        assert close_campaigns(conn) == 0
        assert set(conn.scalars(select(Job.c.state))) == {JobState.SUBMITTED}
