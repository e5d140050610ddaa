import pytest

from cigri.jdl.cluster_settings import tasks_side_by_side

PLAIN = {"exec_file": "true"}


@pytest.mark.parametrize(("node_cores", "width", "fitting"), [(32, 1, 32), (32, 5, 6), (32, 32, 1), (4, 8, 0)])
def test_as_many_tasks_as_a_node_holds(node_cores: int, width: int, fitting: int) -> None:
    assert tasks_side_by_side(node_cores, width, PLAIN) == max(fitting, 1)


def test_a_campaign_that_may_not_share_a_node_runs_one_task_at_a_time() -> None:
    assert tasks_side_by_side(32, 1, {**PLAIN, "dimensional_grouping": False}) == 1
