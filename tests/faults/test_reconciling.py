"""Batches of which nobody noted whether they were submitted: asked for in queue and history, or made void."""

from contextlib import closing
from pathlib import Path

import pytest

from cigri.errors import TransportError
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.gateway.transport_gateway import TransportGateway
from cigri.shell.results import ShellResult
from modules import runner, updator
from tests.faults.test_kill import TASKS, choose_jobs, pass_that_dies
from tests.forker import Forker
from tests.grid import Grid, until


class Late(TransportGateway):
    """A way to the cluster that breaks at the first command; it arrives all the same, when nobody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.on_its_way = ""

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if not self.on_its_way:
            self.on_its_way = script
            raise TransportError(cluster.name, "the connection broke")
        return super().run(cluster, user, script)


def test_a_batch_that_ran_and_left_the_queue_is_adopted_by_the_history(forker: Forker, grid: Grid) -> None:
    """The jobs keep their remote ids, by which they could still be asked for or killed."""
    grid.submit([str(number) for number in range(TASKS)])
    choose_jobs(grid)
    pass_that_dies(forker, grid, "runner", "after")
    until(lambda: len(grid.executions()) == TASKS)
    with grid.database.begin() as conn:
        [cluster] = list_clusters(conn, "runner")
    driver = grid.gateway.driver(cluster)
    listed = driver.status("cigri.")
    until(lambda: not driver.parse_status(grid.gateway.run(cluster, grid.site.user, listed), "cigri."))
    assert runner.run_once(grid.tools)["adopted batches"] == 1
    assert grid.one("SELECT count(*) FROM jobs WHERE remote_id IS NULL") == 0
    grid.run_to_end()
    grid.assert_each_ran_once(TASKS)
    assert grid.one("SELECT count(*) FROM attempts") == TASKS


def test_a_submission_that_arrives_after_its_batch_was_given_back_starts_nothing(grid: Grid) -> None:
    grid.submit([str(number) for number in range(TASKS)])
    choose_jobs(grid)
    with closing(Late()) as broken:
        runner.run_once(grid.tools._replace(gateway=broken))
    assert grid.one("SELECT state::text FROM batches") == "launching"
    until(lambda: runner.run_once(grid.tools)["batches given back"] == 1, what="the cluster is tried again")
    assert grid.one("SELECT state::text FROM batches ORDER BY created_at LIMIT 1") == "void"
    with grid.database.begin() as conn:
        [cluster] = list_clusters(conn, "runner")
    late = grid.gateway.run(cluster, grid.site.user, broken.on_its_way)
    assert "voided" in late.err
    grid.run_to_end()
    grid.assert_each_ran_once(TASKS)


@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_the_same_batch_is_not_submitted_twice_by_a_runner_that_dies_again(
    forker: Forker, local: Grid, moment: str
) -> None:
    """It dies at the submission, and its successor while it asks what became of it."""
    local.submit([str(number) for number in range(TASKS)])
    choose_jobs(local)
    pass_that_dies(forker, local, "runner", moment)
    pass_that_dies(forker, local, "runner", "after")
    assert Path(local.place).is_dir()
    local.run_to_end()
    updator.run_once(local.tools)
    local.assert_each_ran_once(TASKS)
