"""The order of the tests on real batch systems: each waits a minute for a walltime, and that side by side."""

import pytest

FIRST, LAST = "test_probe_names_the_version", "test_the_walltime_is_kept_with_notice"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test on each cluster begins the job that the last one waits for."""
    places = [place for place, item in enumerate(items) if is_real(item)]
    mine = sorted((items[place] for place in places), key=lambda item: turn(item.name.partition("[")[0]))
    for place, item in zip(places, mine, strict=True):
        items[place] = item


def is_real(item: pytest.Item) -> bool:
    return item.path.parent.name == "drivers" and item.get_closest_marker("cluster") is not None


def turn(name: str) -> int:
    return {FIRST: 0, LAST: 2}.get(name, 1)
