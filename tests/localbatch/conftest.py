"""A host of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.localbatch.host import Host


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    yield host
    host.clear()


@pytest.fixture(scope="module")
def steady_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One for all tests that are to change nothing of it."""
    host = Host(tmp_path_factory.mktemp("host"))
    yield host
    host.clear()
