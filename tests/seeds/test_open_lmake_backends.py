"""Resources, buckets and the local batch system as open-lmake's description of its backends wants them.

What it says besides is tested beside what does it: backends.py and its like name the test of each sentence.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from cigri.database import Database
from cigri.drivers import BatchRequest, ResourceRequest, load
from cigri.errors import ConfigError
from cigri.flow.tasks import take_waiting
from cigri.jdl import ClusterSettings, JobResources
from cigri.jdl.task_amounts import BucketSorter, exact, find_peaks, rounded
from cigri.localbatch.backfill_queue import BackfillQueue, JobArray
from cigri.localbatch.pools import ResourcePools, default_pools
from modules.runner.fallback_mapping import mapped
from tests.factories import a_cluster
from tests.flow.test_buckets import sized
from tests.localbatch.host import Host
from tests.wrapper.cluster import Cluster

SETTINGS: dict[str, Any] = {"exec_file": "run {size}"}
POOLS = {"cpu": 4, "mem": 1000, "gnat": 2}
THREE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "local": ({"spool": "/s", "pools": {"cpu": 4, "mem": 900, "tmp": 90}}, ('"cpu": 2', '"mem": 100', '"tmp": 50')),
    "slurm": ({}, ("--cpus-per-task=2", "--mem=100M", "--tmp=50M")),
    "gridengine": ({"pe": "smp", "disk": "tmpfs"}, ("-pe smp 2", "h_vmem=50M", "tmpfs=25$")),
    "oar": ({"memory": "memnode", "disk": "scratch"}, ("core=2", "(memnode >= 100)", "(scratch >= 50)")),
}


def test_a_job_is_eligible_if_what_it_requires_fits_into_the_pool() -> None:
    pools = ResourcePools(POOLS)
    assert pools.fit({"cpu": 4, "mem": 1000, "gnat": 2})
    assert not pools.fit({"cpu": 1, "mem": 1001})


def test_what_a_job_requires_is_subtracted_when_it_is_launched_and_returned_when_it_ends() -> None:
    pools = ResourcePools(POOLS)
    pools.take({"cpu": 3, "mem": 333})
    assert (pools.free("cpu"), pools.free("mem"), pools.free("gnat")) == (1, 667, 2)
    pools.give({"cpu": 3, "mem": 333})
    assert pools.free("mem") == 1000


def test_required_resources_are_those_of_the_description_with_the_parameters_of_the_task_filled_in() -> None:
    resources = JobResources.model_validate({"cpu": 2, "mem": "{size} * 2 GB", "gnat": "{size}"})
    assert resources.request(exact(resources.formulas, {"size": 3}, 0)) == ResourceRequest(2, 1, 6144, {"gnat": 3})


@pytest.mark.parametrize("kind", THREE)
def test_all_backends_manage_cpu_mem_and_tmp(kind: str) -> None:
    options, words = THREE[kind]
    request = BatchRequest("a", 1, 60, ResourceRequest(cpu=2, mem=100, tmp=50))
    batch_system = load(kind, options)
    assert batch_system.problems(request) == []
    said = batch_system.submit(request)
    assert [word for word in words if word not in said] == []


def test_cpu_reserves_as_many_cores_as_threads_are_to_run() -> None:
    waiting = BackfillQueue(ResourcePools({"cpu": 4}))
    waiting.add(_array(1, 3, {"cpu": 2}))
    assert len(waiting.choose(0.0, 10)) == 2


def test_mem_is_reserved_in_the_unit_of_the_pools_which_is_megabytes_by_default() -> None:
    assert JobResources.model_validate({"mem": 700}) == JobResources.model_validate({"mem": "700 MB"})
    waiting = BackfillQueue(ResourcePools(POOLS))
    waiting.add(_array(1, 2, {"cpu": 1, "mem": JobResources.model_validate({"mem": 700}).request().mem}))
    assert len(waiting.choose(0.0, 10)) == 1


def test_units_are_powers_of_1024_and_a_thousandth_is_refused() -> None:
    assert JobResources.model_validate({"mem": "2 GB"}).mem == 2048
    with pytest.raises(ValueError, match="a thousandth"):
        JobResources.model_validate({"mem": "10m"})


def test_no_disk_is_reserved_unless_tmp_is_asked_for() -> None:
    assert JobResources().request().tmp == 0
    for driver, options, word in (("slurm", {}, "--tmp="), ("gridengine", {"disk": "tmpfs"}, "tmpfs=")):
        batch_system = load(driver, options)
        assert word not in batch_system.submit(BatchRequest("a", 1, 60))
        assert f"{word}100" in batch_system.submit(BatchRequest("a", 1, 60, ResourceRequest(tmp=100)))


@pytest.mark.process
def test_tmpdir_is_a_fresh_and_empty_directory_that_is_removed_after_execution(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["dash"])
    cluster.write('echo "$TMPDIR"; ls -A "$TMPDIR"; echo >"$TMPDIR/left"')
    assert cluster.run().status == 0
    [place] = cluster.out().splitlines()
    assert not Path(place).exists()


def test_sizes_are_quantified_with_relatively_large_steps() -> None:
    assert [rounded(amount) for amount in (1000, 1024, 1025, 1300, 1537)] == [1024, 1024, 1280, 1536, 1792]


def test_each_job_may_have_a_different_number_and_there_are_few_buckets() -> None:
    sorting = BucketSorter([{"mem": "{} MB"}], {})
    keys = {sorting.key(str(size), 0) for size in range(1, 100_001)}
    assert len(keys) == 63
    assert len({exact({"mem": "{} MB"}, str(size), 0)["mem"] for size in range(1, 1001)}) == 1000


def test_rounding_never_makes_a_job_impossible_that_fits() -> None:
    assert rounded(97) == 112
    assert rounded(97, [100]) == 100


def test_the_work_grows_with_the_number_of_different_resources_and_not_with_the_jobs_that_wait(
    database: Database,
) -> None:
    said: list[int] = []
    for tasks in (4, 400):
        with database.begin() as conn:
            a_cluster(conn)
            campaign = sized(conn, [size for size in (1, 2, 4, 8) for _ in range(tasks // 4)])
            statements = _statements(conn)
            assert len(take_waiting(conn, campaign, 4)) == 4
            said.append(len(statements))
    assert said[0] == said[1] <= 5


def test_tasks_of_the_same_resources_are_ordered_by_priority_beforehand(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = sized(conn, [1, 2, 1, 2])
        conn.exec_driver_sql("UPDATE tasks SET priority = 30 WHERE number = 3")
        assert [task.priority for task in take_waiting(conn, campaign, 1)] == [30], "of its bucket the first alone"
        taken = take_waiting(conn, campaign, 4)
        assert taken[0].priority == 30
        assert [task.priority for task in taken] == [30, 10, 10, 10]


def test_resources_are_mapped_to_this_host_as_far_as_it_has_them() -> None:
    wish = ResourceRequest(2, 1, 300, {"gnat": 1})
    assert mapped(BatchRequest("a", 1, 60, wish), POOLS).resources == wish


@pytest.mark.parametrize("wish", [ResourceRequest(mem=2000), ResourceRequest(others={"gpu": 1})])
def test_what_this_host_lacks_or_has_too_little_of_makes_the_job_run_alone(wish: ResourceRequest) -> None:
    resources = mapped(BatchRequest("a", 1, 60, wish), POOLS).resources
    pools = ResourcePools(POOLS)
    need = {"cpu": resources.width, "mem": resources.mem}
    assert pools.fit(need)
    pools.take(need)
    assert not pools.fit({"cpu": 1})


@pytest.mark.process
def test_the_local_backends_of_two_grids_know_nothing_of_each_other(tmp_path: Path) -> None:
    hosts = [Host(tmp_path / name) for name in ("one", "other")]
    try:
        for host in hosts:
            host.directory.mkdir()
            name = host.submit('until [ -e "$D/open" ]; do sleep 0.02; done', size=2)
            _wait_for_two(host, name)
        assert [host.ask("capacity")[0]["pools"]["cpu"]["free"] for host in hosts] == [0, 0]
    finally:
        for host in hosts:
            (host.directory / "open").touch()
            host.clear()


def test_the_configuration_is_a_whole_number_for_each_name_whatever_the_name() -> None:
    assert load("local", {"spool": "/s", "pools": {"cpu": 2, "mem": 9, "tmp": 3, "gnat": 7}}).largest()["gnat"] == 7
    for wrong in ({"cpu": "2"}, {"mem": 1.5}, {"gnat": 0}, {"Gnat!": 1}):
        with pytest.raises(ConfigError, match="pools of driver local must be names and positive numbers"):
            load("local", {"spool": "/s", "pools": wrong})


def test_a_resource_that_is_not_in_the_configuration_is_refused_with_the_line_that_would_put_it_there(
    tmp_path: Path,
) -> None:
    [said] = load("local", {"spool": "/s"}).problems(BatchRequest("a", 1, 60, ResourceRequest(others={"gnat": 9})))
    assert said == (
        "a job asks for gnat=9, and the cluster has none; "
        "`cigri cluster change NAME --option pools.gnat=9` would change that"
    )


@pytest.mark.parametrize("value", [3, "3", "{size}", "{size} * 1"])
def test_a_value_is_a_number_or_a_text_that_can_be_read_as_one_tailored_for_each_job(value: object) -> None:
    settings = ClusterSettings.model_validate({**SETTINGS, "resources": {"gnat": value}})
    amounts = exact(settings.resources.formulas, {"size": 3}, 0)
    assert settings.resources.request(amounts).others == {"gnat": 3}


def test_a_value_that_cannot_be_read_as_a_number_is_told_with_its_task() -> None:
    _, [problem] = find_peaks([{"gnat": "{size}"}], [{"size": 1}, {"size": "many"}])
    assert str(problem) == "task 1: resources.gnat: size is no number: 'many'"


def test_by_default_there_are_the_cores_of_this_process_and_the_physical_memory() -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024**2
    assert default_pools() == {"cpu": len(os.sched_getaffinity(0)), "mem": memory}
    assert load("local", {"spool": "/s"}).largest() == {"cpu": os.cpu_count(), "mem": memory}


def test_by_default_a_job_requires_one_core() -> None:
    assert ClusterSettings.model_validate(SETTINGS).resources.request() == ResourceRequest(cpu=1)


def _array(array_id: int, size: int, need: Mapping[str, int]) -> JobArray:
    array = JobArray(array_id, 0, f"a{array_id}", size, need, 60, 0, ("/bin/true",))
    array.left.extend(range(1, size + 1))
    return array


def _statements(conn: Connection) -> list[str]:
    """Those that are executed from now on."""
    statements: list[str] = []
    event.listen(conn, "before_cursor_execute", lambda *about: statements.append(about[2]))
    return statements


def _wait_for_two(host: Host, name: str) -> None:
    host.wait_for(lambda: host.states(name, 2) == ["running"] * 2)
