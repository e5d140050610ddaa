"""One suite for every campaign scheduler, and what each of them is for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.errors import ConfigError
from modules.campaign_schedulers import Place, load, names

SCHEDULERS = names()
places = st.lists(st.builds(Place, st.integers(1, 9), st.integers(1, 20)), unique_by=lambda place: place.cluster_id)


@pytest.mark.parametrize("name", SCHEDULERS)
@given(waiting=st.integers(0, 60), places=places)
def test_never_more_than_offered_and_never_a_task_twice(name: str, waiting: int, places: list[Place]) -> None:
    assignments = list(load(name)(waiting, places))
    tasks = [task for assignment in assignments for task in assignment.tasks]
    assert len(set(tasks)) == len(tasks)
    assert all(0 <= task < waiting for task in tasks)
    for place in places:
        assert sum(assignment.cluster_id == place.cluster_id for assignment in assignments) <= place.jobs
    assert {assignment.cluster_id for assignment in assignments} <= {place.cluster_id for place in places}


def test_workqueue_fills_the_offer_in_order() -> None:
    chosen = [(a.cluster_id, *a.tasks) for a in load("workqueue")(5, [Place(8, 2), Place(4, 9)])]
    assert chosen == [(8, 0), (8, 1), (4, 2), (4, 3), (4, 4)]


def test_test_sends_one_task_to_each_cluster() -> None:
    assert [(a.cluster_id, *a.tasks) for a in load("test")(5, [Place(8, 2), Place(4, 9)])] == [(8, 0), (4, 1)]


def test_an_unknown_scheduler_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="workqueue"):
        load("fastest")
