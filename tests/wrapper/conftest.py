"""A cluster under each of the shells that /bin/sh may be."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cluster import Cluster

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}


@pytest.fixture(params=SHELLS)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    argv = SHELLS[request.param]
    assert shutil.which(argv[0]), f"install {argv[0]}: the wrapper must work with it"
    cluster = Cluster(tmp_path, argv)
    yield cluster
    cluster.clear()


@pytest.fixture
def dash(tmp_path: Path) -> Iterator[Cluster]:
    """For what does not depend on the shell."""
    cluster = Cluster(tmp_path, ["dash"])
    yield cluster
    cluster.clear()
