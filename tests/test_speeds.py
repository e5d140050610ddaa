"""How fast clusters are, from what was done there; pure."""

import pytest

from cigri.estimates.completion import expected_seconds, longest_within
from cigri.estimates.speeds import CompletedWork, known_speeds, speeds


def test_among_tasks_alike_the_means_tell_how_fast_clusters_are() -> None:
    found = speeds({1: CompletedWork(10, 1000.0), 2: CompletedWork(30, 1000.0)})
    assert found == {1: pytest.approx(0.5), 2: pytest.approx(1.5)}  # the mean is 50 s


def test_that_long_tasks_were_sent_to_the_fast_cluster_does_not_make_it_a_slow_one() -> None:
    found = speeds({1: CompletedWork(5, 500.0, 5, 250.0), 2: CompletedWork(5, 1000.0, 5, 2000.0)})
    assert found == {1: 0.5, 2: 2.0}


def test_two_tasks_tell_nothing_and_a_cluster_that_nothing_was_done_on_neither() -> None:
    assert speeds({1: CompletedWork(2, 500.0), 2: CompletedWork(0, 0.0)}) == {}


def test_what_is_measured_on_known_tasks_goes_before_earlier_campaigns_and_these_before_nothing() -> None:
    before = {1: 3.0, 2: 3.0}
    assert known_speeds(
        {1: CompletedWork(5, 500.0, 5, 250.0), 2: CompletedWork(5, 1000.0), 3: CompletedWork(5, 1000.0)}, before
    ) == {
        1: 0.5,
        2: 3.0,
    }


@pytest.mark.parametrize(("seconds", "delay", "hazard"), [(1000.0, 0.0, 0.0), (1000.0, 60.0, 1e-3), (50.0, 10.0, 0.1)])
def test_the_longest_task_that_ends_in_time_ends_just_in_time(seconds: float, delay: float, hazard: float) -> None:
    mean = longest_within(seconds, delay, hazard)
    assert expected_seconds(mean, delay, hazard) == pytest.approx(seconds)
    assert longest_within(delay / 2 - 1, delay, hazard) < 0
