"""What one who knows nothing can expect at best, by hand."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modules.laboratory.evaluation.clairvoyant import IdleProfile, TaskLoad, makespan_bound
from modules.laboratory.evaluation.list_scheduling_bound import blind_makespan

TWO = IdleProfile([(0.0, 2.0)])
TASKS = [TaskLoad(seconds) for seconds in (2.0, 3.0, 4.0, 7.0)]


@pytest.mark.parametrize(
    ("profiles", "bags", "expected"),
    [
        pytest.param([TWO], [(0.0, TASKS)], 10.0, id="in line: 2 then 4, 3 then 7"),
        pytest.param([TWO], [(0.0, TASKS[::-1])], 9.0, id="the longest first, by chance"),
        pytest.param([TWO], [(5.0, TASKS)], 10.0, id="from the submission on"),
        pytest.param([TWO], [(4.0, [TaskLoad(1.0)]), (0.0, [TaskLoad(2.0)] * 4)], 5.0, id="two campaigns"),
        pytest.param(
            [IdleProfile([(0.0, 1.0)]), IdleProfile([(0.0, 1.0)], 2.0)], [(0.0, [TaskLoad(4.0)])], 2.0, id="the fastest"
        ),
        pytest.param(
            [IdleProfile([(0.0, 2.0), (3.0, 0.0), (5.0, 2.0)])], [(0.0, [TaskLoad(4.0)])], 9.0, id="taken away"
        ),
        pytest.param(
            [IdleProfile([(0.0, 2.0), (3.0, 1.0)])],
            [(0.0, [TaskLoad(4.0), TaskLoad(5.0)])],
            9.0,
            id="the youngest dies",
        ),
        pytest.param([TWO], [(0.0, [TaskLoad(3.0), TaskLoad(1.0, 2), TaskLoad(1.0)])], 4.0, id="a narrow one passes"),
        pytest.param([IdleProfile([(0.0, 8.0)], widest=2)], [(0.0, [TaskLoad(1.0, 4)])], inf, id="too wide for a node"),
        pytest.param([IdleProfile([(0.0, 0.0)])], [(0.0, [TaskLoad(1.0)])], inf, id="nowhere"),
        pytest.param([TWO], [], 0.0, id="nothing"),
    ],
)
def test_tasks_start_in_line_as_soon_as_there_is_room(
    profiles: list[IdleProfile], bags: list[tuple[float, list[TaskLoad]]], expected: float
) -> None:
    assert blind_makespan(profiles, bags) == expected


works = st.lists(st.builds(TaskLoad, st.integers(1, 50).map(float), st.integers(1, 3)), min_size=1, max_size=12)
idle = st.lists(st.tuples(st.integers(1, 60).map(float), st.integers(0, 4).map(float)), max_size=6)


@given(works, idle, st.sampled_from((0.5, 1.0, 2.0)))
def test_nobody_who_is_blind_is_faster_than_the_clairvoyant(
    bag: list[TaskLoad], steps: list[tuple[float, float]], speed: float
) -> None:
    times = sorted({at: cores for at, cores in steps}.items())
    profiles = [IdleProfile([(0.0, 3.0), *times, (70.0, 3.0)], speed)]
    assert blind_makespan(profiles, [(0.0, bag)]) >= makespan_bound(profiles, bag) - 1e-9
