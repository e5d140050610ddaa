"""One suite for every campaign scheduler, and what each of them is for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.errors import ConfigError
from cigri.flow.offers import ClaimedOffer
from cigri.flow.tasks import WaitingTask
from cigri.lifecycle.active_scheduler import active_scheduler
from cigri.states import CampaignType
from modules.campaign_schedulers import JobSlots, assign, load, names
from modules.campaign_schedulers.jobs.grouping import JobSize

SCHEDULERS = names()
places = st.lists(
    st.builds(JobSlots, st.integers(1, 9), st.integers(1, 20), st.integers(1, 9)),
    unique_by=lambda place: place.cluster_id,
)


@pytest.mark.parametrize("name", SCHEDULERS)
@given(waiting=st.integers(0, 60), places=places)
def test_never_more_than_offered_and_never_a_task_twice(name: str, waiting: int, places: list[JobSlots]) -> None:
    assignments = list(load(name)(waiting, places))
    tasks = [task for assignment in assignments for task in assignment.tasks]
    assert len(set(tasks)) == len(tasks)
    assert all(0 <= task < waiting for task in tasks)
    for place in places:
        mine = [assignment for assignment in assignments if assignment.cluster_id == place.cluster_id]
        assert len(mine) <= place.jobs
        assert all(1 <= len(assignment.tasks) <= place.tasks for assignment in mine)
    assert {assignment.cluster_id for assignment in assignments} <= {place.cluster_id for place in places}


def test_workqueue_fills_the_offer_in_order() -> None:
    chosen = [(a.cluster_id, *a.tasks) for a in load("workqueue")(5, [JobSlots(8, 2), JobSlots(4, 9)])]
    assert chosen == [(8, 0), (8, 1), (4, 2), (4, 3), (4, 4)]


def test_workqueue_puts_several_tasks_in_a_job_where_it_may() -> None:
    chosen = [(a.cluster_id, *a.tasks) for a in load("workqueue")(7, [JobSlots(8, 2, 3), JobSlots(4, 9)])]
    assert chosen == [(8, 0, 1, 2), (8, 3, 4, 5), (4, 6)]


def test_a_task_that_died_with_its_job_goes_alone() -> None:
    tasks = [WaitingTask(number, 1, 0, 10, deaths=number % 3 == 0) for number in range(7)]
    offer = ClaimedOffer(1, 8, 4, 1, 600, "workqueue", CampaignType.DEFAULT)
    jobs = assign(tasks, {8: offer}, {8: JobSize(5)})
    assert [[task.id for task in job.tasks] for job in jobs] == [[0], [3], [6], [1, 2, 4, 5]]


def test_a_job_that_runs_tasks_side_by_side_takes_the_room_of_several() -> None:
    tasks = [WaitingTask(number, 1, 0, 10) for number in range(14)]
    offer = ClaimedOffer(1, 8, 7, 2, 600, "workqueue", CampaignType.DEFAULT)
    jobs = assign(tasks, {8: offer}, {8: JobSize(6, 3)})
    assert [(job.width, len(job.tasks)) for job in jobs] == [(6, 6), (6, 6)]
    jobs = assign(tasks, {8: offer._replace(jobs=9)}, {8: JobSize(6, 3)})
    assert [(job.width, len(job.tasks)) for job in jobs] == [(6, 6), (6, 6), (4, 2)]


def test_test_sends_one_task_at_a_time_to_each_cluster_in_turn() -> None:
    chosen = [(a.cluster_id, *a.tasks) for a in load("test")(5, [JobSlots(8, 2, 3), JobSlots(4, 9)])]
    assert chosen == [(8, 0), (4, 1), (8, 2), (4, 3), (4, 4)]


def test_prediction_sends_what_is_forecast_to_start_at_once() -> None:
    """Jobs per core times free cores: 0.5 x 7 = 3; and one where nothing can; all where nothing is forecast."""
    places = [JobSlots(8, 9, 1, int(0.5 * 7)), JobSlots(4, 9, 1, 0), JobSlots(5, 2, 1), JobSlots(6, 2, 1, 40)]
    chosen = Counter(assignment.cluster_id for assignment in load("prediction")(50, places))
    assert chosen == {8: 3, 4: 1, 5: 2, 6: 2}


@pytest.mark.parametrize(
    ("type", "named", "has_done", "has_waiting", "is_replicated", "expected"),
    [
        (CampaignType.TEST, "", False, True, False, "test"),
        (CampaignType.TEST, "", True, False, True, "test"),
        (CampaignType.DEFAULT, "", False, True, True, "test"),
        (CampaignType.DEFAULT, "", True, True, True, "workqueue"),
        (CampaignType.DEFAULT, "", True, False, True, "finalize"),
        (CampaignType.DEFAULT, "", True, False, False, "workqueue"),
        (CampaignType.DEFAULT, "prediction", False, True, True, "prediction"),
        (CampaignType.DEFAULT, "prediction", True, False, True, "finalize"),
    ],
)
def test_a_campaign_moves_between_schedulers_by_itself(
    type: CampaignType, named: str, has_done: bool, has_waiting: bool, is_replicated: bool, expected: str
) -> None:
    marks = {"has_done": has_done, "has_waiting": has_waiting, "is_replicated": is_replicated}
    assert active_scheduler(type, named, "workqueue", **marks) == expected


def test_an_unknown_scheduler_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="workqueue"):
        load("fastest")
