"""Which cores are free, and which are taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modules.laboratory.cluster.free_cores import FreeCores


def test_a_job_goes_to_the_fullest_node_that_has_room() -> None:
    nodes = FreeCores(3, 4)
    nodes.take([(0, 3), (1, 2)])
    assert nodes.fit(1) == [(0, 1)]
    assert nodes.fit(2) == [(1, 2)]
    assert nodes.fit(3) == [(2, 3)]


def test_a_job_that_fits_in_a_node_is_not_torn() -> None:
    nodes = FreeCores(2, 4)
    nodes.take([(0, 2), (1, 2)])
    assert nodes.fit(3) is None
    assert nodes.fit(4) is None


def test_a_job_wider_than_a_node_takes_several() -> None:
    nodes = FreeCores(3, 4)
    nodes.take([(1, 2)])
    assert nodes.fit(10) == [(0, 4), (2, 4), (1, 2)]
    assert nodes.fit(11) is None


def test_cores_are_spread_over_as_few_nodes_as_will_do() -> None:
    nodes = FreeCores(3, 4)
    nodes.take([(0, 3), (1, 2)])
    assert nodes.spread(3) == [(2, 3)]
    assert nodes.spread(5) == [(2, 4), (0, 1)]
    assert nodes.spread(6) == [(2, 4), (1, 2)]


def test_only_the_nodes_of_a_mask_are_used() -> None:
    nodes = FreeCores(2, 4)
    assert nodes.fit(1, ~0b01) == [(1, 1)]
    assert nodes.fit(1, 0) is None
    assert nodes.fit(5, ~0b01) is None
    assert FreeCores(3, 4).fit(6, ~0b010) == [(0, 4), (2, 2)]
    assert FreeCores(3, 4).fit(9, ~0b010) is None


def test_nothing_fits_on_a_node_that_is_down() -> None:
    nodes = FreeCores(2, 4)
    nodes.take_down(0)
    assert (nodes.free, nodes.fit(4), nodes.up()) == (4, [(1, 4)], [1])
    nodes.bring_up(0)
    assert (nodes.free, nodes.fit(4)) == (8, [(0, 4)])


def test_cores_cannot_be_taken_twice() -> None:
    nodes = FreeCores(1, 4)
    nodes.take([(0, 3)])
    with pytest.raises(ValueError, match="node 0"):
        nodes.take([(0, 2)])
    with pytest.raises(ValueError, match="node 0"):
        nodes.give([(0, 4)])


@given(st.lists(st.integers(1, 20), max_size=30), st.integers(1, 5), st.integers(1, 6))
def test_what_is_spread_is_as_much_as_was_asked_and_all_comes_back(
    asked: list[int], count: int, cores_per_node: int
) -> None:
    nodes = FreeCores(count, cores_per_node)
    taken = []
    for cores in asked:
        if cores <= nodes.free:
            places = nodes.spread(cores)
            assert sum(cores for _, cores in places) == cores
            nodes.take(places)
            taken.append(places)
    assert nodes.free == count * cores_per_node - sum(cores for places in taken for _, cores in places)
    for places in taken:
        nodes.give(places)
    assert [nodes.free_on(node) for node in range(count)] == [cores_per_node] * count
