"""Grids on real clusters of each kind, beside the one on the local cluster."""

import itertools
import os
from collections.abc import Iterator

import pytest

from cigri.database import Database
from tests.clusters import NAMES
from tests.grid import Grid, Site, gridengine_site, oar_site, slurm_site

NUMBERS = itertools.count(1)


def grid_on(site: Site, database: Database, clean: str) -> Iterator[Grid]:
    """A grid with a cluster of the testbed; afterwards root ends there what `clean` ends."""
    grid = Grid(database, site, f"/home/alice/test-{os.getpid()}-{next(NUMBERS)}")
    yield grid
    site.sh(clean, user="root")
    grid.gateway.close()


def slurm_grid(name: str, database: Database) -> Iterator[Grid]:
    yield from grid_on(slurm_site(name), database, "scancel -u alice")


@pytest.fixture
def alpha(database: Database, alpha_up: None) -> Iterator[Grid]:
    """Slurm without accounting."""
    yield from slurm_grid("alpha", database)


@pytest.fixture
def beta(database: Database, beta_up: None) -> Iterator[Grid]:
    """Slurm with slurmdbd."""
    yield from slurm_grid("beta", database)


@pytest.fixture(params=["local", pytest.param("alpha", marks=pytest.mark.cluster)])
def grid(request: pytest.FixtureRequest) -> Grid:
    """Each of these in turn."""
    found: Grid = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["local", *(pytest.param(name, marks=pytest.mark.cluster) for name in NAMES)])
def any_grid(request: pytest.FixtureRequest) -> Grid:
    """A cluster of each kind in turn."""
    found: Grid = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def gamma(database: Database, gamma_up: None) -> Iterator[Grid]:
    yield from grid_on(gridengine_site(), database, "qdel -u '*' >/dev/null || true")


@pytest.fixture
def delta(database: Database, delta_up: None) -> Iterator[Grid]:
    everything = "state NOT IN ('Terminated', 'Error')"
    yield from grid_on(oar_site(), database, f'oardel --sql "{everything}" >/dev/null')


@pytest.fixture(params=["alpha", "gamma", "delta"])
def each_kind(request: pytest.FixtureRequest) -> Grid:
    """A real cluster of each batch system in turn."""
    found: Grid = request.getfixturevalue(request.param)
    return found
