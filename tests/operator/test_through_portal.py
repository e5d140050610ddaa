"""What an operator says of the grid's use goes through its portal: without the database's address, and audited."""

import getpass
import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from cigri.api_models.changes import AuditEntry
from cigri.database import Database
from cigri.endpoints import paging
from cigri.flow.audit import list_audit
from cigri.flow.clusters import find_cluster
from cigri.flow.excluded_nodes import list_excluded_nodes, put_exclusion
from cigri.flow.holds import hold_job
from cigri.identity.callers import Caller
from cigri.settings.sections import NodeSettings
from modules.operator import HERE_ONLY
from modules.operator.parsers import operator_commands
from modules.portal.authentication import Authenticator
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.operator.conftest import Cigri
from tests.portal.conftest import EnvironmentSettings, serving


@pytest.fixture(autouse=True)
def _portal(cigri: Cigri, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All that the command has; a cluster, and a campaign."""
    with database.begin() as conn:
        put_exclusion(conn, a_cluster(conn, driver="slurm"), "dahu", "n1", "it is sick", NodeSettings())
        a_campaign(conn, 1)
    with serving(database, EnvironmentSettings(), tmp_path / "portal.sock") as served:
        monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(served.place))
        monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://nobody@127.0.0.1:1/none")
        yield


def trail(database: Database) -> list[AuditEntry]:
    with database.begin() as conn:
        return list_audit(conn)


@pytest.mark.parametrize(
    ("words", "endpoint", "said"),
    [
        ("limit set matlab 20", "set_limit", "All jobs together may use 20 of matlab"),
        ("quota set user * 5 --cluster dahu", "set_quota", "Each user may have 5 cores on dahu"),
        ("target set project sea 3", "set_target", "sea has the target 3"),
        ("affinity add bob dahu", "add_affinity", "bob has an affinity with dahu"),
        ("campaign priority 1 5", "set_grid_priority", "Campaign 1 has priority 5"),
        ("cluster map dahu bob robert", "map_account", "On dahu the jobs of bob run as robert"),
        ("cluster change dahu --set timeout=9", "change_cluster", "Cluster dahu is changed"),
        ("cluster disable dahu", "disable_cluster", "Cluster dahu gets no new jobs"),
        ("cluster enable dahu", "enable_cluster", "Cluster dahu gets jobs"),
        ("cluster drain dahu --by +2h --kill", "drain_cluster", "what runs is to end by"),
        ("cluster nodes dahu --admit n1", "admit_nodes", "Cluster dahu: n1 may have jobs again"),
        ("cluster nodes dahu --drain n2 --by 2199-12-01T08:00", "drain_nodes", "to end by 2199-12-01 08:00:00"),
    ],
)
def test_it_is_done_and_audited(words: str, endpoint: str, said: str, cigri: Cigri, database: Database) -> None:
    told = cigri(*words.split())
    assert (told.status, said in told.out) == (0, True), told
    assert [(entry.user, entry.endpoint) for entry in trail(database)] == [(getpass.getuser(), endpoint)]


def test_lists_are_told(cigri: Cigri) -> None:
    assert cigri("target", "set", "user", "bob", "2").status == 0
    assert json.loads(cigri("target", "list", "--json").out) == [{"kind": "user", "name": "bob", "share": 2.0}]
    assert [node["node"] for node in json.loads(cigri("cluster", "nodes", "--json").out)] == ["n1"]


def test_the_jobs_of_a_cluster_are_listed(cigri: Cigri, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own, an operator's all; the ended ones are not among them, and each page is read."""
    with database.begin() as conn:
        cluster = a_cluster(conn, "luke")
        for user in ("mallory", "bob"):
            jobs = submitted_jobs(conn, a_campaign(conn, 3, user=user, clusters=["luke"]), cluster, 3)
            end_jobs(conn, cluster, jobs[:1])
            run_jobs(conn, jobs[1:2], node="luke-7")
            hold_job(conn, jobs[2], Caller(user))
    monkeypatch.setattr(paging, "LONGEST_PAGE", 1)
    every = json.loads(cigri("cluster", "jobs", "luke", "--json").out)
    assert [(job["user"], job["state"], job["node"], job["is_held"]) for job in every] == [
        (user, *how) for user in ("mallory", "bob") for how in (("running", "luke-7", False), ("submitted", None, True))
    ]
    assert json.loads(cigri("cluster", "jobs", str(cluster), "--json").out) == every
    monkeypatch.setattr(Authenticator, "caller", lambda *_: Caller("mallory"))
    assert json.loads(cigri("cluster", "jobs", "luke", "--json").out) == every[:2]
    lines = cigri("cluster", "jobs", "luke").out.splitlines()
    assert [line.split()[2:4] for line in lines[1:]] == [["mallory", "running"], ["mallory", "submitted,"]]
    told = cigri("cluster", "jobs", "drahu")
    assert (told.status, "no cluster drahu" in told.err) == (1, True), told
    monkeypatch.setattr(Authenticator, "caller", lambda *_: Caller("carol"))
    assert "no job of yours lives on luke" in cigri("cluster", "jobs", "luke").err


def test_who_is_no_operator_is_refused(cigri: Cigri, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Authenticator, "caller", lambda *_: Caller("mallory"))
    refused = ("quota list", "pools", "cluster show dahu", "cluster map dahu mallory root", "cluster remove dahu")
    for words in (*refused, "quota set user mallory 999", "cluster nodes dahu --admit n1"):
        told = cigri(*words.split())
        assert (told.status, "this is for operators only, and you are mallory" in told.err) == (1, True), told
    with database.begin() as conn:
        assert [node.node for node in list_excluded_nodes(conn)] == ["n1"]
    assert trail(database) == []


def test_operators_let_nobody_run_as_root(cigri: Cigri, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Authenticator, "caller", lambda *_: Caller("alice", is_operator=True))
    told = cigri("cluster", "map", "dahu", "alice", "root")
    assert (told.status, "only root lets jobs run as root" in told.err) == (1, True), told
    assert cigri("cluster", "map", "dahu", "alice", "al").status == 0
    assert [(entry.user, entry.asked["account"]) for entry in trail(database)] == [("alice", "al")]


def test_a_file_is_read_here_and_checked_there(cigri: Cigri, database: Database, tmp_path: Path) -> None:
    path = tmp_path / "luke.toml"
    path.write_text('driver = "slurm"\ntransport = "ssh"\nmax_waiting = 5\nssh = { host = "luke" }\n')
    assert cigri("cluster", "add", "luke", "--file", str(path)).status == 0
    shown = cigri("cluster", "show", "luke").out
    assert 'ssh = { host = "luke" }' in shown
    path.write_text(shown.replace("max_waiting = 5", "max_waitin = 5"))
    told = cigri("cluster", "change", "luke", "--file", str(path))
    assert (told.status, "max_waitin: unknown, did you mean max_waiting?" in told.err) == (2, True), told
    assert [entry.endpoint for entry in trail(database)] == ["declare_cluster"]


def test_the_batch_system_is_asked_whether_its_fallback_is_needed(cigri: Cigri, database: Database) -> None:
    options = ["--driver", "slurm", "--set", "fallback={spool='/nowhere', pools={cpu=4}}"]
    told = cigri("cluster", "add", "luke", *options)
    assert told.status == 0, told
    assert "WARNING: the jobs of luke run on this host, its batch system was not there" in told.err
    with database.begin() as conn:
        found = find_cluster(conn, "luke")
    assert found is not None
    assert found.config.in_use.driver == "local"


def test_resources_are_applied_shown_and_listed(cigri: Cigri, tmp_path: Path) -> None:
    path = tmp_path / "resources.toml"
    path.write_text('[cluster.dahu]\nsite = "grenoble"\n')
    assert cigri("resources", "apply", str(path), "--dry-run").out == "+ cluster dahu: site = grenoble\n"
    assert cigri("resources", "apply", str(path)).out.splitlines()[-1] == "Version 1 holds"
    assert cigri("resources", "show").out == path.read_text()
    [listed] = json.loads(cigri("resources", "history", "--json").out)
    assert (listed["version"], listed["by"]) == (1, getpass.getuser())
    path.write_text("[cluster.nosuch]\n")
    told = cigri("resources", "apply", str(path))
    assert (told.status, str(path) in told.err, "nosuch" in told.err) == (2, True, True), told


def test_each_command_that_does_its_work_here_says_why() -> None:
    """All others ask the portal where there is one, and open no database."""
    words = {" ".join(words) for words in operator_commands()}
    assert HERE_ONLY.keys() <= words
    for command in words - HERE_ONLY.keys():
        source = Path(inspect.getfile(import_module(".".join(["modules.operator", *command.split()])))).read_text()
        assert "open_grid()" in source, command
        assert "open_database" not in source, command
