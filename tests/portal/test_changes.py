"""Each endpoint asked by strangers, others, owners and operators over a real portal; who is refused changes nothing."""

import json
import os
import pwd
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, func, insert, update
from starlette.routing import Mount, Route

from cigri import endpoints
from cigri.database import Database
from cigri.endpoints import Access, Endpoint
from cigri.flow.affinities_and_targets import Principal, put_affinity, put_target
from cigri.flow.audit import list_audit
from cigri.flow.browser_sessions import put_link
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.ceilings import put_limit
from cigri.flow.drains import ClusterDrain, put_drain
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.holds import hold_campaign, hold_job
from cigri.flow.resource_documents import put_description
from cigri.flow.ssh_keys import put_key
from cigri.flow.subscriptions import put_subscription
from cigri.flow.tokens import end_token, put_token
from cigri.formats.subscriptions import read_subscribing
from cigri.identity.callers import AccessScope, Caller
from cigri.identity.token_text import hash_of
from cigri.resources.description import ResourcesDescription
from cigri.settings.sections import NodeSettings, PortalSettings, Settings
from cigri.ssh_keys.public_keys import read_public_key
from cigri.states import Outcome, PrincipalKind
from cigri.tables import everything
from cigri.tables.audit import Audit, AuditChain
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.inputs import CampaignInput, StoredInput
from cigri.tables.tokens import Token
from modules.portal import make_app
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.settings_in_force import SettingsInForce
from tests.conftest import clone_database, made_template
from tests.factories import NOON, a_campaign, a_cluster, a_quota, end_jobs, run_jobs, submitted_jobs
from tests.permissions import FOR_STRANGERS, Who, needed_scope, permission
from tests.portal.conftest import Answered, Mint, Serve, Served, bearer

DAEMON = 1  # the number of an account that owns nothing here
SYNC = 4  # the number of one in the group of nobody's


class Asked(NamedTuple):
    """A request that an operator may make, and its owner where the endpoint is theirs."""

    path: str
    body: Any = None
    status: int = 200
    """What they are answered."""
    is_raw: bool = False
    """The body is no JSON."""


INPUT = "what a campaign takes along"
SUM_OF_INPUT = sha256(json.dumps(INPUT).encode()).hexdigest()
MENDED = "b" * 64
PACKED = f"{sha256(b'small').hexdigest()} 5\nsmall"

KIND, ED25519 = "ssh-ed25519", b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
A_KEY, ANOTHER_KEY = (f"{KIND} {b64encode(ED25519 + bytes([which] * 32)).decode()} laptop" for which in (1, 2))
WEBHOOK = {"address": "webhook:https://example.org/told", "severity": "high"}
CAMPAIGN = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": ["dahu"]}
ASKED = {
    "whoami": Asked("/whoami"),
    "campaigns": Asked("/campaigns?with_ended=true"),
    "campaign": Asked("/campaigns/5"),
    "replicas": Asked("/campaigns/1/replicas"),
    "failures": Asked("/campaigns/5/failures"),
    "strip": Asked("/campaigns/5/strip"),
    "progress": Asked("/campaigns/5/progress"),
    "cores": Asked("/campaigns/1/cores"),
    "rates": Asked("/rates?campaigns=1-5"),
    "errors": Asked("/errors"),
    "description": Asked("/campaigns/1/description"),
    "parameters": Asked("/campaigns/1/parameters"),
    "campaign_inputs": Asked("/campaigns/1/inputs"),
    "replace_inputs": Asked("/campaigns/1/inputs", {"inputs": [["solve.py", MENDED]]}),
    "notices": Asked("/notices?ids=1"),
    "accounting": Asked("/accounting"),
    "used_work": Asked("/accounting/sums?apart=day,user&since=2026-01-01"),
    "figures": Asked("/figures"),
    "why": Asked("/campaigns/1/why"),
    "tasks": Asked("/campaigns/1/tasks?after=0"),
    "found_tasks": Asked("/campaigns/1/found-tasks?state=waiting"),
    "latest_tasks": Asked("/campaigns/1/latest-tasks"),
    "task": Asked("/campaigns/1/tasks/1"),
    "task_commands": Asked("/campaigns/1/tasks/1/commands"),
    "task_by_id": Asked("/tasks/1"),
    "job": Asked("/jobs/1"),
    "outputs": Asked("/jobs/1/outputs?streams=out", status=202),
    "written": Asked("/campaigns/5/written"),
    "fetch_outputs": Asked("/campaigns/5/outputs?numbers=0&streams=out", status=202),
    "fetch_files": Asked("/campaigns/5/files?numbers=0&file=0/a%2520b", status=202),
    "cancel_campaign": Asked("/campaigns/1/cancel"),
    "purge_campaign": Asked("/campaigns/3/purge"),
    "forget_campaign": Asked("/campaigns/3/forget"),
    "checkpoint_campaign": Asked("/campaigns/1/checkpoint"),
    "hold_campaign": Asked("/campaigns/1/hold", {"cluster": "dahu", "waiting_only": True}),
    "release_campaign": Asked("/campaigns/4/release"),
    "set_priority": Asked("/campaigns/1/priority", {"priority": 3}),
    "resubmit_tasks": Asked("/campaigns/5/resubmit", {"tasks": [[0, 1]]}),
    "kill_job": Asked("/jobs/1/kill"),
    "checkpoint_job": Asked("/jobs/1/checkpoint"),
    "hold_job": Asked("/jobs/1/hold"),
    "release_job": Asked("/jobs/2/release"),
    "events": Asked("/events?campaigns=5&with_closed=true"),
    "event_counts": Asked("/events/count?campaigns=5&with_closed=true"),
    "fix_events": Asked("/events/fix", {"campaigns": "5", "resubmit": True}),
    "clusters": Asked("/clusters?names=dahu"),
    "cluster_hours": Asked("/clusters/hours"),
    "cluster_usage": Asked("/clusters/usage?hours=2"),
    "cluster_day": Asked("/clusters/dahu/day"),
    "cluster_jobs": Asked("/clusters/dahu/jobs"),
    "properties": Asked("/clusters/properties"),
    "eligible_queues": Asked("/clusters/eligible?where=cores%3E=1"),
    "limits": Asked("/limits"),
    "set_limit": Asked("/limits", {"name": "matlab", "capacity": 5}),
    "remove_limit": Asked("/limits/remove", {"name": "ansys"}),
    "quotas": Asked("/quotas"),
    "set_quota": Asked("/quotas", {"rule": "*,*,all,/", "cores": 5, "cluster": "dahu"}),
    "remove_quota": Asked("/quotas/remove", {"rule": "*,sea,all,*"}),
    "targets": Asked("/targets"),
    "set_target": Asked("/targets", {"kind": "user", "name": "alice", "share": 2}),
    "remove_target": Asked("/targets/remove", {"kind": "user", "name": "bob"}),
    "affinities": Asked("/affinities"),
    "add_affinity": Asked("/affinities", {"user": "alice", "cluster": "dahu"}),
    "remove_affinity": Asked("/affinities/remove", {"user": "bob", "cluster": "dahu"}),
    "set_grid_priority": Asked("/campaigns/1/grid-priority", {"priority": 3}),
    "enable_cluster": Asked("/clusters/dahu/enable"),
    "disable_cluster": Asked("/clusters/dahu/disable"),
    "drain_cluster": Asked("/clusters/dahu/drain", {"by": "+2h", "kill": True}),
    "undrain_cluster": Asked("/clusters/drained/undrain"),
    "excluded_nodes": Asked("/nodes/excluded?cluster=dahu"),
    "admit_nodes": Asked("/clusters/drained/nodes/admit", {"nodes": ["n1"]}),
    "drain_nodes": Asked("/clusters/drained/nodes/drain", {"nodes": ["n2"], "by": "+2h"}),
    "declared_clusters": Asked("/clusters/declared"),
    "find_fallback": Asked("/clusters/luke/fallback", {"config": {"driver": "slurm"}}, status=202),
    "declare_cluster": Asked("/clusters", {"cluster": "luke", "config": {"driver": "slurm"}}, status=201),
    "change_cluster": Asked("/clusters/dahu/change", {"config": {"driver": "slurm", "timeout": 3}}),
    "remove_cluster": Asked("/clusters/drained/remove"),
    "map_account": Asked("/clusters/dahu/accounts", {"user": "mallory", "account": "root"}),
    "apply_resources": Asked("/resources", '[cluster.dahu]\nsite = "grenoble"\n'),
    "resource_documents": Asked("/resources/documents"),
    "resource_document": Asked("/resources/document"),
    "pools": Asked("/pools"),
    "checks": Asked("/checks"),
    "audit_trail": Asked("/audit?limit=5"),
    "create_token": Asked("/tokens", {"comment": "a laptop", "for_root": True}),
    "get_tokens": Asked("/tokens"),
    "add_key": Asked("/ssh-keys", {"public_key": ANOTHER_KEY, "for_root": True}),
    "get_keys": Asked("/ssh-keys"),
    "remove_key": Asked("/ssh-keys/1/remove"),
    "create_challenge": Asked("/challenges", {"user": "nobody", "host": "localhost"}),
    "answer_challenge": Asked("/challenges/answer", {"nonce": "n" * 43, "signature": ""}, status=403),
    "submit_campaign": Asked("/campaigns", CAMPAIGN, status=201),
    "check_campaign": Asked("/campaigns/check", CAMPAIGN),
    "simulate_campaigns": Asked("/campaigns/simulate", CAMPAIGN, status=202),
    "submit_stages": Asked("/campaigns/stages", CAMPAIGN, status=201),
    "check_stages": Asked("/campaigns/stages/check", CAMPAIGN),
    "sent_input": Asked(f"/inputs/{SUM_OF_INPUT}"),
    "send_input": Asked(f"/inputs/{SUM_OF_INPUT}?size={len(json.dumps(INPUT))}", INPUT),
    "lacked_inputs": Asked("/lacked-inputs", SUM_OF_INPUT),
    "send_inputs": Asked("/inputs", PACKED, is_raw=True),
    "add_tasks": Asked("/campaigns/1/tasks", "a line"),
    "backend_options": Asked("/backend-options"),
    "revoke_token": Asked("/tokens/1/revoke"),
    "create_link": Asked("/sessions", {"for_root": True}),
    "subscriptions": Asked("/subscriptions"),
    "subscribe": Asked("/subscriptions", WEBHOOK),
    "subscribe_to_campaign": Asked("/campaigns/1/subscriptions", WEBHOOK),
    "subscribe_to_grid": Asked("/subscriptions/grid", WEBHOOK),
    "unsubscribe": Asked("/subscriptions/1/remove"),
    "new_secret": Asked("/subscriptions/1/secret"),
    "end_sessions": Asked("/sessions/end", {"session_id": 1}),
}
QUESTIONS = {"check_campaign", "check_stages", "lacked_inputs", "simulate_campaigns"}
"""Asked by POST, for what is sent with them, and changing nothing."""
AUDITED_QUESTIONS = {"find_fallback"}
"""They change nothing, and reach a host that their caller names."""
OF_STRANGERS = [one for one in endpoints.list_endpoints() if one.may is Access.ANYBODY]
EVERY = [one for one in endpoints.list_endpoints() if one not in OF_STRANGERS]
OF_MORE_THAN_READ = [one for one in EVERY if needed_scope(one) is not AccessScope.READ]
OF_ROOT = {"map_account"}
"""As it is asked here, for root only: to have jobs run as root."""
PARAMETER_OR_API = rf"\{{|^{endpoints.API}/"
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
READ = [table for table in everything().sorted_tables if table not in (Audit, AuditChain)]
EVERY_ROW = " UNION ALL ".join(f"SELECT '{table.name}', row_to_json(t)::text FROM {table.name} t" for table in READ)
EVERY_ROW += " ORDER BY 1, 2"
OF_OWNERS = [one for one in EVERY if one.may in (Access.OWNER, Access.HOLDER)]


@pytest.fixture(scope="module")
def filled_template(server: Path) -> Iterator[str]:
    """The name of a database with the rows of put_grid."""
    with made_template(server, put_grid) as name:
        yield name


@pytest.fixture
def database_url(server: Path, compiled: None, filled_template: str) -> Iterator[str]:
    yield from clone_database(server, filled_template)


@pytest.fixture(autouse=True)
def _grid(database: Database, nobody: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is valid for a minute is not copied."""
    owner = pwd.getpwuid(nobody).pw_name
    with database.begin() as conn:
        put_token(conn, owner, hash_of("secret"), scope=AccessScope.READ, expires_in=60, comment="")
        put_link(conn, owner, hash_of("link"), AccessScope.SUBMIT)
    monkeypatch.setenv("CIGRI_SET_PORTAL__ADDRESS", "127.0.0.1:8080")
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "inputs"))


def put_grid(conn: Connection) -> None:
    """Campaigns of nobody's: 1 with job 1 running and job 2 held, 2 and 4 held, 3 cancelled, 5 with failures."""
    owner = Caller("nobody")
    cluster = a_cluster(conn, options={"spool": "/nowhere"})
    for number in range(1, 6):
        assert a_campaign(conn, 3, user=owner.user) == number
    submitted_jobs(conn, 1, cluster, 2)
    run_jobs(conn, [1])
    hold_job(conn, 2, owner)
    hold_campaign(conn, 2, owner)
    submitted_jobs(conn, 3, cluster, 1)
    cancel_campaign(conn, 3, owner)
    hold_campaign(conn, 4, owner)
    end_jobs(conn, cluster, submitted_jobs(conn, 5, cluster, 2), Outcome.FAILURE, exit_code=1)
    settings = {"exec_file": "/bin/true", "walltime": 3600, "checkpoint": {"signal": "USR2"}}
    conn.execute(update(CampaignCluster).values(settings=settings))
    put_inputs(conn, settings)
    declared_by_operators(conn)
    put_subscription(conn, owner.user, read_subscribing("webhook:https://example.org/x"))
    put_key(conn, owner.user, read_public_key(A_KEY))


def put_inputs(conn: Connection, settings: Mapping[str, Any]) -> None:
    """Campaign 1 takes a program along, and has taken along another one before."""
    for sum in ("a" * 64, MENDED):
        conn.execute(insert(StoredInput).values(sha256=sum, size=3, stored_at=func.now()))
        conn.execute(insert(CampaignInput).values(campaign_id=1, sha256=sum))
    program = {"path": "solve.py", "to": "solve.py", "sha256": "a" * 64, "size": 3, "packed": False}
    values = {"settings": {**settings, "exec_directory": "$HOME/here", "inputs": [program]}}
    conn.execute(update(CampaignCluster).where(CampaignCluster.c.campaign_id == 1).values(values))


def declared_by_operators(conn: Connection) -> None:
    """Cluster `drained`, its sick node n1, and something of each kind that can be removed."""
    drained = a_cluster(conn, "drained", driver="slurm")
    put_drain(conn, "drained", ClusterDrain(NOON, False, 0, "root"))
    put_exclusion(conn, drained, "drained", "n1", "it is sick", NodeSettings())
    put_limit(conn, "ansys", 3)
    a_quota(conn, "*,sea,all,*", 7)
    put_target(conn, Principal(PrincipalKind.USER, "bob"), 2.0)
    put_affinity(conn, "bob", "dahu")
    put_description(conn, ResourcesDescription({}, {}, {}, {}), "", "root")


def rows(conn: Connection) -> dict[str, list[str]]:
    """All that the database holds, but for the audit trail."""
    found: dict[str, list[str]] = {table.name: [] for table in READ}
    for name, row in conn.exec_driver_sql(EVERY_ROW):
        found[name].append(row)
    return found


def trail(conn: Connection) -> list[tuple[str, str, str]]:
    """Who did what, how known."""
    return [(entry.user, entry.endpoint, entry.how) for entry in list_audit(conn)]


def ask(portal: Served, endpoint: Endpoint[..., Any], uid: int | None = None, token: str = "") -> Answered:
    asked = ASKED[endpoint.name]
    body = None if endpoint.method == "GET" else asked.body if asked.is_raw else json.dumps(asked.body or {})
    headers = {"Content-Type": "application/json"} | (bearer(token) if token else {})
    return portal.request(endpoint.method, f"/api/v1{asked.path}", body, uid=uid, headers=headers)


def expected(endpoint: Endpoint[..., Any], who: Who) -> int:
    """What is answered to who is let in is the endpoint's business."""
    return permission(endpoint, who).refusal or ASKED[endpoint.name].status


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.name)
def test_who_is_refused_changes_nothing(
    endpoint: Endpoint[..., Any], portal: Served, nobody: int, database: Database, mint: Mint
) -> None:
    expired, revoked = mint(scope=AccessScope.OPERATE), mint(scope=AccessScope.OPERATE)
    with database.begin() as conn:
        past = {"created_at": func.now() - timedelta(hours=2), "expires_at": func.now() - timedelta(hours=1)}
        conn.execute(update(Token).where(Token.c.id == 2).values(past))
        end_token(conn, 3, Caller("nobody"))
        before = rows(conn)
    assert ask(portal, endpoint, nobody - 7).status == permission(endpoint, Who.ANONYMOUS).refusal
    assert [ask(portal, endpoint, token=token).status for token in (expired, revoked)] == [401, 401]
    told = ask(portal, endpoint, DAEMON)
    assert told.status == expected(endpoint, Who.OTHER), told.body
    if told.status not in (200, 201) or endpoint.method == "GET":
        with database.begin() as conn:
            assert rows(conn) == before
            assert trail(conn) == []


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.name)
@pytest.mark.parametrize("who", [Who.OWNER, Who.OPERATOR])
def test_owners_and_operators_change_it(
    who: Who, endpoint: Endpoint[..., Any], portal: Served, nobody: int, database: Database
) -> None:
    with database.begin() as conn:
        before = rows(conn)
    told = ask(portal, endpoint, nobody if who is Who.OWNER else None)
    assert told.status == expected(endpoint, who), told.body
    user = pwd.getpwuid(nobody if who is Who.OWNER else os.geteuid()).pw_name
    is_let = permission(endpoint, who).refusal is None
    with database.begin() as conn:
        changes = endpoint.method != "GET" and endpoint.name not in QUESTIONS and is_let
        assert (rows(conn) == before) is (not changes or endpoint.name in AUDITED_QUESTIONS)
        assert trail(conn) == ([(user, endpoint.name, "kernel")] if changes else [])


@pytest.mark.parametrize("endpoint", OF_OWNERS, ids=lambda one: one.name)
@pytest.mark.parametrize("who", [Who.SEEING_MATE, Who.CHANGING_MATE])
def test_group_mates_do_what_the_site_lets_them(
    who: Who, endpoint: Endpoint[..., Any], serve: Serve, nobody: int, database: Database
) -> None:
    """Without its word they are anybody else, as the test above has it of others."""
    portal = serve(Settings(portal=PortalSettings(group_may="see" if who is Who.SEEING_MATE else "change")))
    with database.begin() as conn:
        before = rows(conn)
    told = ask(portal, endpoint, SYNC)
    assert told.status == expected(endpoint, who), told.body
    assert ask(portal, endpoint, DAEMON).status == HTTPStatus.NOT_FOUND
    changes = endpoint.method != "GET" and permission(endpoint, who).refusal is None
    with database.begin() as conn:
        assert (rows(conn) == before) is not changes
        assert trail(conn) == ([("sync", endpoint.name, "kernel")] if changes else [])


@pytest.mark.parametrize("endpoint", OF_MORE_THAN_READ, ids=lambda one: one.name)
def test_a_token_of_less_than_its_scope_changes_nothing(
    endpoint: Endpoint[..., Any], serve: Serve, nobody: int, database: Database, mint: Mint
) -> None:
    """Of one who is owner and operator."""
    portal = serve(Settings(portal=PortalSettings(operators=(pwd.getpwuid(nobody).pw_name,))))
    scopes, needed = list(AccessScope), needed_scope(endpoint)
    less, enough = mint(scope=scopes[scopes.index(needed) - 1]), mint(scope=needed)
    with database.begin() as conn:
        before = rows(conn)
    assert ask(portal, endpoint, token=less).status == HTTPStatus.FORBIDDEN
    with database.begin() as conn:
        after = rows(conn)
        assert {name for name in before if before[name] != after[name]} <= {"tokens"}, "when it was last used"
        assert trail(conn) == []
    told = ask(portal, endpoint, token=enough)
    assert told.status == ASKED[endpoint.name].status or endpoint.name in OF_ROOT, told.body


@pytest.mark.parametrize("endpoint", OF_STRANGERS, ids=lambda one: one.name)
def test_what_is_for_strangers_answers_everybody_alike(
    endpoint: Endpoint[..., Any], portal: Served, nobody: int, database: Database, mint: Mint
) -> None:
    """Nobody is looked at, and nothing of it is a change by anybody."""
    answers = [ask(portal, endpoint, uid) for uid in (nobody - 7, nobody, None)] + [ask(portal, endpoint, token=mint())]
    assert {told.status for told in answers} == {ASKED[endpoint.name].status}
    assert len({tuple(told.body) for told in answers}) == 1
    with database.begin() as conn:
        assert trail(conn) == []


def test_strangers_are_answered_where_the_page_says(open_portal: Served, database: Database) -> None:
    with closing(DeferredResponses()) as errands:
        routes = make_app(database, SettingsInForce(Settings(portal=PortalSettings())), errands).routes
    asked = {route.path: f"{route.path}/style.css" for route in routes if isinstance(route, Mount)}
    asked |= {
        route.path: route.path
        for route in routes
        if isinstance(route, Route) and "GET" in (route.methods or ()) and not re.search(PARAMETER_OR_API, route.path)
    }
    answered = {path for path, full in asked.items() if _status_for_stranger(open_portal, full) not in REFUSED}
    assert answered == set(FOR_STRANGERS)


def _status_for_stranger(portal: Served, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", portal.port)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()
