"""What matching costs on a large grid: which of very many waiting tasks may go where, and one pool looked at anew."""

import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

from sqlalchemy import Connection, insert, select, text

from cigri.database import Database
from cigri.flow.clusters import put_cluster
from cigri.flow.resource_documents import mark_changed
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.submit_pools import take_stale
from cigri.flow.views.job_destinations import list_closed, list_without_queue
from cigri.jdl import ClusterSettings
from cigri.states import CampaignType
from cigri.tables.clusters import Cluster
from cigri.tables.resources import NodeClass, Queue
from modules import matcher
from tests.bench.cycle import tools
from tests.bench.ground import ground
from tests.bench.table import Row, row

SIZE = 900_000  # waiting tasks
POOLS = 500
SITES = 60
QUEUES = ("long", "large")  # of each, besides the default one
OFFERED = 0.1  # seconds in which a cycle has to know what may be offered
RENEWED = 0.005  # seconds for one pool
RUNS = 15
GB = 2**30
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
FEATURES = ("avx2", "avx512", "infiniband", "scratch", "gpu")


def measure(size: int = SIZE, pools: int = POOLS, runs: int = RUNS) -> Iterator[Row]:
    with ground() as grid, tools(grid) as given:
        with grid.database.begin() as conn:
            _declare(conn)
        _submit(grid.database, pools, max(size // pools, 1))
        with grid.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
            conn.execute(text("VACUUM ANALYZE"))
        about = f"{size:,} waiting tasks in {pools} pools over {SITES} sites"
        taken = _timed(grid.database, _match, runs)
        most = f"at most {OFFERED * 1000:.0f} ms"
        yield row(f"matching: {about}, a cycle's offers", f"{taken * 1000:.0f} ms", most, f"{taken / OFFERED:.2f}")
        with grid.database.begin() as conn:
            mark_changed(conn)
        started = time.perf_counter()
        computed = matcher.run_once(given)["pools computed"]
        each = (time.perf_counter() - started) / computed
        most = f"at most {RENEWED * 1000:.0f} ms"
        about = f"a pool computed anew over {SITES * (1 + len(QUEUES))} queues, all resources having changed"
        yield row(f"matching: {about}", f"{each * 1000:.1f} ms", most, f"{each / RENEWED:.2f}")
        idle = _timed(grid.database, lambda conn: take_stale(conn, 900.0, 1), runs)
        yield row("matching: a pass with no pool to compute", f"{idle * 1000:.1f} ms")


def _match(conn: Connection) -> None:
    """What the metascheduler and the campaign schedulers ask, if every campaign is offered something."""
    list_without_queue(conn)
    list_closed(conn)


def _timed(database: Database, action: Callable[[Connection], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        with database.begin() as conn:
            started = time.perf_counter()
            action(conn)
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def _declare(conn: Connection) -> None:
    """Each site a cluster of two sorts of nodes, with a queue for each, and the default one for both."""
    draw = Random(1)
    for site in range(1, SITES + 1):
        put_cluster(conn, f"c{site}", {"driver": "local"})
    nodes, queues = [], []
    for cluster_id in conn.scalars(select(Cluster.c.id)).all():
        for queue in QUEUES:
            about = {"cluster_id": cluster_id, "at": BEGIN, "properties": _properties(draw), "nodes": 10}
            nodes += [{**about, "queue": name} for name in ("", queue)]
            queues.append({"cluster_id": cluster_id, "name": queue, "remote_name": queue})
    conn.execute(insert(Queue), queues)
    conn.execute(insert(NodeClass), nodes)
    mark_changed(conn)


def _properties(draw: Random) -> dict[str, Any]:
    return {
        "memory": draw.choice([32, 64, 128, 192, 384, 768]) * GB,
        "cores": draw.choice([8, 16, 32, 64]),
        "features": draw.sample(FEATURES, 2),
        "platform": draw.choice(["x86_64", "aarch64"]),
        "max_walltime": draw.choice([3600, 86400, 604800]),
    }


def _submit(database: Database, pools: int, tasks: int) -> None:
    """Campaigns of so many tasks each, no two of which require the same, each wherever there is a cluster."""
    settings = ClusterSettings(exec_file="true").model_dump(mode="json")
    part = NewCampaignCluster(settings, 1, None, False, False)
    parts = {f"c{site}": part for site in range(1, SITES + 1)}
    for number in range(pools):
        feature = FEATURES[number % len(FEATURES)]
        wanted = f"memory >= {1 + number} GB and cores >= 8 and ('{feature}' in features or platform == 'x86_64')"
        new = NewCampaign("c", "alice", CampaignType.DEFAULT, "", "workqueue", {}, parts, wanted=wanted)
        with database.begin() as conn:
            put_campaign(conn, new, map(str, range(tasks)))
