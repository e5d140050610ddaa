"""`gridstat -J` gives back what `gridsub` takes: the same campaign comes of it again."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.cli import gridstat, gridsub
from cigri.database import Database
from cigri.flow.archive import archive_campaign
from cigri.flow.campaigns import close_campaigns
from cigri.jdl import CampaignDescription, parse
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = [pytest.mark.noon, pytest.mark.usefixtures("both_ways")]

Show = Callable[[int], dict[str, Any]]

SWEEP = """
name: sweep
exec_file: ~/ising/run --model {model} --temperature {temperature}
environment: {SEED: "{seed}"}
sweep:
  temperature: {from: 2.0, to: 2.4, step: 0.1}
  model: [square, triangular]
  seed: {from: 1, to: 3}
walltime: 00:30:00
resources: {cpu: 4, mem: 2 GB}
clusters:
  dahu: {max_jobs: 200}
  luke:
"""
NAMED = """
Name = "named"
exec_file = "denoise {image} --strength {strength}"
params = [{ image = "first image.png", strength = 0.5 }, { image = "second.png", strength = 0.8 }]
walltime = 01:30:00
replicate = true
priority = 3
[clusters.dahu]
prologue = "mkdir -p x\\ntrue"
"""
DIRAC = 'Executable = "run"; Arguments = "--energy %s"; Parameters = 20; ParameterStart = 100; ParameterStep = 50;'
CIGRI_3 = """{
  // as CiGri 3's users write it
  "name": "old", "exec_file": "$HOME/run", "param_file": "lines.txt", "test_mode": "false", "checkpointing_type": null,
  "clusters": {"dahu": {"type": "besteffort", "walltime": "00:10:00"}, "luke": {"test_mode": "false"}}
}"""
ANYWHERE = """{"name": "any", "exec_file": "run", "nb_jobs": 1000, "requirements": "site == 'dahu'"}"""

WRITTEN = {"yaml": SWEEP, "toml": NAMED, "dirac": DIRAC, "json of 3": CIGRI_3, "any": ANYWHERE}


@pytest.fixture
def home(grid: Database, as_user: AsUser, tmp_path: Path) -> Path:
    as_user("alice")
    with grid.begin() as conn:
        a_cluster(conn, "dahu")
        a_cluster(conn, "luke")
    (tmp_path / "lines.txt").write_text("frame1 -w 320\n'the second' -w 320\n")
    return tmp_path


@pytest.fixture
def shown(grid: Database, capsys: pytest.CaptureFixture[str]) -> Show:
    def show(campaign_id: int) -> dict[str, Any]:
        capsys.readouterr()
        assert gridstat.main(["-J", str(campaign_id)]) == 0
        described: dict[str, Any] = json.loads(capsys.readouterr().out)
        return described

    return show


def submit(home: Path, text: str, *options: str) -> None:
    described = home / "campaign"
    described.write_text(text)
    assert gridsub.main([str(described), *options]) == 0


def read(text: str, home: Path) -> tuple[CampaignDescription, list[object]]:
    description = parse(text, base=home, home=home)
    return description, list(description.parameters())


@pytest.mark.parametrize("described", WRITTEN.values(), ids=WRITTEN)
def test_what_was_submitted_is_given_back(home: Path, shown: Show, described: str) -> None:
    submit(home, described)
    before, tasks = read(described, home)
    again, same_tasks = read(json.dumps(shown(1)), home)
    assert same_tasks == tasks
    assert replace(again, tasks=()) == replace(before, tasks=())
    submit(home, json.dumps(shown(1)))
    assert shown(2) == shown(1)


def test_it_is_written_as_its_user_wrote_it(home: Path, shown: Show) -> None:
    submit(home, SWEEP)
    described = shown(1)
    assert list(described) == ["name", "exec_file", "environment", "sweep", "walltime", "resources", "clusters"]
    assert list(described["sweep"]) == ["temperature", "model", "seed"]
    assert (described["walltime"], described["resources"]["mem"]) == ("00:30:00", "2 GB")


@pytest.mark.parametrize(
    "described", [*WRITTEN.values(), NAMED.replace("[clusters.dahu]", '[clusters.dahu]\nqueue = "q"')]
)
def test_what_runs_here_instead_does_so_again_without_the_option(
    home: Path, grid: Database, shown: Show, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "localhost", options={"spool": "/s", "pools": {"cpu": 6, "mem": 4000}})
    submit(home, described, "--local")
    assert list(shown(1)["clusters"]) == ["localhost"]
    monkeypatch.setenv("CIGRI_SET_JOBS__WALLTIME", "77")  # by now the site's defaults are others
    monkeypatch.setenv("CIGRI_SET_JOBS__CPU", "3")
    submit(home, json.dumps(shown(1)))
    assert shown(2) == shown(1)
    with grid.begin() as conn:
        first, second = conn.scalars(text("SELECT settings FROM campaign_clusters ORDER BY campaign_id"))
        parameters = text("SELECT array_agg(parameter ORDER BY number) FROM tasks GROUP BY campaign_id")
        some, same = conn.scalars(parameters)
    assert (second, same) == (first, some)


def test_options_count_as_written(home: Path, shown: Show) -> None:
    submit(home, SWEEP, "-t", "test", "--priority", "7")
    described = shown(1)
    assert (described["campaign_type"], described["priority"]) == ("test", 7)


def test_options_of_the_batch_system_count_as_written(grid: Database, home: Path, shown: Show) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "dahu", driver="slurm")
    described = {"name": "n", "exec_file": "run", "nb_jobs": 2, "backend": "-C fast", "clusters": {"dahu": {}}}
    submit(home, json.dumps(described), "-b", "-c 4")
    assert shown(1) == {**described, "clusters": {"dahu": {"backend": ["-C", "fast", "-c", "4"]}}}
    submit(home, json.dumps(shown(1)))
    with grid.begin() as conn:
        settings = conn.execute(text("SELECT settings FROM campaign_clusters ORDER BY campaign_id")).scalars().all()
    assert settings[0] == settings[1]


def test_tasks_that_were_added_are_among_the_parameters(home: Path, shown: Show) -> None:
    submit(home, '{"name": "n", "exec_file": "run", "nb_jobs": 2, "clusters": {"dahu": {}}}')
    assert shown(1)["nb_jobs"] == 2
    assert gridsub.main(["-c", "1", "-J", '["9"]']) == 0
    described = shown(1)
    assert described["params"] == ["0", "1", "9"]
    assert "nb_jobs" not in described


def test_campaigns_of_before_and_archived_ones_show_the_settings_in_force(
    grid: Database, home: Path, shown: Show
) -> None:
    with grid.begin() as conn:
        campaign = a_campaign(conn, [{"seed": 1}, {"seed": 2}], max_replicas=1)
        jobs = submitted_jobs(conn, campaign, 1, 2)
        end_jobs(conn, 1, jobs)
        close_campaigns(conn)
        archive_campaign(conn, campaign)
    described = shown(campaign)
    assert described == {
        "name": "povray",
        "scheduler": "workqueue",
        "replicate": {"budget": 0.5, "max_replicas": 1},
        "clusters": {"dahu": {"exec_file": "/bin/true"}},
        "params": [{"seed": 1}, {"seed": 2}],
    }
