"""gridsub --local: a campaign that names clusters runs on this host, and alone where that has not what it asks for."""

import json
from typing import Any

import pytest
from sqlalchemy import delete, select

from cigri.cli import gridsub
from cigri.database import Database
from cigri.jdl import JobResources
from cigri.submission.local_submission import mapped_resources
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from tests.cli.running import Run
from tests.factories import a_cluster

COMMAND = gridsub
POOLS = {"cpu": 8, "mem": 1000, "licence": 2}


@pytest.mark.parametrize(
    ("asked", "mapped", "lacking"),
    [
        ({"cpu": 2, "mem": 100}, {"cpu": 2, "mem": 100}, []),
        ({"cpu": 2, "nodes": 2, "mem": 100}, {"cpu": 4, "mem": 200}, []),
        ({"cpu": 1, "licence": 1}, {"cpu": 1, "licence": 1}, []),
        ({"cpu": 1, "mem": "{size} MB"}, {"cpu": 1, "mem": "{size} MB"}, []),
        ({"cpu": 1, "mem": 1001}, {"cpu": 8, "mem": 1000}, ["mem"]),
        ({"cpu": 1, "gpu": 1}, {"cpu": 8}, ["gpu"]),
        ({"cpu": 3, "nodes": 3}, {"cpu": 8}, ["cpu"]),
        ("/switch=1/core=2", {"cpu": 8}, ["resources in OAR's words"]),
    ],
)
def test_what_is_asked_for_is_mapped_or_a_job_runs_alone(
    asked: Any, mapped: dict[str, Any], lacking: list[str]
) -> None:
    found = mapped_resources(JobResources.model_validate(asked), POOLS, is_alone=False)
    assert found == (JobResources.model_validate(mapped), lacking)


def described(**fields: Any) -> str:
    return json.dumps({"name": "n", "exec_file": "e", "nb_jobs": 1, **fields})


def stored(grid: Database) -> tuple[str, dict[str, Any], object, object]:
    """Of the only campaign: its cluster, the settings there, what it requires, and whether the grid chooses."""
    with grid.begin() as conn:
        row = conn.execute(
            select(Cluster.c.name, CampaignCluster.c.settings, Campaign.c.wanted, Campaign.c.anywhere)
            .join(CampaignCluster, CampaignCluster.c.cluster_id == Cluster.c.id)
            .join(Campaign, Campaign.c.id == CampaignCluster.c.campaign_id)
        ).one()
    return row[0], row[1], row[2], row[3]


def test_a_campaign_runs_here_whatever_clusters_it_names(run: Run, grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "dahu", driver="slurm")
        a_cluster(conn, "localhost", options={"spool": "/s", "pools": {"cpu": 2}})
    wish = {"dahu": {"queue": "fast", "walltime": 60, "type": "semi-best-effort"}, "gone": {}}
    said = run("--local", "-j", described(clusters=wish, requirements="memory >= 1 TB"))
    assert said.status == 0, said.err
    assert "on localhost each job runs alone: it has no requirements, queue like that" in said.err
    cluster, settings, wanted, anywhere = stored(grid)
    assert (cluster, wanted, anywhere) == ("localhost", None, None)
    assert (settings["queue"], settings["walltime"], settings["type"]) == ("", 60, "best-effort")
    assert settings["resources"]["cpu"] == 2


def test_without_a_cluster_on_this_host_there_is_no_local(run: Run, grid: Database) -> None:
    with grid.begin() as conn:
        a_cluster(conn, "dahu", driver="slurm")
    said = run("--local", "-j", described(clusters=["dahu"]))
    assert said.status == 1
    assert "--local: no cluster is this host (see `cigri cluster add --help`)" in said.err
    assert run("-c", "1", "--local", "-J", "[1]").status == 2


def test_a_campaign_runs_here_where_it_asks_for_it_or_nothing_else_is_there(run: Run, grid: Database) -> None:
    options = {"spool": "/s", "pools": {"cpu": 2}}
    with grid.begin() as conn:
        a_cluster(conn, "localhost", options=options)
    assert run("-j", described()).status == 0
    assert (stored(grid)[0], stored(grid)[3]) == ("localhost", None)
    with grid.begin() as conn:
        a_cluster(conn, "dahu", driver="slurm")
        conn.execute(delete(Campaign))
    assert run("-j", described()).status == 1
    assert run("-j", described(clusters={"localhost": {}})).status == 0
    assert stored(grid)[0] == "localhost"
