"""Lists in pages: wherever a page ends, each row is told once, in its place."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, insert

from cigri.database import Database, server_time
from cigri.endpoints import list_endpoints, paging
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.paging import pages, walk
from cigri.flow.affinities_and_targets import Principal, put_affinity, put_target
from cigri.flow.audit import put_audit
from cigri.flow.ceilings import put_limit
from cigri.flow.drains import NodeDrainRequest, put_node_drain
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.resource_documents import put_description
from cigri.flow.ssh_keys import put_key
from cigri.flow.subscriptions import put_subscription
from cigri.flow.tokens import put_token
from cigri.flow.views import page_sizes
from cigri.flow.views.clusters import list_cluster_views
from cigri.formats.subscriptions import read_subscribing
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of
from cigri.resources.description import ResourcesDescription
from cigri.settings.sections import NodeSettings, Settings
from cigri.ssh_keys.public_keys import read_public_key
from cigri.states import Outcome, PrincipalKind
from cigri.tables.jobs import Accounting
from cigri.tables.pools import SubmitPool
from tests.conftest import clone_database, made_template
from tests.factories import NOON, a_campaign, a_cluster, a_quota, end_jobs, set_time, submitted_jobs

ROWS = 5
CLUSTERS = ("dahu", "luke", "Zoe", "zoe", "bigfoot")
ED25519 = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
POOL = {name: func.now() for name in ("created_at", "updated_at", "last_used_at")} | {"version": 1}
ALICE = Caller("alice", is_operator=True)
PAGED = {endpoint.name: endpoint for endpoint in list_endpoints() if endpoint.paging is not None}
ASKED: dict[str, list[dict[str, Any]]] = {
    "accounting": [{}],
    "affinities": [{}],
    "backend_options": [{}],
    "cluster_jobs": [{"cluster": "luke"}],
    "cluster_usage": [{}],
    "clusters": [{}],
    "declared_clusters": [{}],
    "excluded_nodes": [{}],
    "get_keys": [{}],
    "limits": [{}],
    "pools": [{}],
    "properties": [{}],
    "quotas": [{}],
    "resource_documents": [{}],
    "subscriptions": [{}],
    "targets": [{}],
    "task_commands": [{"campaign_id": 1, "number": 0}],
    "used_work": [{"apart": apart} for apart in ("user", "project,type", "day", "day,user,project,cluster,type")],
    "why": [{"campaign_id": 1}, {"campaign_id": 2}],
    "audit_trail": [{}],
    "campaigns": [{}, *({"order": order} for order in ("-id", "name", "-name", "state", "user"))],
    "errors": [{}],
    "events": [{}, {"campaigns": "1", "with_closed": True}],
    "get_tokens": [{}],
    "parameters": [{"campaign_id": 1}],
    "tasks": [{"campaign_id": 1}],
    "written": [{"campaign_id": 1}],
}
"""Each of them has ROWS rows to tell."""
DRIVERS = ("local", "slurm", "oar", "gridengine", "local")
ROWS_OF = {"backend_options": len(set(DRIVERS)), "pools": ROWS + 1}
SIZES = pytest.mark.parametrize("size", range(1, ROWS + 2))


def put_rows(conn: Connection) -> None:
    for name, driver in zip(CLUSTERS, DRIVERS, strict=True):
        options = {"spool": "/nowhere"} if driver == "local" else {}
        cluster = a_cluster(conn, name, driver=driver, options=options)
    cluster = put_declared(conn)
    for name in ("one", "two", "one", "two", "one"):
        number = a_campaign(conn, ROWS, name=name, clusters=CLUSTERS if name == "one" else ["dahu"])
        jobs = submitted_jobs(conn, number, cluster, ROWS if number == 1 else 1)
        end_jobs(conn, cluster, jobs, Outcome.FAILURE if number == 1 else Outcome.SUCCESS, exit_code=3)
        put_audit(conn, ALICE, "pause_campaign", {"campaign_id": number})
        put_token(conn, "alice", hash_of(str(number)), scope=AccessScope.READ, expires_in=3600.0)
    put_used(conn)
    for number, more in ((3, 3), (5, 2)):
        submitted_jobs(conn, number, cluster + CLUSTERS.index("luke"), more)


def put_declared(conn: Connection) -> int:
    """Of each kind ROWS, of which several begin alike; give the number of the cluster dahu."""
    ids = {cluster.name: cluster.id for cluster in list_cluster_views(conn)}
    for number in range(1, ROWS + 1):
        put_limit(conn, f"limit{number}", number)
        put_description(conn, ResourcesDescription({}, {}, {}, {}), f"# {number}", "root")
        put_subscription(conn, "alice", read_subscribing(f"webhook:https://example.org/{number}"))
        key = b64encode(ED25519 + bytes([number] * 32)).decode()
        put_key(conn, "alice", read_public_key(f"ssh-ed25519 {key} {number}"))
        conn.execute(insert(SubmitPool).values(digest="same", project=f"p{number}", requirements={}, **POOL))
    for rule, where in (("*,*,all,/", ""), ("*,*,all,/", "dahu"), ("*,*,all,/", "luke"), ("*,*,all,x", "luke")):
        a_quota(conn, rule, 5, cluster=where)
    a_quota(conn, "*,*,all,x", 5)
    for kind, who in (("user", "x"), ("user", "y"), ("project", "x"), ("project", "y"), ("project", "z")):
        put_target(conn, Principal(PrincipalKind(kind), who), 2.0)
    for who, where in (("x", "dahu"), ("x", "luke"), ("x", "zoe"), ("y", "dahu"), ("y", "luke")):
        put_affinity(conn, who, where)
    for where, node in (("dahu", "n1"), ("dahu", "n2"), ("luke", "n1"), ("luke", "n2")):
        put_exclusion(conn, ids[where], where, node, "it is sick", NodeSettings())
    put_node_drain(conn, ids["luke"], NodeDrainRequest("n1", NOON, "root"))
    return ids["dahu"]


def put_used(conn: Connection) -> None:
    """In place of what the jobs have used, by the day on which this is asked."""
    conn.execute(delete(Accounting))
    for number in range(ROWS):
        used = {"grid_user": f"user{number}", "project": f"p{number}", "cluster": "dahu", "outcome": Outcome.SUCCESS}
        day = func.date_trunc("day", func.now(), "UTC") - timedelta(days=number)
        conn.execute(insert(Accounting).values(**used, day=day, is_replica=False, jobs=1, core_seconds=1.0))


@pytest.fixture(scope="module")
def rows_template(server: Path) -> Iterator[str]:
    with made_template(server, put_rows) as name:
        yield name


@pytest.fixture(scope="module")
def database_url(server: Path, compiled: None, rows_template: str) -> Iterator[str]:
    yield from clone_database(server, rows_template)


@pytest.fixture
def grid(database: Database) -> InProcessClient:
    """Time stands still: periods of usage begin with what is asked first."""
    with database.begin() as conn:
        now = server_time(conn)
    set_time(database, now)
    return InProcessClient(database, Settings, ALICE)


def test_each_list_in_pages_is_tried() -> None:
    assert PAGED.keys() == ASKED.keys()


@SIZES
@pytest.mark.parametrize(("name", "asked"), [(name, asked) for name in ASKED for asked in ASKED[name]], ids=str)
def test_rows_are_told_once_wherever_pages_end(
    name: str, asked: dict[str, Any], size: int, grid: InProcessClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grid.call(PAGED[name], **asked, limit=100)
    rows = ROWS_OF.get(name, ROWS)
    assert len(whole) == rows, whole
    is_backwards = PAGED[name].paging.is_backwards  # type: ignore[union-attr]  # they all have it
    monkeypatch.setattr(paging, "LONGEST_PAGE", size)
    assert walk(grid, PAGED[name], **asked) == whole
    for most in range(ROWS + 2):
        expected = whole[max(0, rows - most) :] if is_backwards else whole[:most]
        assert walk(grid, PAGED[name], most, **asked) == expected, most
    if not is_backwards:
        assert [row for page in pages(grid, PAGED[name], size, **asked) for row in page] == whole


@SIZES
@pytest.mark.parametrize("name", ["parameters", "tasks"])
def test_rows_are_told_once_where_pages_end_early(
    name: str, size: int, grid: InProcessClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grid.call(PAGED[name], campaign_id=1, limit=100)
    monkeypatch.setattr(page_sizes, "LARGEST_PAGE", size)
    assert len(grid.call(PAGED[name], campaign_id=1, limit=100)) < ROWS
    assert walk(grid, PAGED[name], campaign_id=1) == whole
