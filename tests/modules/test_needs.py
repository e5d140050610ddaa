"""Amounts computed for each task, from the description to the pools of a cluster and the program."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.drivers import ResourceRequest
from cigri.flow.batches import PreparedBatch
from cigri.flow.clusters import find_cluster, put_cluster
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.queue_verdicts import list_whys
from cigri.states import QueueRejectCode
from modules import updator
from modules.operator.down import ask
from modules.runner.batch_spec import plan_batch
from tests.factories import NOON, a_cluster
from tests.flow.test_buckets import SIZED, sized
from tests.grid import Grid, local_site, until
from tests.localbatch.host import Host

pytestmark = pytest.mark.noon

SHORT = "needs gnat=2, free 1"


def seen(local: Grid) -> list[str]:
    return sorted(Path(local.place, "seen").read_text().splitlines())


def test_exact_amounts_are_asked_for_charged_and_told(local: Grid) -> None:
    """Rounded to their bucket (2048 MB) the two would not fit into the 4000 MB of the cluster together."""
    show = f'echo "$CIGRI_RESOURCE_CPU $CIGRI_RESOURCE_MEM ${{CIGRI_RESOURCE_TMP-none}}" >>{local.place}/seen'
    up = f"{local.place}/up"
    both = f"touch {up}.$CIGRI_RESOURCE_MEM; until [ -e {up}.1950 ] && [ -e {up}.2050 ]"
    params = [{"size": 1950}, {"size": 2050}]
    local.submit(params, command=f"{show}; {both}; do sleep 0.02; done", resources={"mem": "{size}"})
    local.run_to_end()
    local.assert_each_ran_once(2)
    assert seen(local) == ["1 1950 none", "1 2050 none"]


def test_amounts_of_the_same_size_travel_in_one_batch(local: Grid) -> None:
    params = [{"size": size} for size in (10, 20, 10, 20, 10)]
    local.submit(params, resources={"mem": "{size} * 3"})
    local.run_to_end()
    local.assert_each_ran_once(5)
    assert sorted(row["size"] for row in local.rows("SELECT size FROM batches")) == [2, 3]
    assert local.one("SELECT count(*) FROM buckets") == 2


def test_a_pool_of_the_operators_own_is_charged_too(local: Grid) -> None:
    """Three tasks of which each takes two of three gnats run one after the other."""
    options = local.site.config["options"]
    pools = {**options["pools"], "gnat": 3, "tmp": 50}
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, {**local.site.config, "options": {**options, "pools": pools}})
    limit = '$(cat "$JOBFEATURES/scratch_limit_bytes")'
    show = f'echo "$CIGRI_RESOURCE_GNAT $CIGRI_RESOURCE_TMP {limit}" >>{local.place}/seen'
    hold = f"until [ -e {local.place}/go ]; do sleep 0.05; done"
    local.submit(["1", "2", "3"], command=f"{show}; {hold}", resources={"gnat": "min({}, 1) + 1", "tmp": "{1} * 10"})
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 3)
    spool = Path(options["spool"])
    until(lambda: {array["reason"] for array in ask(spool, "list", prefix="", everybody=True)} >= {SHORT})
    until(Path(local.place, "seen").exists)
    assert len(seen(local)) == 1, "the others wait"
    Path(local.place, "go").touch()
    local.run_to_end()
    local.assert_each_ran_once(3)
    assert seen(local) == [f"2 {size} {size * 2**20}" for size in (10, 20, 30)]


def test_what_shrank_below_what_a_job_asks_for_is_refused_with_the_line_that_would_change_it(local: Grid) -> None:
    local.submit([{"size": 5000}], resources={"mem": "{size}"})
    with local.database.begin() as conn:
        conn.execute(text("DELETE FROM bucket_pools"))  # as of a campaign that is older than they are
    local.run_until(lambda: local.rows("SELECT 1 FROM events WHERE code = 'SUBMISSION_REFUSED'"))
    [said] = local.rows("SELECT message FROM events WHERE code = 'SUBMISSION_REFUSED'")
    assert (
        "a job asks for mem=5000, and the cluster has 4000; `cigri cluster change here --option pools.mem=5000`"
        in (said["message"])
    )


def test_what_shrank_below_what_a_job_asks_for_gets_none_and_is_told(local: Grid) -> None:
    campaign = local.submit([{"size": 5000}], resources={"mem": "{size}"})
    for _ in range(2):
        local.cycle()
    with local.database.begin() as conn:
        [queue] = list_whys(conn, campaign)
    assert (queue.eligible, queue.code, queue.name) == (0, QueueRejectCode.TOO_SMALL, "memory")
    assert local.counts() == {"waiting": 1}
    assert local.rows("SELECT 1 FROM jobs") == []


@pytest.fixture
def large(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """Beside `here` with 4000 MB and one gnat a cluster `there` with 8000 and three, and what both have is known."""
    host = Host(tmp_path / "large")
    host.directory.mkdir()
    for site, pools in (
        (local.site, {"cpu": 4, "mem": 4000, "gnat": 1}),
        (local_site(host.spool, "there"), {"cpu": 4, "mem": 8000, "gnat": 3}),
    ):
        options = {"spool": site.config["options"]["spool"], "pools": pools}
        local.add(replace(site, config={**site.config, "options": options}))
    updator.run_once(local.tools)
    yield local
    host.clear()


@pytest.mark.parametrize(("resource", "least", "most"), [("mem", 3000, 7000), ("gnat", 1, 3)])
def test_each_task_goes_where_it_fits(large: Grid, resource: str, least: int, most: int) -> None:
    params = [{"size": size} for size in (least, most, least, most)]
    large.submit(params, clusters={"here": {}, "there": {}}, resources={resource: "{size}"})
    large.run_to_end()
    large.assert_each_ran_once(4)
    found = large.rows(
        "SELECT tasks.number, clusters.name FROM attempts JOIN jobs ON jobs.id = job_id "
        "JOIN tasks ON tasks.id = task_id JOIN clusters ON clusters.id = jobs.cluster_id"
    )
    assert {(row["number"], row["name"]) for row in found if row["number"] in (1, 3)} == {(1, "there"), (3, "there")}
    assert large.rows("SELECT message FROM events WHERE code = 'SUBMISSION_REFUSED'") == []


def test_tasks_side_by_side_ask_for_the_most_of_them_each(database: Database) -> None:
    wished = {"cpu": 2, "nodes": 1, "mem": "{} * 10", "tmp": "{} * 2", "native": []}
    with database.begin() as conn:
        cluster_id = a_cluster(conn)
        campaign = sized(conn, [9, 10], settings={**SIZED, "resources": wished})
        put_jobs(conn, campaign, [NewJob(cluster_id, 4, 60, take_waiting(conn, campaign, 2), 2)])
        [launch] = list_launches(conn, cluster_id, 10, 10)
        cluster = find_cluster(conn, "dahu")
    assert cluster is not None
    plan, request = plan_batch(cluster, "abcd", launch, PreparedBatch(1, "cigri.abcd.1", NOON))
    assert request.resources == ResourceRequest(4, 1, 200, tmp=40)
    assert plan.amounts == {"nodes": 1, "cpu": 2, "mem": 100, "tmp": 20}
    assert plan.resources == "/nodes=1/core=2,mem=100,tmp=20"


def test_a_temporary_directory_is_kept_and_told_where(local: Grid) -> None:
    local.submit(["a"], command='echo "$TMPDIR" >"$TMPDIR/left"', keep_tmp=True)
    local.run_to_end()
    [note] = Path(local.site.config["directory"]).rglob("kept.1")
    place = Path(note.read_text().strip().partition(":")[2])
    until(lambda: (place / "left").exists())
    assert (place / "left").read_text().strip() == str(place)
    (place / "left").unlink()
    place.rmdir()
    place.parent.rmdir()
