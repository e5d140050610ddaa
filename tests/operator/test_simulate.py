"""`cigri simulate`: a scenario in, figures and a report out; what is wrong is said before anything runs."""

import json
from pathlib import Path

import pytest

from cigri import package_files
from modules.laboratory.report import from_json
from modules.laboratory.scenario import read
from modules.operator import main

SMALL = """
name = "small"
length = 3600
cycle = 60
[[clusters]]
name = "ann"
nodes = 1
cores_per_node = 4
[[campaigns]]
tasks = 12
seconds = { mean = 60 }
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


@pytest.mark.process
def test_a_scenario_is_simulated_and_reported(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://nobody@/no_such_database")  # it is not to be touched
    place = tmp_path / "report"
    argv = ["simulate", small, "--quiet", "--seed", "5", "--set", "forecast.history=10", "--report", str(place)]
    assert main(argv) == 0
    said = capsys.readouterr().out
    assert str(place / "report.html") in said
    results = from_json((place / "report.json").read_text())
    assert results.seed == 5
    assert results.scheduler == "forecast.history=10"
    assert results.makespan is not None
    assert results.bound == 12 * 60 / 4
    assert results.bound <= results.makespan < 1200
    [cluster] = results.clusters
    assert 0 < cluster.harvested <= cluster.harvestable
    assert cluster.commands > 5
    assert f"{results.makespan:.4g}" in said


@pytest.mark.process
def test_results_for_programs(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", small, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenario"] == "small"


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nowhere"], "there is no scenario nowhere"),
        (["SMALL", "--set", "forecast"], "--set forecast: write SECTION.NAME=VALUE"),
        (["SMALL", "--set", "forecast.algoritm=tap"], "algoritm"),
    ],
)
def test_what_is_wrong_is_said_at_once(
    small: str, argv: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *(small if word == "SMALL" else word for word in argv)]) == 2
    assert complaint in capsys.readouterr().err


def test_the_scenarios_that_come_with_it_can_be_read() -> None:
    places = sorted((package_files.directory("etc") / "scenarios").glob("*.toml"))
    assert len(places) >= 8
    for path in places:
        assert read(path).name == path.stem
