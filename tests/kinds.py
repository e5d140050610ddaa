"""Which tests start processes; all others are pure, and are run at every save. No test can call itself pure falsely."""

import subprocess
from collections.abc import Generator

import pytest

from tests.clusters import mark_with_cluster

ROOMS = {"faults", "localbatch", "transports", "wrapper"}  # all that is tested there
MARKED_ROOMS = {"cluster": {"bench", "drivers", "faults", "sites"}, "alone": {"journeys"}, "fuzz": {"fuzz"}}
"""The only ones where scripts/test looks for tests with these marks: to collect all others takes it half a minute."""
FIXTURES = {"server", "here", "forker"}  # PostgreSQL, the daemon of the local cluster, programs


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in ROOMS or FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.process)
        for mark, rooms in MARKED_ROOMS.items():
            if item.get_closest_marker(mark) and item.path.parent.name not in rooms:
                raise pytest.UsageError(f"{item.nodeid}: scripts/test looks for tests marked {mark} in {rooms} only")
        if item.get_closest_marker("cluster"):
            mark_with_cluster(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        _forbid_processes(item, patch)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        _forbid_processes(item, patch)
        return (yield)


def _forbid_processes(item: pytest.Item, patch: pytest.MonkeyPatch) -> None:
    if item.get_closest_marker("process") or item.get_closest_marker("cluster"):
        return

    def refuse(_: object, command: object, *__: object, **___: object) -> None:
        pytest.fail(f"this test starts {command}: mark it with pytest.mark.process")

    patch.setattr(subprocess.Popen, "__init__", refuse)
    patch.setattr(subprocess.Popen, "__del__", lambda _: None)
