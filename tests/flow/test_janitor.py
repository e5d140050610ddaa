"""What becomes old leaves, and what was is still known."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.archive import archive_campaign, forget, list_leftovers, list_old_campaigns, put_purged
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.cancellations import count_remaining
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.views.invariants import examine
from cigri.states import EventLevel, Outcome, TaskState
from cigri.tables.campaigns import Bucket, Campaign, Completion
from cigri.tables.clusters import ClusterUsage
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task, TaskHistory
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

DAY = timedelta(days=1)


def test_the_history_has_one_row_per_task_with_its_last_attempt(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 4), a_campaign(conn, 2)
        first = submitted_jobs(conn, campaign, cluster, 3)
        end_jobs(conn, cluster, first[:1])
        end_jobs(conn, cluster, first[1:2], Outcome.FAILURE, exit_code=9)
        end_jobs(conn, cluster, first[2:], Outcome.PREEMPTED, exit_code=None)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), seconds=3.0)
        submitted_jobs(conn, other, cluster, 1)
        cancel_campaign(conn, campaign, ALICE)
        before = count_remaining(conn, campaign)
        assert archive_campaign(conn, campaign) == 4
        row = TaskHistory
        columns = (
            row.c.number,
            row.c.state,
            row.c.attempts,
            row.c.exit_code,
            row.c.seconds,
            row.c.cluster_id,
            row.c.parameter,
        )
        found = conn.execute(select(*columns).order_by(row.c.number)).all()
        assert [tuple(one) for one in found] == [
            (0, TaskState.DONE, 1, 0, 10.0, cluster, "0"),
            (1, TaskState.CANCELLED, 1, 9, 10.0, cluster, "1"),
            (2, TaskState.DONE, 2, 0, 3.0, cluster, "2"),
            (3, TaskState.CANCELLED, 0, None, None, None, "3"),
        ]
        for table in (Task, Job, Batch, Bucket, Completion):
            left = select(func.count()).select_from(table).where(table.c.campaign_id == campaign)
            assert conn.execute(left).scalar_one() == 0, table
        assert len(conn.scalars(select(Attempt.c.task_id)).all()) == 1
        assert count_remaining(conn, campaign) == before == ({TaskState.DONE: 2, TaskState.CANCELLED: 2}, 0)
        assert count_remaining(conn, other) == ({TaskState.WAITING: 1, TaskState.ASSIGNED: 1}, 1)
        assert examine(conn) == []


def test_only_what_ended_long_ago_is_old(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        old, fresh, live = a_campaign(conn, 1), a_campaign(conn, 1), a_campaign(conn, 1)
        for campaign in (old, fresh):
            end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        submitted_jobs(conn, live, cluster, 1)
        assert close_campaigns(conn) == 2
        cancel_campaign(conn, live, ALICE)  # its job lives on for a while
        later = NOON + 10 * DAY
        conn.execute(update(Campaign).where(Campaign.c.id == fresh).values(ended_at=later - 9 * DAY))
        set_time(conn, later)
        assert [left.campaign_id for left in list_leftovers(conn, 9.5)] == [old]
        put_purged(conn, [old])
        assert list_leftovers(conn, 9.5) == []
        assert list_old_campaigns(conn, 9.5) == [old]
        archive_campaign(conn, old)
        assert list_old_campaigns(conn, 9.5) == []


def test_old_usage_and_old_closed_events_are_forgotten(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        conn.execute(update(ClusterUsage).values(at=NOON))
        set_time(conn, NOON + 5 * DAY)
        put_cluster_state(conn, cluster, Capacity(1, 1, 0, 0), 0)
        for subject, at in (("old", NOON), ("fresh", NOON + 5 * DAY), ("open", NOON)):
            set_time(conn, at)
            put_events(conn, [NewEvent("X", EventLevel.ERROR, subject, "m")])
            if subject != "open":
                close_events(conn, ["X"], [subject], "root")
        set_time(conn, NOON + 6 * DAY)
        assert forget(conn, 3.0, 3.0) == 2
        assert list(conn.scalars(select(ClusterUsage.c.at))) == [NOON + 5 * DAY]
        assert sorted(conn.scalars(select(Event.c.subject))) == ["fresh", "open"]
        assert forget(conn, 3.0, 3.0) == 0
