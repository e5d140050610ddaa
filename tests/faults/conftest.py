"""Grids on real Slurm clusters, beside the one on the local cluster."""

import itertools
import os
import subprocess
from collections.abc import Iterator

import pytest

from cigri.database import Database
from tests.grid import TESTBED, Grid, slurm_site

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def slurm() -> None:
    done = subprocess.run([str(TESTBED), "up", "alpha", "beta"], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr


def slurm_grid(name: str, database: Database) -> Iterator[Grid]:
    site = slurm_site(name)
    grid = Grid(database, site, f"/home/alice/test-{os.getpid()}-{next(NUMBERS)}")
    yield grid
    site.sh('scancel -u "$(id -u)"')
    grid.gateway.close()


@pytest.fixture
def alpha(database: Database, slurm: None) -> Iterator[Grid]:
    """Slurm without accounting."""
    yield from slurm_grid("alpha", database)


@pytest.fixture
def beta(database: Database, slurm: None) -> Iterator[Grid]:
    """Slurm with slurmdbd."""
    yield from slurm_grid("beta", database)


@pytest.fixture(params=["local", pytest.param("alpha", marks=pytest.mark.cluster)])
def grid(request: pytest.FixtureRequest) -> Grid:
    """Each of these in turn."""
    found: Grid = request.getfixturevalue(request.param)
    return found
