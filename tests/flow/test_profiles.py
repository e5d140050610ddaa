"""What tasks used is added up with their ends, and told by cluster."""

import pytest
from sqlalchemy import Connection, cast, select, update
from sqlalchemy.dialects.postgresql import JSONB

from cigri.api_models.campaigns import CampaignClusterView
from cigri.database import Database
from cigri.flow.ends import put_ended
from cigri.flow.profiles import TaskResourceUse
from cigri.flow.views.campaigns import list_parts
from cigri.formats.units import MEGABYTE
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.states import Outcome, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.jobs import Attempt
from tests.factories import a_campaign, a_cluster, submitted_jobs
from tests.flow.test_ends import the_end

FAILED = TaskVerdict(TaskState.FAILED, 10, failures=1)


def end(
    conn: Connection, cluster: int, job: int, used: TaskResourceUse | None, outcome: Outcome = Outcome.SUCCESS
) -> None:
    verdict = [] if outcome is Outcome.SUCCESS else [FAILED]
    attempts, jobs = the_end(conn, job, outcome, *verdict)
    put_ended(conn, cluster, [attempt._replace(used=used) for attempt in attempts], jobs)


def told(conn: Connection, campaign: int) -> CampaignClusterView:
    [part] = list_parts(conn, [campaign])
    return part


def test_successful_tasks_that_tell_are_added_up(database: Database) -> None:
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 5)
        jobs = submitted_jobs(conn, campaign, cluster, 5)
        assert (told(conn, campaign).profiled, told(conn, campaign).busy, told(conn, campaign).most_cpu) == (
            0,
            None,
            None,
        )
        end(conn, cluster, jobs[0], TaskResourceUse(10.0, 5.0, 1000, 1e15))
        end(conn, cluster, jobs[1], TaskResourceUse(30.0, 25.0, 3000, 0))
        end(conn, cluster, jobs[2], None)
        end(conn, cluster, jobs[3], TaskResourceUse(99.0, 99.0, 1e9, 1e9), Outcome.FAILURE)
        part = told(conn, campaign)
        assert (part.done, part.failed, part.profiled) == (3, 1, 2)
        assert (part.cpu, part.most_cpu, part.busy) == (15.0, 25.0, 0.75)
        assert (part.bytes_read, part.most_read) == (2000, 3000)
        assert (part.bytes_written, part.most_written) == (5e14, 1e15)


def test_an_end_that_is_told_twice_counts_once(database: Database) -> None:
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 1)
        [job] = submitted_jobs(conn, campaign, cluster, 1)
        for _ in range(2):
            end(conn, cluster, job, TaskResourceUse(10.0, 5.0, 1, 1))
        assert (told(conn, campaign).profiled, told(conn, campaign).cpu) == (1, 5.0)


def test_tasks_of_no_length_keep_no_core_busy(database: Database) -> None:
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 1)
        [job] = submitted_jobs(conn, campaign, cluster, 1)
        end(conn, cluster, job, TaskResourceUse(0.0, 0.0, 0, 0))
        part = told(conn, campaign)
        assert (part.profiled, part.cpu, part.busy) == (1, 0.0, None)


def peak(conn: Connection, cluster: int, job: int, size: int | None, outcome: Outcome = Outcome.SUCCESS) -> None:
    attempts, jobs = the_end(conn, job, outcome, *([] if outcome is Outcome.SUCCESS else [FAILED]))
    put_ended(conn, cluster, [attempt._replace(peak=size) for attempt in attempts], jobs)


def test_the_peak_of_all_attempts_is_told_and_null_is_not_0(database: Database) -> None:
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 4)
        jobs = submitted_jobs(conn, campaign, cluster, 4)
        peak(conn, cluster, jobs[0], None)
        assert told(conn, campaign).most_memory is None
        peak(conn, cluster, jobs[1], 700 * MEGABYTE, Outcome.FAILURE)
        peak(conn, cluster, jobs[2], 200 * MEGABYTE)
        peak(conn, cluster, jobs[3], None)
        assert told(conn, campaign).most_memory == 700 * MEGABYTE
        seen = conn.scalars(select(Attempt.c.peak_memory).order_by(Attempt.c.task_id)).all()
        assert seen == [None, 700 * MEGABYTE, 200 * MEGABYTE, None]


@pytest.mark.parametrize(
    ("resources", "asked"),
    [({"mem": 200}, 200 * MEGABYTE), ({"mem": "{size} * 2"}, None), ({"cpu": 1}, None), ({}, None)],
)
def test_what_a_task_asks_for_is_told_where_it_is_a_number(
    database: Database, resources: dict[str, object], asked: int | None
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        settings = CampaignCluster.c.settings.concat(cast({"resources": resources}, JSONB))
        conn.execute(update(CampaignCluster).values(settings=settings))
        assert told(conn, campaign).asked_memory == asked
