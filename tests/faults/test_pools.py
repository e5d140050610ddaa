"""A campaign on two real clusters, of which one has what it requires."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.cli import gridstat
from cigri.database import Database
from tests.cli.running import Run, running
from tests.factories import note_passes
from tests.grid import Grid, gridengine_site, slurm_site

pytestmark = pytest.mark.cluster


@pytest.fixture
def two(database: Database, alpha_up: None, gamma_up: None) -> Iterator[Grid]:
    grid = Grid(database, slurm_site("alpha"), f"/home/alice/pools-{os.getpid()}")
    gamma = gridengine_site()
    grid.add(gamma)
    gamma.sh(f"mkdir -p {grid.place}")
    yield grid
    grid.gateway.close()


@pytest.fixture
def run(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    with running(gridstat.main, database_url, tmp_path, monkeypatch, capsys) as run:
        yield run


def test_a_campaign_runs_on_the_one_of_two_clusters_that_has_what_it_requires(two: Grid, run: Run) -> None:
    two.cycle()  # they tell what nodes they have
    with two.database.begin() as conn:
        note_passes(conn)
    where = f'echo "$CIGRI_NODE" >>{two.place}/where'
    both: dict[str, object] = {"alpha": {}, "gamma": {}}
    campaign = two.submit(["1", "2", "3"], command=where, requirements="features == 'new'", clusters=both)
    alpha, gamma = run("--why", campaign, "--json").json
    assert [queue["is_eligible"] for queue in alpha["queues"]] == [True]
    assert gamma["state"] == "not eligible"
    [queue] = gamma["queues"]
    assert (queue["place"], queue["is_eligible"], queue["code"]) == ("gamma", False, "absent")
    assert queue["why"] == "features == 'new' is wanted, and nothing is known here of features"
    two.run_to_end()
    two.assert_each_ran_once(3)
    assert set(two.site.sh(f"cat {two.place}/where").split()) == {"alpha-n2"}
    used = two.rows("SELECT DISTINCT name FROM jobs JOIN clusters ON clusters.id = cluster_id")
    assert [row["name"] for row in used] == ["alpha"]
