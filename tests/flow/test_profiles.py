"""What tasks used is added up with their ends, and told by cluster."""

from sqlalchemy import Connection

from cigri.api_models.campaigns import CampaignClusterView
from cigri.database import Database
from cigri.flow.ends import put_ended
from cigri.flow.profiles import TaskResourceUse
from cigri.flow.views.campaigns import list_parts
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.states import Outcome, TaskState
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
