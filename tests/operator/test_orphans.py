"""The doctor's look at the queues of clusters, on the local cluster."""

import pytest

from cigri.drivers import BatchRequest, RemoteJob
from cigri.flow.clusters import find_cluster
from cigri.flow.grid_identity import grid_key
from modules.operator import main
from tests.grid import Grid, until


@pytest.fixture
def grid(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Grid:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", local.database.url.replace("+psycopg", ""))
    local.submit(["1"], command="exec sleep 300")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    return local


def live(grid: Grid) -> list[RemoteJob]:
    with grid.database.begin() as conn:
        cluster, prefix = find_cluster(conn, "here"), f"cigri.{grid_key(conn)}."
    assert cluster
    driver = grid.gateway.driver(cluster)
    return driver.parse_status(grid.gateway.run(cluster, grid.site.user, driver.status(prefix)), prefix)


def submit_behind_its_back(grid: Grid, tag: str) -> None:
    with grid.database.begin() as conn:
        cluster, key = find_cluster(conn, "here"), grid_key(conn)
    assert cluster
    driver, request = grid.gateway.driver(cluster), BatchRequest(f"cigri.{key}.{tag}", 1, 600)
    prepare = f"cd {grid.place} && printf '#!/bin/sh\\nexec sleep 300\\n' >job && chmod +x job || exit\n"
    driver.parse_submit(grid.gateway.run(cluster, grid.site.user, prepare + driver.submit(request)), request)


def test_nothing_is_found_where_all_is_well(grid: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--clusters"]) == 0
    said = capsys.readouterr().out
    assert "✓ the database knows all CiGri jobs on here\n" in said
    assert "✓ here knows all jobs that the database has there\n" in said


def test_an_orphan_is_named_and_killed_on_request(grid: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    submit_behind_its_back(grid, "4711")
    assert main(["doctor", "--clusters"]) == 1
    said = capsys.readouterr().out
    assert "✗ here has CiGri jobs unknown to the database\n" in said
    assert ".4711\n" in said
    assert main(["doctor", "--clusters", "--kill-orphans"]) == 1
    assert "1 of them were killed" in capsys.readouterr().out
    until(lambda: len(live(grid)) == 1)
    assert main(["doctor", "--clusters"]) == 0


def test_a_job_that_no_queue_has_is_told(grid: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    (job,) = live(grid)
    with grid.database.begin() as conn:
        cluster = find_cluster(conn, "here")
    assert cluster
    driver = grid.gateway.driver(cluster)
    driver.parse_cancel(grid.gateway.run(cluster, grid.site.user, driver.cancel([job.remote_id])))
    until(lambda: not live(grid))
    assert main(["doctor", "--clusters"]) == 0
    assert f"! the database has jobs unknown to here\n  job 1 ({job.remote_id})" in capsys.readouterr().out


def test_killing_orphans_needs_a_look_at_the_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--kill-orphans"]) == 2
    assert "go with --clusters" in capsys.readouterr().err
