"""Sites and properties that the grid has never heard of are told, with those that may be meant."""

import pytest

from cigri.requirements import BUILT_IN, PropertyValue, parse_requirement, unknown_properties, unknown_sites

NODES: list[dict[str, PropertyValue]] = [
    {"site": "grenoble", "cluster": "dahu", "features": ["EL8"], "gpu_mem": 1},
    {"site": "lyon", "cluster": "lyon", "features": "el9"},
]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"Site": ["grenoble", "dahu", "lyon"]}, []),
        ({"Site": ["grenoble", "lion"]}, ["there is no site 'lion'; did you mean 'lyon'?"]),
        ({"BannedSite": "mars"}, ["there is no site 'mars'; there are: dahu, grenoble, lyon"]),
    ],
)
def test_a_site_is_that_of_a_cluster_or_a_cluster(raw: dict[str, object], told: list[str]) -> None:
    assert [*unknown_sites(parse_requirement(raw, BUILT_IN), NODES)] == told


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("gpu_mem >= 1 and memory >= 1 GB and not (el8 or el9)", []),
        ("not el10 or el10", ["no queue has a property 'el10'; there are: cluster, cores, el8, el9"]),
        ("gpumem >= 1 GB or xyz", ["gpumem", "xyz"]),
    ],
)
def test_a_property_is_one_that_a_queue_has_or_may_have(raw: str, told: list[str]) -> None:
    found = [*unknown_properties(parse_requirement(raw, BUILT_IN), NODES, BUILT_IN)]
    assert len(found) == len(told)
    assert all(part in sentence for part, sentence in zip(told, found, strict=True))


def test_where_there_is_nothing_nothing_is_proposed() -> None:
    assert [*unknown_sites(parse_requirement({"Site": "a"}, {}), [])] == ["there is no site 'a'; there are: none"]
