"""Scenarios are read whole: every problem at once, nothing ignored."""

from pathlib import Path
from random import Random

import pytest

from cigri.errors import ConfigError
from modules.laboratory.scenario import DurationDistribution, read

GOOD = """
name = "good"
[settings.forecast]
algorithm = "simple"
[[clusters]]
name = "ann"
kind = "oar"
nodes = 2
cores_per_node = 4
count = 2
machine = { start_rate = 1.5 }
faults = { outages = [{ since = 1, until = 2 }] }
config = { max_waiting = 7 }
[[campaigns]]
tasks = 3
seconds = { mean = 60 }
clusters = ["ann1"]
"""


def test_a_scenario_is_what_its_file_says(tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(GOOD)
    found = read(path, {"seed": 7})
    [cluster] = found.clusters
    assert cluster.names == ["ann1", "ann2"]
    assert cluster.hardware.start_rate == 1.5
    assert cluster.hardware.cores == 8
    assert cluster.declared.max_waiting == 7
    assert cluster.faults.outages[0].until == 2
    assert found.seed == 7
    assert found.tuned.forecast.algorithm == "simple"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("kind = ", "kinds = ", "clusters.0.kinds: Extra inputs"),
        ("start_rate", "start_rates", "start_rates"),
        ("max_waiting", "max_wating", "max_wating"),
        ("since = 1", "since = 'x'", "faults"),
        ("algorithm", "algoritm", "algoritm"),
        ('["ann1"]', '["bob"]', "bob"),
        ("tasks = 3", "tasks = 0", "campaigns.0.tasks"),
        ("[[campaigns]]", "[[campaigns]", "good.toml"),
        ('name = "ann"', 'name = "a b"', "clusters.0.name"),
    ],
)
def test_what_is_wrong_in_a_scenario_is_said_with_its_place(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "good.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError, match=r"good\.toml") as caught:
        read(path)
    assert complaint in str(caught.value)


def test_durations_have_the_mean_and_the_spread_that_are_asked_for() -> None:
    source = Random(1)
    drawn = [DurationDistribution(mean=100, cv=0.5).draw(source) for _ in range(20_000)]
    mean = sum(drawn) / len(drawn)
    assert mean == pytest.approx(100, rel=0.02)
    assert (sum((one - mean) ** 2 for one in drawn) / len(drawn)) ** 0.5 == pytest.approx(50, rel=0.05)
    assert DurationDistribution(mean=3).draw(source) == 3
