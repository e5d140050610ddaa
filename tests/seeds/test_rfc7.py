"""What RFC 7 of DIRAC says that no part of the grid shows alone."""

import json
from typing import Any

import pytest
from sqlalchemy import Connection, event, select

from cigri.database import Database
from cigri.drivers import load
from cigri.errors import CigriError
from cigri.flow.batches import put_batch
from cigri.flow.grid_identity import grid_key
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.resource_documents import put_description
from cigri.flow.tasks import take_waiting
from cigri.requirements import read_canonical
from cigri.resources.document import read_document
from cigri.shell.results import ShellResult
from cigri.tables.pools import SubmitPool
from tests.drivers.test_nodes import core, oar, slurm
from tests.factories import a_cluster
from tests.pools.made import refused, submit, two_clusters

pytestmark = pytest.mark.noon

SITE = """
[site.lyon]
[cluster.fat]
site = "lyon"
[cluster.fat.properties]
platform = "x86_64"
softwaretag = ["AppVersion1", "AppVersion2"]
service = ["conddb"]
cpumodel = "Intel Xeon"
"""


def described(conn: Connection) -> None:
    two_clusters(conn)
    put_description(conn, read_document(SITE), SITE, "root")


def test_the_reserved_keywords_are_part_of_what_defines_the_pool(database: Database) -> None:
    with database.begin() as conn:
        described(conn)
        wanted = {"Site": "lyon", "BannedSite": "thin", "Platform": "x86_64", "CPUTime": 3600}
        submit(conn, wanted)
        for one in wanted:
            submit(conn, {one: wanted[one]})
        pools = conn.execute(select(SubmitPool).order_by(SubmitPool.c.id)).all()
    assert len({pool.digest for pool in pools}) == 5
    first, *others = (str(read_canonical(pool.requirements["requirement"])) for pool in pools)
    assert all(other and other in first for other in others)


@pytest.mark.parametrize(
    ("wanted", "impossible"),
    [
        ({"SoftwareTag": "AppVersion2"}, {"SoftwareTag": "AppVersion3"}),
        ({"Service": "conddb"}, {"Service": "squid"}),
        ({"Memory": "192 GB"}, {"Memory": "193 GB"}),
        ({"CPUModel": "Intel Xeon"}, {"CPUModel": "Intel"}),
    ],
)
def test_software_services_memory_and_cpu_models_can_be_required(
    database: Database, wanted: dict[str, Any], impossible: dict[str, Any]
) -> None:
    with database.begin() as conn:
        described(conn)
        assert refused(conn, submit(conn, wanted)).keys() == {"thin"}
        with pytest.raises(CigriError, match="no queue is eligible"):
            submit(conn, impossible)


def test_one_question_is_asked_for_a_whole_bunch_of_jobs(database: Database) -> None:
    asked: list[int] = []
    for jobs in (1, 200):
        with database.begin() as conn:
            name = f"c{jobs}"
            cluster = a_cluster(conn, name)
            campaign = submit(conn, None, clusters=[name], tasks=jobs)
            tasks = take_waiting(conn, campaign, jobs)
            put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in tasks])
            [launch] = list_launches(conn, cluster, jobs, jobs)
            assert len(launch.jobs) == jobs
            statements: list[str] = []
            event.listen(conn, "before_cursor_execute", lambda *about, to=statements: to.append(about[2]))
            assert put_batch(conn, launch, cluster, grid_key(conn))
            assert any("submit_pool_queues" in statement for statement in statements)
            asked.append(len(statements))
    assert asked[0] == asked[1]


def test_only_static_parameters_are_properties_of_nodes() -> None:
    """What runs on a node, how loaded and in which state it is: nothing of that is asked for, or it is left out."""
    [one] = slurm("thin|20|32|192000|ib,avx512|(null)|infinite")
    assert one.properties.keys() == {"cores", "memory", "features"}
    assert " %t" not in load("slurm", {}).nodes()
    busy = [core(1, state="Suspected", next_state="UnChanged", jobs="12", last_job_date=9, expiry_date=9)]
    assert oar(*busy) == oar(core(1))
    pools = {"cpu": {"total": 8, "free": 8}}
    idle, full = (
        load("local", {"spool": "/x"}).parse_nodes(ShellResult(0, json.dumps({"pools": told}) + '\n{"end":1}\n', ""))
        for told in (pools, {"cpu": {"total": 8, "free": 0}})
    )
    assert idle == full
