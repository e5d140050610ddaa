"""Campaigns whose tasks all last as long: the next wave waits in the queue when all cores come free at once."""

from pathlib import Path

import pytest

from cigri import package_files
from cigri.database.virtual import VirtualTimeDatabase
from modules.laboratory.scenario import read
from modules.laboratory.simulated_grid import WORLD_START, SimulatedGrid
from tests.laboratory.test_world import counts, history

TASKS = 200
LIMIT = 70.0  # seconds: seven waves of 10 s on 30 cores


@pytest.mark.parametrize(("poll_interval", "most"), [(5.0, 1.10), (1.0, 1.05)])
def test_waves_follow_each_other(database: VirtualTimeDatabase, poll_interval: float, most: float) -> None:
    """With all settings as they are by default; 1 s between two visits is what localhost has."""
    scenario = read(package_files.directory("etc") / "scenarios" / "waves.toml")
    (cluster,) = scenario.clusters
    cluster = cluster.model_copy(update={"config": {"poll_interval": poll_interval}})
    SimulatedGrid(scenario.model_copy(update={"clusters": (cluster,)}), database, Path("/")).run()
    assert counts(database) == {"done": TASKS}
    last = max((started - WORLD_START).total_seconds() + seconds for *_, started, seconds in history(database))
    assert LIMIT < last <= most * LIMIT
