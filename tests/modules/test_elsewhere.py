"""Where a task goes that has failed: to another cluster, if one has room or takes it in exchange; else it stays."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.launches import NewJob
from cigri.flow.offers import ClaimedOffer
from cigri.flow.tasks import WaitingTask, take_waiting
from cigri.flow.views.cluster_demands import ClusterDemand, list_cluster_demands
from cigri.states import CampaignType, Outcome
from modules.campaign_schedulers.jobs.retry_placement import move_failed_tasks
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.grid import Grid, local_site
from tests.localbatch.host import Host
from tests.modules.test_metascheduler_share import a_room, a_want, jobs

pytestmark = pytest.mark.noon


def an_offer(cluster_id: int, most: int) -> ClaimedOffer:
    return ClaimedOffer(1, cluster_id, most, 1, 600, "", CampaignType.DEFAULT)


def a_job(cluster_id: int, *tasks: WaitingTask) -> NewJob:
    return NewJob(cluster_id, 1, 600, tasks)


def a_task(id: int, failed_on: int | None = None, deaths: int = 0, bucket: int = 1) -> WaitingTask:
    return WaitingTask(id, bucket, 0, 10, deaths, failed_on)


def placed(made: list[NewJob]) -> list[tuple[int, list[int]]]:
    return [(job.cluster_id, [task.id for task in job.tasks]) for job in made]


def test_it_goes_where_there_is_room() -> None:
    made = move_failed_tasks([a_job(1, a_task(7, failed_on=1))], {1: an_offer(1, 1), 2: an_offer(2, 1)})
    assert placed(made) == [(2, [7])]


def test_it_changes_places_with_another_task() -> None:
    offers = {1: an_offer(1, 2), 2: an_offer(2, 1)}
    made = move_failed_tasks([a_job(1, a_task(7, failed_on=1)), a_job(1, a_task(8)), a_job(2, a_task(9))], offers)
    assert placed(made) == [(1, [9]), (1, [8]), (2, [7])]


def test_it_stays_where_nothing_else_is_open() -> None:
    offers = {1: an_offer(1, 1), 2: an_offer(2, 1)}
    assert placed(move_failed_tasks([a_job(1, a_task(7, failed_on=1))], {1: an_offer(1, 3)})) == [(1, [7])]
    other_bucket = [a_job(1, a_task(7, failed_on=1)), a_job(2, a_task(9, bucket=2))]
    assert placed(move_failed_tasks(other_bucket, offers)) == [(1, [7]), (2, [9])]


def test_two_that_failed_on_two_clusters_change_places() -> None:
    both = [a_job(1, a_task(7, failed_on=1)), a_job(2, a_task(9, failed_on=2))]
    assert placed(move_failed_tasks(both, {1: an_offer(1, 1), 2: an_offer(2, 1)})) == [(1, [9]), (2, [7])]


def test_one_that_died_with_its_job_does_not_join_others() -> None:
    grouped = [a_job(1, a_task(7, failed_on=1, deaths=1)), a_job(2, a_task(8), a_task(9))]
    assert placed(move_failed_tasks(grouped, {1: an_offer(1, 1), 2: an_offer(2, 1)})) == [(1, [7]), (2, [8, 9])]


tasks = st.lists(st.tuples(st.integers(1, 3), st.one_of(st.none(), st.integers(1, 3)), st.integers(0, 1)), max_size=12)


@given(wanted=tasks, more=st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_none_is_lost_doubled_or_above_what_was_offered(
    wanted: list[tuple[int, int | None, int]], more: list[int]
) -> None:
    before = [a_job(where, a_task(id, failed, dead)) for id, (where, failed, dead) in enumerate(wanted)]
    used = Counter(job.cluster_id for job in before)
    offers = {cluster_id: an_offer(cluster_id, used[cluster_id] + more[cluster_id - 1]) for cluster_id in (1, 2, 3)}
    after = move_failed_tasks(before, offers)
    assert sorted(task.id for job in after for task in job.tasks) == list(range(len(wanted)))
    assert all(some <= offers[cluster_id].jobs for cluster_id, some in Counter(j.cluster_id for j in after).items())
    misplaced = [sum(t.failed_on == job.cluster_id for job in made for t in job.tasks) for made in (before, after)]
    assert misplaced[1] <= misplaced[0]


def test_a_place_elsewhere_is_offered_first_and_the_same_one_last() -> None:
    rooms = [a_room(1, free=10), a_room(2, free=8)]

    def wants(shunned: int) -> list[ClusterDemand]:
        return [a_want(cluster=1, waiting=3)._replace(avoiding=shunned), a_want(cluster=2, waiting=3)]

    assert jobs(rooms, wants(0)) == {(1, 1): 3}
    assert jobs(rooms, wants(2)) == {(1, 1): 1, (1, 2): 2}
    assert jobs(rooms, wants(3)) == {(1, 2): 3}
    assert jobs(rooms[:1], wants(3)) == {(1, 1): 3}  # only this one remains
    assert jobs([a_room(1, free=10), a_room(2, free=1)], wants(3)) == {(1, 2): 1, (1, 1): 2}


def test_time_to_send_counts_in_the_choice_of_a_cluster() -> None:
    rooms = [a_room(1, free=10), a_room(2, free=10)]
    near, far = a_want(cluster=2, waiting=1, mean=100.0), a_want(cluster=1, waiting=1, mean=60.0)
    assert jobs(rooms, [far._replace(submit_seconds=30.0), near]) == {(1, 1): 1}
    assert jobs(rooms, [far._replace(submit_seconds=50.0), near]) == {(1, 2): 1}


@pytest.mark.parametrize(
    ("outcome", "is_shunned"),
    [(Outcome.FAILURE, True), (Outcome.LOST, True), (Outcome.NODE_FAILURE, True), (Outcome.PREEMPTED, False)],
)
def test_what_failed_is_remembered_with_its_cluster(database: Database, outcome: Outcome, is_shunned: bool) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn), a_cluster(conn, "luke")
        campaign_id = a_campaign(conn, 2, clusters=("dahu", "luke"))
        conn.execute(text("UPDATE campaign_clusters SET settings = settings || '{\"retries\": 5}'"))
        first = submitted_jobs(conn, campaign_id, dahu, 1)
        run_jobs(conn, first)
        end_jobs(conn, dahu, first, outcome, exit_code=1)
        tasks = take_waiting(conn, campaign_id, 5)
        assert [task.failed_on for task in sorted(tasks)] == [dahu if is_shunned else None, None]
        shunned = {want.cluster_id: want.avoiding for want in list_cluster_demands(conn, 10, 0.0)}
        assert shunned == {dahu: int(is_shunned), luke: 0}


def test_time_to_send_is_that_of_the_latest_batches(database: Database) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn), a_cluster(conn, "luke")
        campaign_id = a_campaign(conn, 3, clusters=("dahu", "luke"))
        submitted_jobs(conn, campaign_id, dahu, 1)
        set_time(conn, NOON + timedelta(seconds=60))
        submitted_jobs(conn, campaign_id, dahu, 1)
        conn.execute(
            text(
                "UPDATE batches SET created_at = settled_at - make_interval(secs => 4 * place)"
                " FROM (SELECT id, row_number() OVER (ORDER BY settled_at) AS place FROM batches) AS sent"
                " WHERE sent.id = batches.id"
            )
        )
        set_time(conn, NOON)
        assert {want.cluster_id: want.submit_seconds for want in list_cluster_demands(conn, 10, 0.0)} == {
            dahu: 6.0,
            luke: 0.0,
        }


@pytest.fixture
def two(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """A second cluster on this host."""
    host = Host(tmp_path / "two")
    host.directory.mkdir()
    local.add(local_site(host.spool, "there"))
    yield local
    host.clear()


def where(grid: Grid) -> list[str]:
    return [row["name"] for row in grid.rows(
        "SELECT c.name FROM attempts a JOIN jobs j ON j.id = a.job_id JOIN clusters c ON c.id = j.cluster_id"
        " ORDER BY a.number"
    )]  # fmt: skip


def test_a_task_that_fails_here_succeeds_there(two: Grid) -> None:
    command = f'[ -e {two.place}/failed ] && [ "$CIGRI_CLUSTER" != "$(cat {two.place}/failed)" ] && exit 0; '
    command += f'echo "$CIGRI_CLUSTER" >{two.place}/failed; exit 3'
    two.submit(["1"], command=command, clusters={"here": {}, "there": {}}, retries=1)
    two.run_to_end()
    assert sorted(where(two)) == ["here", "there"]
    assert two.counts() == {"done": 1}
    two.assert_sane()


def test_a_task_that_fails_on_its_only_cluster_is_tried_there_again(local: Grid) -> None:
    local.submit(["1"], command=f"[ -e {local.place}/failed ] && exit 0; : >{local.place}/failed; exit 3", retries=1)
    local.run_to_end()
    assert where(local) == ["here", "here"]
    assert local.counts() == {"done": 1}
