"""Grids on the local cluster and on real Slurm clusters."""

import itertools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.database import Database
from tests.faults.grid import TESTBED, Grid, Site, local_site, slurm_site
from tests.localbatch.host import Host

NUMBERS = itertools.count(1)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Site]:
    """This host as a cluster, its daemon ended afterwards by its own pid."""
    host = Host(tmp_path)
    yield local_site(host.spool)
    host.clear()


@pytest.fixture(scope="session")
def slurm() -> None:
    done = subprocess.run([str(TESTBED), "up"], capture_output=True, text=True, check=False)
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
def local(database: Database, here: Site, tmp_path: Path) -> Iterator[Grid]:
    grid = Grid(database, here, str(tmp_path / "work"))
    yield grid
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
