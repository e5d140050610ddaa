"""gridsub -b: options of the batch systems on the command line, their tables, and what is stored of them."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from cigri.cli.backend_options import joined
from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from tests.cli.conftest import AsUser
from tests.factories import a_cluster

Capture = pytest.CaptureFixture[str]
LOCAL = {"spool": "/var/spool/cigri"}
DESCRIBED: dict[str, Any] = {"name": "n", "exec_file": "run", "params": ["a"], "resources": {"cpu": 2, "mem": 100}}


@pytest.fixture(autouse=True)
def _clusters(grid: Database, as_user: AsUser) -> None:
    as_user("alice")
    with grid.begin() as conn:
        a_cluster(conn, "alpha", driver="slurm")
        a_cluster(conn, "beta", driver="slurm", options={"qos": "usual"})
        a_cluster(conn, "gamma", driver="gridengine", options={"pe": "smp"})
        a_cluster(conn, "here", options=LOCAL)


def described(*clusters: str, **fields: object) -> list[str]:
    return ["-j", json.dumps(DESCRIBED | {"clusters": {name: {} for name in clusters}} | fields)]


def stored(grid: Database) -> dict[str, tuple[dict[str, Any], int]]:
    part = CampaignCluster
    columns = select(Cluster.c.name, part.c.settings, part.c.width).join(Cluster, Cluster.c.id == part.c.cluster_id)
    with grid.begin() as conn:
        return {name: (settings, width) for name, settings, width in conn.execute(columns)}


def test_options_override_the_description_field_by_field(grid: Database) -> None:
    assert main([*described("alpha", queue="slow", backend="-q low --wckey=w"), "-b", "-c 4 -p fast -q high"]) == 0
    settings, width = stored(grid)["alpha"]
    assert (settings["resources"]["cpu"], settings["resources"]["mem"], width) == (4, 100, 4)
    assert (settings["queue"], settings["backend"]) == ("fast", ["--qos=high", "--wckey=w"])


def test_options_may_be_for_one_cluster(grid: Database) -> None:
    given = [*described("alpha", "beta", "gamma"), "-b", "alpha:--gres=gpu:1", "--backend=gamma:-100", "-b", "beta:-c3"]
    assert main(given) == 0
    found = {name: (settings["backend"], width) for name, (settings, width) in stored(grid).items()}
    assert found == {"alpha": (["--gres=gpu:1"], 2), "beta": ([], 3), "gamma": (["--priority=-100"], 2)}


def test_the_local_cluster_ignores_them_and_says_so(grid: Database, capsys: Capture) -> None:
    assert main([*described("alpha", "here"), "-b", "-c 4"]) == 0
    assert "here takes no such options: what is given there is ignored" in capsys.readouterr().err
    assert {name: width for name, (_, width) in stored(grid).items()} == {"alpha": 4, "here": 2}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["-b", "--contraint=x"], "clusters.alpha.backend: unknown option --contraint; did you mean --constraint?"),
        (["-b", "-c 4"], "clusters.gamma.backend: unknown option -c; there are: -p"),
        (["-b", "-c 4"], "`gridsub -b gamma:-h` shows what it takes"),
        (["-b", "delta:-c 4"], "-b delta: the campaign has alpha, gamma only"),
    ],
)
def test_wrong_options_are_told_and_nothing_is_stored(
    grid: Database, capsys: Capture, given: list[str], told: str
) -> None:
    assert main([*described("alpha", "gamma"), *given]) == 1
    assert told in capsys.readouterr().err
    assert stored(grid) == {}


@pytest.mark.parametrize("given", [{"backend": "-c 4"}, {}])
def test_options_need_clusters_that_are_named(grid: Database, capsys: Capture, given: dict[str, str]) -> None:
    words = [] if given else ["-b", "-c 4"]
    assert main(["-j", json.dumps(DESCRIBED | {"clusters": "any", "requirements": "cores >= 1"} | given), *words]) == 1
    assert "backend: the grid chooses the clusters, and each kind has options of its own" in capsys.readouterr().err
    assert stored(grid) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["-b", "-c 'x"], "a quote is not closed"),
        (["-b", ""], "no option is given"),
        (["-b", "alpha:"], "no option is given"),
        (["-b"], "expected one argument"),
        (["-c", "1", "-b", "-c 4", "-J", '["x"]'], "-c adds tasks to a campaign that exists"),
    ],
)
def test_bad_usage_is_told(capsys: Capture, given: list[str], told: str) -> None:
    assert main([*given] if "-c" in given else [*described("alpha"), *given]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["-b", "-h"], ["--backend", "--help"], ["--backend=help"]])
def test_help_prints_the_tables_of_the_grids_batch_systems(capsys: Capture, asked: list[str]) -> None:
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.endswith(":")] == ["slurm (alpha, beta):", "gridengine (gamma):"]
    assert "-c, --cpus-per-task" in said
    assert "local (here) takes no such options: what is given there is ignored" in said


def test_help_may_be_of_one_cluster_and_for_programs(capsys: Capture) -> None:
    assert main(["-b", "beta:-h", "--output", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == ["slurm"]
    assert answer["slurm"]["clusters"] == ["beta"]
    assert {"option": "-C, --constraint", "attribute": "features", "overrides": "properties"}.items() <= answer[
        "slurm"
    ]["options"][3].items()
    assert main(["-b", "bta:-h"]) == 2
    assert "there is no cluster 'bta'; there are: alpha, beta, gamma, here" in capsys.readouterr().err


def test_check_shows_them_and_needs_no_database(
    grid: Database, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["--check", *described("alpha"), "-b", "--gres=gpu:1"]) == 0
    assert "backend      --gres=gpu:1" in capsys.readouterr().out
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1")
    assert main(["--check", *described("alpha"), "-b", "--gres=gpu:1"]) == 0
    assert "the options of the batch system of alpha were not checked" in capsys.readouterr().err


def test_options_may_begin_with_a_dash() -> None:
    assert joined(["-b", "-h", "x", "--backend", "--a b", "-b"]) == ["--backend=-h", "x", "--backend=--a b", "-b"]
