"""How many jobs that ask for the same may wait: each sentence of open-lmake's on n_max_queued_jobs is a test."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, text, update

from cigri.database import Database
from cigri.flow.offers import ClaimedOffer
from cigri.flow.pending_reasons import NewPendingReason, list_cuts
from cigri.flow.tasks import WaitingTask
from cigri.flow.views.cluster_demands import ClusterDemand, list_cluster_demands
from cigri.flow.views.queued_jobs import QueuedJobCounts
from cigri.flow.views.schedulable_clusters import SchedulableCluster, list_schedulable_clusters
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import PolicySettings, Settings
from cigri.states import CampaignType, JobState, PendingReasonCode
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from modules import campaign_schedulers, metascheduler
from modules.campaign_schedulers import assign
from modules.campaign_schedulers.jobs.grouping import JobSize
from modules.campaign_schedulers.jobs.queue_budget import QueueBudget, QueueOccupancy
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import load
from modules.metascheduler.progressive_filling import share_clusters
from modules.metascheduler.remaining_capacity import RemainingCapacity
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, submitted_jobs
from tests.modules.test_metascheduler_share import a_want, claims_of

pytestmark = pytest.mark.noon

CONFIG = ClusterConfig(driver="local", keep_waiting=100, max_waiting=100)
SETTINGS = Settings(policy=PolicySettings(scouts=0))


def a_room(free: int = 0, waiting: int = 0, running: int = 0, starts: float = 0.0, **config: int) -> SchedulableCluster:
    """What waits asks for the same as campaign 1."""
    about = (free, waiting, running, waiting, 100_000, 1.0, "", starts)
    return SchedulableCluster(1, "c1", CONFIG.model_copy(update=config), *about, queued_by_request={1: waiting})


def shared(room: SchedulableCluster, *wants: ClusterDemand) -> RemainingCapacity:
    return share_clusters([room], wants, claims_of(wants), SETTINGS.policy)


def given_jobs(room: SchedulableCluster, *wants: ClusterDemand) -> int:
    return sum(shared(room, *wants).given.values())


def test_the_default_is_10() -> None:
    assert ClusterConfig(driver="local").n_max_queued_jobs == 10


def test_only_a_few_jobs_are_submitted_for_each_set_of_asked_resources() -> None:
    assert given_jobs(a_room(), a_want(waiting=1_000_000)) == 10
    assert given_jobs(a_room(), a_want(1), a_want(2)) == 20
    assert given_jobs(a_room(), a_want(1), a_want(2)._replace(request_hashes=(1,))) == 10
    assert given_jobs(a_room(), a_want()._replace(request_hashes=(1, 2, 3))) == 30
    assert (
        given_jobs(a_room(), a_want()._replace(request_hashes=(1, 2)), a_want(2)._replace(request_hashes=(2, 3))) == 30
    )


def test_what_others_have_waiting_counts_if_it_asks_for_the_same() -> None:
    assert given_jobs(a_room(waiting=7), a_want(2)._replace(request_hashes=(1,))) == 3
    assert given_jobs(a_room(waiting=7), a_want(2)) == 10


@pytest.mark.parametrize(("order", "given"), [("fifo", {1: 10}), ("fairshare", {1: 5, 2: 5})])
def test_the_places_are_given_in_the_order_of_the_policy(order: str, given: dict[int, int]) -> None:
    wants = [a_want(1), a_want(2)._replace(request_hashes=(1,))]
    stock = share_clusters([a_room()], wants, claims_of(wants), SETTINGS.policy, load(order))
    assert {campaign: jobs for (campaign, _), jobs in stock.given.items()} == given


def test_this_attribute_specifies_the_number_of_waiting_jobs_for_each_set_of_resources() -> None:
    assert given_jobs(a_room(n_max_queued_jobs=4), a_want()) == 4
    assert given_jobs(a_room(waiting=4, n_max_queued_jobs=4), a_want()._replace(live=4, queued=4)) == 0
    three = a_room(waiting=4, n_max_queued_jobs=4)._replace(queued_by_request={1: 3, 2: 1})
    assert given_jobs(three, a_want()._replace(live=9, queued=3)) == 1


def test_the_number_of_running_jobs_is_not_limited() -> None:
    running = a_want()._replace(live=5000)
    assert given_jobs(a_room(running=5000), running) == 10
    assert given_jobs(a_room(free=90), a_want()) == 100  # those that start at once do not wait


def test_what_waits_for_free_cores_that_it_will_have_at_once_is_not_limited() -> None:
    assert given_jobs(a_room(free=50, waiting=30), a_want()._replace(live=30, queued=30)) == 30


def test_whatever_is_forecast_no_more_wait() -> None:
    assert given_jobs(a_room(), a_want(send=50)) == 10
    assert given_jobs(a_room(free=5), a_want(send=50)) == 15
    assert given_jobs(a_room(keep_waiting=0), a_want(keep=60)) == 10


def test_lest_the_cluster_exhausts_its_queue_twice_what_starts_in_a_cycle_may_wait() -> None:
    assert given_jobs(a_room(starts=12.3), a_want()) == 25
    assert given_jobs(a_room(starts=2.0), a_want()) == 10


def test_lest_the_daemon_is_overloaded_it_is_never_more_than_max_waiting() -> None:
    assert given_jobs(a_room(starts=1000.0, max_waiting=60), a_want()) == 60
    assert given_jobs(a_room(max_waiting=7), a_want()) == 7


def test_a_test_campaign_has_its_one_job_whatever_waits() -> None:
    test = a_want(type=CampaignType.TEST, waiting=3)._replace(queued=10)
    assert given_jobs(a_room(waiting=10), test) == 1


def test_it_is_told_why_no_more_is_sent() -> None:
    (cut,) = explain(shared(a_room(waiting=8), a_want()._replace(live=8, queued=8)))
    assert cut == NewPendingReason(1, 1, PendingReasonCode.MAX_QUEUED, "", 10, 10)
    (cut,) = explain(shared(a_room(keep_waiting=5), a_want()))
    assert cut.reason is PendingReasonCode.FULL


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 30), st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_of_nothing_that_is_asked_for_more_waits_than_may(free: int, others: int, most: int, queued: list[int]) -> None:
    """Campaigns 1 and 11 ask for the same, and so on."""
    known = dict(enumerate(queued, start=1))
    wants = [a_want(more + number)._replace(request_hashes=(number,)) for number in known for more in (0, 10)]
    waiting, sent = others + sum(queued), Counter[int]()
    stock = shared(a_room(free, waiting, n_max_queued_jobs=most)._replace(queued_by_request=known), *wants)
    before, cluster = max(0, waiting - free), stock.clusters[1]
    for offer in stock.offers():
        sent[offer.campaign_id % 10] += offer.jobs - offer.at_once
    for want in wants:
        behind = cluster.behind_of(want.request_hashes)
        number = want.request_hashes[0]
        assert behind == min(known[number], before) + sent[number], "what was given counts"
        assert behind <= max(most, min(known[want.request_hashes[0]], before))
        assert stock.given_to(want) == 0 or behind <= most
    added = cluster.queued_behind - before
    assert sum(stock.given.values()) == added + min(sum(stock.given.values()), max(0, free - waiting))


def test_only_the_jobs_with_the_highest_priorities_are_submitted_the_others_are_retained(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        campaign = a_campaign(conn, 300)
        conn.execute(update(Task).where(Task.c.number >= 295).values(priority=20))
    tools = PassContext(database, SETTINGS, TransportGateway())
    for _ in range(3):
        metascheduler.run_once(tools)
        campaign_schedulers.run_once(tools)
    with database.begin() as conn:
        sent = select(Task.c.number).join(Attempt, Attempt.c.task_id == Task.c.id).order_by(Task.c.number)
        assert conn.scalars(sent).all() == [0, 1, 2, 3, 4, 295, 296, 297, 298, 299]
        (cut,) = list_cuts(conn, campaign)
        assert (cut.reason, cut.used, cut.most) == (PendingReasonCode.MAX_QUEUED, 10, 10)


def test_what_waits_and_what_starts_in_a_cycle_is_measured(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 9)
        assert [room.expected_starts for room in list_schedulable_clusters(conn)] == [0.0]
        run_jobs(conn, submitted_jobs(conn, campaign, cluster, 6)[:2])
        conn.execute(update(Job).where(Job.c.state == JobState.SUBMITTED, Job.c.id < 4).values(halted_since=NOON))
        conn.execute(
            text("INSERT INTO cluster_forecasts (cluster_id, at, start_rate, cycle) VALUES (:id, now(), 1.5, 20)"),
            {"id": cluster},
        )
        (want,) = list_cluster_demands(conn, 10, 60.0)
        assert (want.live, want.queued) == (6, 3)
        assert [room.expected_starts for room in list_schedulable_clusters(conn)] == [pytest.approx(30.0)]


ASKED = {1: 10, 2: 20}
"""By bucket."""


def queues_of(
    offered: dict[int, ClaimedOffer], queued: dict[int, dict[int, int]], asked: dict[int, int] = ASKED
) -> QueueBudget:
    """Where so many jobs wait on clusters, by what they ask for."""
    known = {cluster: QueuedJobCounts(sum(jobs.values()), jobs) for cluster, jobs in queued.items()}
    return QueueBudget(offered, asked, QueueOccupancy(known))


def test_what_one_campaign_has_taken_the_next_one_does_not_get() -> None:
    waiting, offered = QueueOccupancy({}), offers(at_once=0)
    first, second = QueueBudget(offered, ASKED, waiting), QueueBudget(offered, {7: 10}, waiting)
    first.take(1, 1, 4)
    assert second.room(7, 1) == 5  # it is not made yet, and may never be
    first.keep()
    assert (second.room(7, 1), second.room(7, 2)) == (1, 5)


def test_a_test_has_its_job_whatever_waits_there() -> None:
    test = offers(at_once=0)[1]._replace(type=CampaignType.TEST, jobs=1)
    assert queues_of({1: test}, {1: {10: 99}}).room(1, 1) == 1


def offers(*, at_once: int = 3) -> dict[int, ClaimedOffer]:
    """Of clusters 1 and 2: 20 jobs, of which so many can start at once on the first; 5 of each kind may wait."""
    one = ClaimedOffer(1, 1, 20, 1, 60, "workqueue", CampaignType.DEFAULT, at_once=at_once, most_queued=5)
    return {1: one, 2: one._replace(cluster_id=2, at_once=0)}


def test_of_several_buckets_none_has_more_waiting_than_it_may() -> None:
    here = {1: offers()[1]}
    tasks = [WaitingTask(number, 1 + number % 2, 0, 10) for number in range(40)]

    def given_of(queued: dict[int, int], asked: dict[int, int] = ASKED, starting: int = 0) -> Counter[int]:
        there = {1: here[1]._replace(starting=starting)}
        made = assign(tasks, there, {1: JobSize()}, (), queues_of(there, {1: queued}, asked))
        return Counter(job.tasks[0].bucket_id for job in made)

    assert given_of({}) == {1: 8, 2: 5}
    assert given_of({10: 4, 20: 9}) == {1: 4}
    assert given_of({10: 9, 20: 2}) == {1: 3, 2: 3}
    assert given_of({10: 9}, starting=6) == {1: 5, 2: 5}  # so many of those that wait find a core
    assert given_of({10: 4, 20: 4}, {1: 10, 2: 10}) == {1: 4}


def test_a_bucket_that_waits_on_one_cluster_goes_to_another() -> None:
    queues = queues_of(offers(at_once=0), {1: {10: 5, 20: 4}})
    assert queues.full() == {(1, 1)}
    tasks = [WaitingTask(number, 1, 0, 10) for number in range(9)]
    made = assign(tasks, offers(at_once=0), {1: JobSize(), 2: JobSize()}, (), queues)
    assert [job.cluster_id for job in made] == [2] * 5
    assert queues.full() == {(1, 1), (1, 2)}


def test_a_job_that_runs_several_tasks_side_by_side_waits_for_as_many_cores() -> None:
    queues = queues_of(offers(at_once=2), {1: {10: 3}})
    tasks = [WaitingTask(number, 1, 0, 10) for number in range(20)]
    made = assign(tasks, {1: offers(at_once=2)[1]}, {1: JobSize(2, 2)}, (), queues)
    assert [len(job.tasks) for job in made] == [2, 2]


def test_a_bucket_that_waits_does_not_keep_others_waiting(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        a_campaign(conn, 300)
        conn.execute(text("INSERT INTO buckets (campaign_id, requirements) VALUES (1, '{\"a\": 1}')"))
        conn.execute(update(Task).where(Task.c.number >= 200).values(bucket_id=2))
    tools = PassContext(database, SETTINGS, TransportGateway())
    waiting = []
    for _ in range(4):
        metascheduler.run_once(tools)
        campaign_schedulers.run_once(tools)
        with database.begin() as conn:
            found = conn.execute(select(Job.c.bucket_id, func.count()).group_by(Job.c.bucket_id))
            waiting.append({bucket: number for bucket, number in found})
    assert waiting[0] == {1: 10}
    assert waiting[1:] == [{1: 10, 2: 10}] * 3
