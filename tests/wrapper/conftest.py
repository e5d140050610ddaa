"""A cluster under each of the shells that /bin/sh may be."""

import shutil
from pathlib import Path

import pytest

from .cluster import Cluster

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}


@pytest.fixture(params=SHELLS)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Cluster:
    argv = SHELLS[request.param]
    assert shutil.which(argv[0]), f"install {argv[0]}: the wrapper must work with it"
    return Cluster(tmp_path, argv)


@pytest.fixture
def dash(tmp_path: Path) -> Cluster:
    """For what does not depend on the shell."""
    return Cluster(tmp_path, ["dash"])
