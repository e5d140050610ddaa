"""Where tasks go of which it is known how long they take; pure."""

from math import inf

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.expected_durations import match_tasks
from cigri.flow.tasks import Backlog
from cigri.flow.views.job_sizing import DurationStatistics, LiveJobTotals
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from modules import campaign_schedulers, metascheduler, predictor
from modules.campaign_schedulers.jobs.completion_model import CompletionModel
from modules.campaign_schedulers.jobs.longest_first import OfferedJobs, allot_longest_first, earliest_end
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs
from tests.modules.test_finalize import a_try

pytestmark = pytest.mark.noon


def a_ground(
    id: int, speed: float | None, *, delay: float = 0.0, hazard: float = 0.0, walltime: int = 10_000
) -> DurationStatistics:
    """Nothing has been done there yet."""
    return DurationStatistics(id, 1, walltime, 0, 0.0, (), delay, hazard, speed)


SLOW, FAST = a_ground(1, 0.5), a_ground(2, 2.0)
BOTH = {1: OfferedJobs(9, 9), 2: OfferedJobs(9, 9)}


def test_the_campaign_ends_when_its_work_is_done_by_all_cores() -> None:
    """20 tasks of 100 s, of which 300 s at speed 1 are done, on 10 cores that do 5 and 8 that do 16 seconds in one."""
    crews = {1: LiveJobTotals(4, 200.0, 0, 6), 2: LiveJobTotals(8, 100.0, 0, 0)}
    backlog = Backlog(20, 10, 1000.0, 100.0)
    end = earliest_end(CompletionModel([SLOW, FAST]), crews, backlog, {1, 2})
    assert end == pytest.approx((20 * 100 - 200 * 0.5 - 100 * 2) / (10 * 0.5 + 8 * 2))


def test_it_ends_no_earlier_than_its_longest_task_on_the_fastest_cluster_that_it_has() -> None:
    crews = {1: LiveJobTotals(0, 0.0, 0, 90), 2: LiveJobTotals(0, 0.0, 0, 90)}
    backlog = Backlog(20, 20, 2000.0, 1500.0)
    outlook = CompletionModel([SLOW, FAST])
    assert earliest_end(outlook, crews, backlog, {1, 2}) == 1500 / 2
    assert earliest_end(outlook, crews, backlog, {1}) == 1500 / 0.5
    assert earliest_end(outlook, crews, backlog, ()) == inf


def test_each_cluster_takes_what_ends_there_before_the_campaign_does_and_the_fastest_everything() -> None:
    crews = {1: LiveJobTotals(0, 0.0, 0, 9), 2: LiveJobTotals(0, 0.0, 0, 9)}
    found = allot_longest_first(CompletionModel([SLOW, FAST]), crews, Backlog(20, 20, 2000.0, 1500.0), BOTH)
    assert [portion[:2] for portion in found] == [(2, 9), (1, 9)]
    assert [portion.longest for portion in found] == pytest.approx([1500, 0.5 * 750])


@pytest.mark.parametrize(
    ("ground", "expected"),
    [
        (a_ground(1, 0.5, delay=250.0), 0.5 * 500),
        (a_ground(1, 0.5, walltime=300), 0.5 * 300),
        (a_ground(1, 0.5, hazard=0.01), 0.5 * 214),
        (a_ground(1, 0.5, delay=900.0), 0.0),
    ],
    ids=["jobs wait there", "a short walltime", "jobs are killed there", "nothing ends there in time"],
)
def test_what_else_keeps_a_task_from_ending_in_time(ground: DurationStatistics, expected: float) -> None:
    crews = {1: LiveJobTotals(0, 0.0, 0, 9), 2: LiveJobTotals(0, 0.0, 0, 9)}
    _, slow = allot_longest_first(CompletionModel([ground, FAST]), crews, Backlog(20, 20, 2000.0, 1500.0), BOTH)
    assert max(slow.longest, 0.0) == pytest.approx(expected, rel=0.01)


def test_what_waits_in_a_queue_ends_later_but_the_longest_go_to_the_best_cluster_all_the_same() -> None:
    """On 9 cores of the slow cluster 9 tasks run and 18 wait or are sent: two go before the last of them."""
    crews = {1: LiveJobTotals(6, 0.0, 12, 3), 2: LiveJobTotals(9, 0.0, 18, 0)}
    backlog = Backlog(20, 20, 2000.0, 1500.0)
    found = allot_longest_first(
        CompletionModel([SLOW, FAST]), crews, backlog, {1: OfferedJobs(9, 3), 2: OfferedJobs(9, 0)}
    )
    assert [portion[:2] for portion in found] == [(1, 3), (2, 9), (1, 6)]
    assert [portion.longest for portion in found] == pytest.approx([0.5 * 750, 1500, 0.5 * 750 / 3])


def test_a_known_task_is_expected_to_last_as_before_until_it_has_lasted_a_quarter_longer() -> None:
    outlook = CompletionModel([SLOW, FAST])
    assert outlook.remaining(a_try(ran=100.0)._replace(expected=400.0)) == pytest.approx(400 / 0.5 - 100)
    assert outlook.remaining(a_try(cluster=2, ran=100.0)._replace(expected=400.0)) == pytest.approx(400 / 2 - 100)
    assert outlook.remaining(a_try(cluster=2, ran=240.0)._replace(expected=400.0)) == 0.0
    assert outlook.remaining(a_try(cluster=2, ran=260.0)._replace(expected=400.0)) == pytest.approx(260.0)


def test_the_longest_go_to_the_fast_cluster_and_none_where_it_would_end_last(database: Database) -> None:
    """Ten times as fast: though as many could begin on the slow one, it takes only tasks that are short."""
    with database.begin() as conn:
        slow, fast = a_cluster(conn, free=4), a_cluster(conn, "luke", free=4)
        first = a_campaign(conn, 40, clusters=("dahu", "luke"))
        for cluster, each in ((slow, 100.0), (fast, 10.0)):
            for work in range(1, 21):
                end_jobs(conn, cluster, submitted_jobs(conn, first, cluster, 1), seconds=each * work)
        again = a_campaign(conn, 40, clusters=("dahu", "luke"))
        match_tasks(conn)
    tools = PassContext(database, Settings(), TransportGateway())
    for module in (predictor, metascheduler, campaign_schedulers):
        module.run_once(tools)
    with database.begin() as conn:
        statement = "SELECT j.cluster_id, t.expected FROM tasks t JOIN attempts a ON a.task_id = t.id"
        found = conn.execute(text(f"{statement} JOIN jobs j ON j.id = a.job_id WHERE t.campaign_id = {again}")).all()
        usual = conn.scalar(text(f"SELECT avg(expected) FROM tasks WHERE campaign_id = {again}"))
    begun = [[seconds / usual for cluster, seconds in found if cluster == one] for one in (slow, fast)]
    assert len(begun[0]) >= 4
    assert max(begun[0]) < 1 < min(begun[1])
    assert max(begun[1]) > 1.8
