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
