"""When campaigns end that wait for others, and what lies behind those that are waited for."""

from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.flow.views.dependency_graph import DependencyEdge
from modules.predictor.eta.campaign_end import EndInterval
from modules.predictor.eta.own_time import own_times
from modules.predictor.eta.path import OwnDuration, behind, ends
from tests.modules.test_predictor import progress

seconds = st.floats(0, 1e6)
Graph = tuple[dict[int, OwnDuration], list[DependencyEdge]]


def certain(time: float) -> EndInterval:
    return EndInterval(time, time, time)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Campaigns 1 to n, of which later ones wait for earlier ones; of some nothing is known."""
    number = draw(st.integers(1, 7))
    times = st.one_of(st.none(), seconds.map(certain))
    own = {id: OwnDuration(draw(times), draw(st.floats(0, 100))) for id in range(1, number + 1)}
    pairs = [(later, first) for later in own for first in own if first < later]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return own, [DependencyEdge(*pair, draw(st.booleans()), draw(st.integers(0, 9)) == 0) for pair in chosen]


def paths_behind(campaign_id: int, own: Mapping[int, OwnDuration], edges: Sequence[DependencyEdge]) -> Iterator[float]:
    """The seconds of each path, looked at one by one."""
    yield 0.0
    for edge in edges:
        if edge.required_id == campaign_id and not edge.is_broken:
            time = own[edge.campaign_id]
            alone = time.longest if edge.is_same or time.left is None else max(time.left.expected, time.longest)
            yield from (alone + rest for rest in paths_behind(edge.campaign_id, own, edges))


def end_of(campaign_id: int, own: Mapping[int, OwnDuration], edges: Sequence[DependencyEdge]) -> float | None:
    """By recursion: None where it is not known."""
    begin, side_by_side = 0.0, [0.0]
    for edge in (edge for edge in edges if edge.campaign_id == campaign_id):
        end = end_of(edge.required_id, own, edges)
        if end is None or edge.is_broken:
            return None
        if edge.is_same:
            side_by_side.append(end + own[campaign_id].longest)
        else:
            begin = max(begin, end)
    left = own[campaign_id].left
    return None if left is None else max(begin + left.expected, *side_by_side)


@given(graphs())
def test_each_end_is_that_of_the_longest_path(graph: Graph) -> None:
    own, edges = graph
    known, later = ends(own, edges), behind(own, edges)
    for campaign_id in own:
        expected = end_of(campaign_id, own, edges)
        assert (known[campaign_id].expected if campaign_id in known else None) == pytest.approx(expected)
        assert later.get(campaign_id, 0.0) == pytest.approx(max(paths_behind(campaign_id, own, edges)))


@given(graphs())
def test_nobody_ends_before_what_it_waits_for(graph: Graph) -> None:
    own, edges = graph
    known = ends(own, edges)
    for edge in edges:
        if edge.campaign_id in known and edge.required_id in own:
            assert known[edge.campaign_id].expected >= known[edge.required_id].expected


@given(graphs())
def test_without_edges_each_takes_its_own_time(graph: Graph) -> None:
    own, _ = graph
    assert ends(own, []) == {id: time.left for id, time in own.items() if time.left is not None}
    assert behind(own, []) == {}


def test_bounds_add_up_along_the_path() -> None:
    own = {
        1: OwnDuration(EndInterval(1, 2, 4)),
        2: OwnDuration(EndInterval(10, 20, 40)),
        3: OwnDuration(EndInterval(5, 6, 7)),
    }
    assert ends(own, [DependencyEdge(2, 1), DependencyEdge(3, 1)]) == {
        1: EndInterval(1, 2, 4),
        2: EndInterval(11, 22, 44),
        3: EndInterval(6, 8, 11),
    }


def test_a_diamond_takes_its_slower_side() -> None:
    own = {id: OwnDuration(certain(time), 1.0) for id, time in ((1, 10.0), (2, 100.0), (3, 5.0), (4, 7.0))}
    edges = [DependencyEdge(2, 1), DependencyEdge(3, 1), DependencyEdge(4, 2), DependencyEdge(4, 3)]
    assert ends(own, edges)[4] == certain(117.0)
    assert behind(own, edges) == {1: 107.0, 2: 7.0, 3: 7.0}


def test_what_has_ended_already_holds_nobody_up() -> None:
    assert ends({2: OwnDuration(certain(5.0))}, [DependencyEdge(2, 1)]) == {2: certain(5.0)}


def test_what_has_not_begun_is_thought_to_get_the_cores_of_what_it_waits_for() -> None:
    running = progress(durations=(100.0,) * 20, remaining=40, running=10)
    guessed = progress(remaining=50)._replace(campaign_id=2, guess=30.0)
    last = progress(remaining=10)._replace(campaign_id=3, guess=60.0)
    unknown = progress(remaining=10)._replace(campaign_id=4)
    totals = {part.campaign_id: part for part in (running, guessed, last, unknown)}
    own = own_times(totals, {1: certain(400.0)}, [DependencyEdge(2, 1), DependencyEdge(3, 2), DependencyEdge(4, 1)])
    assert own[1].left == certain(400.0)
    assert own[2].left == EndInterval(75.0, 150.0, 300.0)  # 50 tasks of 30 s on 10 cores
    assert own[3].left == EndInterval(30.0, 60.0, 120.0)
    assert own[4].left is None
    assert behind(own, [DependencyEdge(2, 1), DependencyEdge(3, 2)]) == {1: 210.0, 2: 60.0}
