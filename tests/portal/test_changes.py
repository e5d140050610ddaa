"""Each endpoint asked by strangers, others, owners and operators over a real portal; who is refused changes nothing."""

import json
import os
import pwd
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, func, select, update

from cigri import endpoints
from cigri.database import Database
from cigri.endpoints import Endpoint, May
from cigri.flow.audit import list_audit
from cigri.flow.campaigns import move_campaign
from cigri.flow.ceilings import put_limit, put_quota
from cigri.flow.drains import DrainWish, put_drain
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.holds import hold_campaign, hold_job
from cigri.flow.precedence import Subject, put_affinity, put_target
from cigri.flow.resources import put_description
from cigri.flow.sessions import put_link
from cigri.flow.tokens import end_token, put_token
from cigri.resources.description import ResourcesDescription
from cigri.rules.callers import Caller, Scope
from cigri.rules.token_text import hash_of
from cigri.settings.sections import NodeSettings, PortalSettings, Settings
from cigri.states import CampaignState, Outcome, SubjectKind
from cigri.tables import everything
from cigri.tables.audit import Audit
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.tokens import Token
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.portal.conftest import Answered, Mint, Serve, Served, bearer

DAEMON = 1  # the number of an account that owns nothing here
SYNC = 4  # the number of one in the group of nobody's


class Asked(NamedTuple):
    """A request that an operator may make, and its owner; `other`: what anybody else is answered."""

    path: str
    other: int
    body: Any = None
    status: int = 200
    """What they are answered."""


CAMPAIGN = {"name": "n", "exec_file": "e", "nb_jobs": 1, "clusters": ["dahu"]}
ASKED = {
    "whoami": Asked("/whoami", 200),
    "campaigns": Asked("/campaigns?with_ended=true", 200),
    "campaign": Asked("/campaigns/5", 200),
    "replicas": Asked("/campaigns/1/replicas", 200),
    "failures": Asked("/campaigns/5/failures", 200),
    "strip": Asked("/campaigns/5/strip", 200),
    "progress": Asked("/campaigns/5/progress", 200),
    "cores": Asked("/campaigns/1/cores", 200),
    "rates": Asked("/rates?campaigns=1-5", 200),
    "errors": Asked("/errors", 200),
    "description": Asked("/campaigns/1/description", 404),
    "parameters": Asked("/campaigns/1/parameters", 404),
    "notices": Asked("/notices?ids=1", 200),
    "figures": Asked("/figures", 200),
    "why": Asked("/campaigns/1/why", 200),
    "tasks": Asked("/campaigns/1/tasks?after=0", 200),
    "latest_tasks": Asked("/campaigns/1/latest-tasks", 200),
    "task": Asked("/campaigns/1/tasks/1", 200),
    "task_commands": Asked("/campaigns/1/tasks/1/commands", 404),
    "task_by_id": Asked("/tasks/1", 200),
    "job": Asked("/jobs/1", 200),
    "outputs": Asked("/jobs/1/outputs?streams=out", 404, status=202),
    "cancel_campaign": Asked("/campaigns/1/cancel", 404),
    "pause_campaign": Asked("/campaigns/1/pause", 404),
    "resume_campaign": Asked("/campaigns/2/resume", 404),
    "purge_campaign": Asked("/campaigns/3/purge", 404),
    "checkpoint_campaign": Asked("/campaigns/1/checkpoint", 404),
    "hold_campaign": Asked("/campaigns/1/hold", 404, {"cluster": "dahu", "waiting_only": True}),
    "release_campaign": Asked("/campaigns/4/release", 404),
    "set_priority": Asked("/campaigns/1/priority", 404, {"priority": 3}),
    "resubmit_tasks": Asked("/campaigns/5/resubmit", 404, {"tasks": [[0, 1]]}),
    "kill_job": Asked("/jobs/1/kill", 404),
    "checkpoint_job": Asked("/jobs/1/checkpoint", 404),
    "hold_job": Asked("/jobs/1/hold", 404),
    "release_job": Asked("/jobs/2/release", 404),
    "events": Asked("/events?campaigns=5&with_closed=true", 404),
    "event_counts": Asked("/events/count?is_global=true", 200),
    "fix_events": Asked("/events/fix", 404, {"campaigns": "5", "resubmit": True}),
    "clusters": Asked("/clusters?names=dahu", 200),
    "cluster_hours": Asked("/clusters/hours", 200),
    "cluster_usage": Asked("/clusters/usage?hours=2", 200),
    "cluster_day": Asked("/clusters/dahu/day", 200),
    "properties": Asked("/clusters/properties", 200),
    "eligible_queues": Asked("/clusters/eligible?where=cores%3E=1", 200),
    "limits": Asked("/limits", 200),
    "set_limit": Asked("/limits", 403, {"name": "matlab", "capacity": 5}),
    "remove_limit": Asked("/limits/remove", 403, {"name": "ansys"}),
    "quotas": Asked("/quotas", 403),
    "set_quota": Asked("/quotas", 403, {"kind": "user", "name": "*", "cores": 5, "cluster": "dahu"}),
    "remove_quota": Asked("/quotas/remove", 403, {"kind": "project", "name": "sea"}),
    "targets": Asked("/targets", 403),
    "set_target": Asked("/targets", 403, {"kind": "user", "name": "alice", "share": 2}),
    "remove_target": Asked("/targets/remove", 403, {"kind": "user", "name": "bob"}),
    "affinities": Asked("/affinities", 403),
    "add_affinity": Asked("/affinities", 403, {"user": "alice", "cluster": "dahu"}),
    "remove_affinity": Asked("/affinities/remove", 403, {"user": "bob", "cluster": "dahu"}),
    "set_grid_priority": Asked("/campaigns/1/grid-priority", 403, {"priority": 3}),
    "enable_cluster": Asked("/clusters/dahu/enable", 403),
    "disable_cluster": Asked("/clusters/dahu/disable", 403),
    "drain_cluster": Asked("/clusters/dahu/drain", 403, {"by": "+2h", "kill": True}),
    "undrain_cluster": Asked("/clusters/drained/undrain", 403),
    "excluded_nodes": Asked("/nodes/excluded?cluster=dahu", 403),
    "admit_nodes": Asked("/clusters/drained/nodes/admit", 403, {"nodes": ["n1"]}),
    "drain_nodes": Asked("/clusters/drained/nodes/drain", 403, {"nodes": ["n2"], "by": "+2h"}),
    "declared_clusters": Asked("/clusters/declared", 403),
    "find_fallback": Asked('/clusters/luke/fallback?config={"driver":"slurm"}', 403, status=202),
    "declare_cluster": Asked("/clusters", 403, {"cluster": "luke", "config": {"driver": "slurm"}}),
    "change_cluster": Asked("/clusters/dahu/change", 403, {"config": {"driver": "slurm", "timeout": 3}}),
    "remove_cluster": Asked("/clusters/drained/remove", 403),
    "map_account": Asked("/clusters/dahu/accounts", 403, {"user": "mallory", "account": "root"}),
    "apply_resources": Asked("/resources", 403, '[cluster.dahu]\nsite = "grenoble"\n'),
    "resource_documents": Asked("/resources/documents", 403),
    "resource_document": Asked("/resources/document", 403),
    "pools": Asked("/pools", 403),
    "audit_trail": Asked("/audit?limit=5", 403),
    "create_token": Asked("/tokens", 200, {"comment": "a laptop", "for_root": True}),
    "get_tokens": Asked("/tokens", 200),
    "submit_campaign": Asked("/campaigns", 200, CAMPAIGN),
    "check_campaign": Asked("/campaigns/check", 200, CAMPAIGN),
    "add_tasks": Asked("/campaigns/1/tasks", 404, "a line"),
    "backend_options": Asked("/backend-options", 200),
    "revoke_token": Asked("/tokens/1/revoke", 404),
    "create_link": Asked("/sessions", 200, {"for_root": True}),
    "end_sessions": Asked("/sessions/end", 200, {"session_id": 1}),
}
OF_PERSONS = {"revoke_token"}
"""For the owner of what belongs to no campaign: group mates are anybody else."""
QUESTIONS = {"check_campaign"}
"""Asked by POST, for what is sent with them, and changing nothing."""
EVERY = list(endpoints.every())


@pytest.fixture(autouse=True)
def _grid(database: Database, nobody: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns of nobody's: 1 with job 1 running and job 2 held, 2 paused, 3 cancelled, 4 held, 5 with failures."""
    owner = Caller(pwd.getpwuid(nobody).pw_name)
    with database.begin() as conn:
        cluster = a_cluster(conn, options={"spool": "/nowhere"})
        for number in range(1, 6):
            assert a_campaign(conn, 3, user=owner.user) == number
        submitted_jobs(conn, 1, cluster, 2)
        run_jobs(conn, [1])
        hold_job(conn, 2, owner)
        move_campaign(conn, 2, owner, CampaignState.PAUSED)
        submitted_jobs(conn, 3, cluster, 1)
        move_campaign(conn, 3, owner, CampaignState.CANCELLED)
        hold_campaign(conn, 4, owner)
        end_jobs(conn, cluster, submitted_jobs(conn, 5, cluster, 2), Outcome.FAILURE, exit_code=1)
        settings = {"exec_file": "/bin/true", "walltime": 3600, "checkpoint": {"signal": "USR2"}}
        conn.execute(update(CampaignCluster).values(settings=settings))
        declared_by_operators(conn)
        put_token(conn, owner.user, hash_of("secret"), scope=Scope.READ, expires_in=60, comment="")
        put_link(conn, owner.user, hash_of("link"), Scope.SUBMIT)
    monkeypatch.setenv("CIGRI_SET_PORTAL__ADDRESS", "127.0.0.1:8080")


def declared_by_operators(conn: Connection) -> None:
    """Cluster `drained`, its sick node n1, and something of each kind that can be removed."""
    drained = a_cluster(conn, "drained", driver="slurm")
    put_drain(conn, "drained", DrainWish(NOON, False, 0, "root"))
    put_exclusion(conn, drained, "drained", "n1", "it is sick", NodeSettings())
    put_limit(conn, "ansys", 3)
    put_quota(conn, Subject(SubjectKind.PROJECT, "sea"), 7)
    put_target(conn, Subject(SubjectKind.USER, "bob"), 2.0)
    put_affinity(conn, "bob", "dahu")
    put_description(conn, ResourcesDescription({}, {}, {}, {}), "", "root")


def rows(conn: Connection) -> dict[str, list[str]]:
    """All that the database holds, but for the audit trail."""
    tables = [table for table in everything().sorted_tables if table is not Audit]
    return {table.name: sorted(map(str, conn.execute(select(table)))) for table in tables}


def trail(conn: Connection) -> list[tuple[str, str, str]]:
    """Who did what, how known."""
    return [(entry.user, entry.endpoint, entry.how) for entry in list_audit(conn)]


def ask(portal: Served, endpoint: Endpoint[..., Any], uid: int | None = None, token: str = "") -> Answered:
    asked = ASKED[endpoint.name]
    body = None if endpoint.method == "GET" else json.dumps(asked.body or {})
    headers = {"Content-Type": "application/json"} | (bearer(token) if token else {})
    return portal.request(endpoint.method, f"/api/v1{asked.path}", body, uid=uid, headers=headers)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.name)
def test_who_is_refused_changes_nothing(
    endpoint: Endpoint[..., Any], portal: Served, nobody: int, database: Database, mint: Mint
) -> None:
    expired, revoked = mint(scope=Scope.OPERATE), mint(scope=Scope.OPERATE)
    with database.begin() as conn:
        past = {"created_at": func.now() - timedelta(hours=2), "expires_at": func.now() - timedelta(hours=1)}
        conn.execute(update(Token).where(Token.c.id == 2).values(past))
        end_token(conn, 3, Caller("nobody"))
        before = rows(conn)
    assert ask(portal, endpoint, nobody - 7).status == 401
    assert [ask(portal, endpoint, token=token).status for token in (expired, revoked)] == [401, 401]
    told = ask(portal, endpoint, DAEMON)
    assert told.status == ASKED[endpoint.name].other, told.body
    if told.status != 200 or endpoint.method == "GET":
        with database.begin() as conn:
            assert rows(conn) == before
            assert trail(conn) == []
    if endpoint.may is May.OPERATOR:
        assert told.status == 403


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.name)
@pytest.mark.parametrize("who", ["owner", "operator"])
def test_owners_and_operators_change_it(
    who: str, endpoint: Endpoint[..., Any], portal: Served, nobody: int, database: Database
) -> None:
    if who == "owner" and endpoint.may is May.OPERATOR:
        assert ask(portal, endpoint, nobody).status == 403
        return
    with database.begin() as conn:
        before = rows(conn)
    told = ask(portal, endpoint, nobody if who == "owner" else None)
    assert told.status == ASKED[endpoint.name].status, told.body
    user = pwd.getpwuid(nobody if who == "owner" else os.geteuid()).pw_name
    with database.begin() as conn:
        changes = endpoint.method != "GET" and endpoint.name not in QUESTIONS
        assert (rows(conn) == before) is not changes
        assert trail(conn) == ([(user, endpoint.name, "kernel")] if changes else [])


@pytest.mark.parametrize("endpoint", [one for one in EVERY if ASKED[one.name].other == 404], ids=lambda one: one.name)
@pytest.mark.parametrize("group_may", ["see", "change"])
def test_group_mates_do_what_the_site_lets_them(
    group_may: Any, endpoint: Endpoint[..., Any], serve: Serve, nobody: int, database: Database
) -> None:
    """Without its word they are anybody else, as the test above has it of others."""
    portal = serve(Settings(portal=PortalSettings(group_may=group_may)))
    with database.begin() as conn:
        before = rows(conn)
    changes = endpoint.method != "GET"
    is_let = endpoint.name not in OF_PERSONS and (group_may == "change" or not changes)
    told = ask(portal, endpoint, SYNC)
    assert told.status == (ASKED[endpoint.name].status if is_let else 404), told.body
    assert ask(portal, endpoint, DAEMON).status == 404
    with database.begin() as conn:
        assert (rows(conn) == before) is not (changes and is_let)
        assert trail(conn) == ([("sync", endpoint.name, "kernel")] if changes and is_let else [])
