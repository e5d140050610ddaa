"""A whole grid under test: a database, the modules, one cluster, and a count of what really ran on it."""

import getpass
import json
import os
import secrets
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from cigri import jdl
from cigri.database import Database
from cigri.errors import DatabaseUnavailable
from cigri.flow.clusters import put_cluster
from cigri.flow.dependencies import NewDependency
from cigri.flow.kill_requests import request_kills
from cigri.flow.submissions import put_campaign
from cigri.flow.views.invariants import examine
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import PolicySettings, Settings
from cigri.states import KillReason
from cigri.submission.new_campaign import new_campaign
from modules import campaign_schedulers, killer, matcher, metascheduler, notifier, predictor, runner, stager, updator
from tests.waiting import PATIENCE, looks

TESTBED = Path(__file__).parents[1] / "scripts" / "testbed"
CYCLE = (updator, predictor, matcher, stager, metascheduler, campaign_schedulers, runner, killer, notifier)
UNHURRIED = {"shortest": 0.1, "longest": 2.0}  # seconds between two cycles, each up to a second of CPU
QUICK = {
    "poll_interval": 0.0,
    "record_grace": 1.0,
    "lost_after": 8.0,
    "timeout": 20.0,
    "keep_waiting": 50,
    "n_max_queued_jobs": 50,
    "most_load": 1000.0,  # its front-end is this very machine, which is as busy as the tests make it
}

HOSTS = {"alpha": "127.0.8.1", "beta": "127.0.8.2", "gamma": "127.0.8.3", "delta": "127.0.8.4"}
"""Where the front-ends of the testbed's clusters are."""

USED_CLUSTERS: set[str] = set()
"""The real clusters that the test which runs has asked for; any may be used where no test runs, as in benchmarks."""

SITUATION = """
    SELECT 'campaign' AS what, id::text AS name, state::text AS state, '' AS more FROM campaigns
    UNION ALL SELECT 'jobs', c.name, j.state::text, count(*) || ', missing since ' || min(j.missing_since)
        FROM jobs j JOIN clusters c ON c.id = j.cluster_id GROUP BY c.name, j.state
    UNION ALL SELECT 'cluster', name, CASE WHEN is_enabled THEN 'enabled' ELSE 'disabled' END,
        'failures ' || failures || coalesce(', pace ' || pace || ' ' || why, '')
        FROM clusters LEFT JOIN cluster_paces ON cluster_id = clusters.id
    UNION ALL SELECT 'event', code, '', message FROM events WHERE closed_at IS NULL
"""


@dataclass
class Site:
    """A cluster as the test sees it from behind: a way to run commands there without CiGri, and its configuration."""

    name: str
    config: dict[str, Any]
    user: str

    @property
    def is_real(self) -> bool:
        return self.config.get("transport") == "ssh"

    def require_use(self) -> None:
        """Tests on different clusters run side by side: one that was not asked for is in the hands of another test."""
        if self.is_real and USED_CLUSTERS:  # under whatever name the grid knows it
            cluster = next(name for name, host in HOSTS.items() if host == self.config["ssh"]["host"])
            assert cluster in USED_CLUSTERS, f"ask for the fixture {cluster}_up"

    def sh(self, script: str, user: str = "") -> str:
        self.require_use()
        if self.is_real:
            command = [str(TESTBED), "exec", self.name, user or self.user, "sh", "-c", 'eval "$(cat)"']
        else:
            command = ["sh", "-s"]
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{script}: {done.stderr}"
        return done.stdout

    def daemon(self, verb: str, name: str) -> None:
        self.require_use()
        subprocess.run([str(TESTBED), "daemon", self.name, verb, name], check=True, capture_output=True, timeout=60)


@dataclass
class Grid:
    """The modules run in this process, pass by pass, unless a test runs them elsewhere."""

    database: Database
    site: Site
    place: str  # a directory of this test on the cluster
    settings: Settings = field(default_factory=lambda: Settings(policy=PolicySettings(scouts=0)))
    gateway: TransportGateway = field(default_factory=TransportGateway)

    def __post_init__(self) -> None:
        self.site.sh(f"mkdir -p {self.place}")
        with self.database.begin() as conn:
            conn.execute(text("UPDATE grid SET key = :key"), {"key": secrets.token_hex(3)})  # the template's is known
        self.add(self.site)

    @property
    def tools(self) -> PassContext:
        return PassContext(self.database, self.settings, self.gateway)

    def tune(self, section: str, **values: Any) -> None:
        """Change settings of one section."""
        changed = getattr(self.settings, section).model_copy(update=values)
        self.settings = self.settings.model_copy(update={section: changed})

    def add(self, site: Site) -> None:
        """One more cluster."""
        site.require_use()
        with self.database.begin() as conn:
            put_cluster(conn, site.name, site.config)

    def submit(self, params: list[Any], command: str = "", **fields: Any) -> int:
        """A campaign each of whose tasks appends its number to the file `ran`, then does `command`.

        The fields `sums`, of the files that each task takes along, and `waits_for` are none of its description.
        """
        sums = fields.pop("sums", None)
        waits_for: Sequence[NewDependency] = fields.pop("waits_for", ())
        program = f'echo "$CIGRI_TASK_NUMBER" >>{self.place}/ran; {command or ":"}'
        quoted = program.replace("{", "{{").replace("}", "}}").replace("'", "'\\''")
        description = {
            "name": "fault",
            "clusters": {self.site.name: {}},
            "exec_file": f"sh -c '{quoted}' task",
            "walltime": 600,
            "params": params,
            **fields,
        }
        found = jdl.parse(json.dumps(description), format="json", base=Path("/"), home=Path("/"))
        with self.database.begin() as conn:
            parameters = found.parameters()
            return put_campaign(conn, new_campaign(found, self.site.user), parameters, sums=sums, after=waits_for)

    def cycle(self) -> PassReport:
        report: PassReport = Counter()
        for module in CYCLE:
            report.update(module.run_once(self.tools))
        return report

    def run_until(self, fact: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Cycle until the fact is true; more seldom where a batch system takes seconds for whatever it does."""
        pauses = UNHURRIED if self.site.is_real else {}
        for _ in looks(seconds, what=self.describe, **pauses):
            if fact():
                return
            self.cycle()

    def run_to_end(self, seconds: float = PATIENCE) -> None:
        self.run_until(lambda: self.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 0, seconds)

    def one(self, statement: str, **values: object) -> Any:
        with self.database.begin() as conn:
            return conn.execute(text(statement), values).scalar_one()

    def rows(self, statement: str, **values: object) -> list[Any]:
        with self.database.begin() as conn:
            return list(conn.execute(text(statement), values).mappings())

    def counts(self) -> dict[str, int]:
        found = self.rows("SELECT state::text, sum(n)::int AS n FROM task_counts GROUP BY state HAVING sum(n) <> 0")
        return {row["state"]: row["n"] for row in found}

    def kill_all_jobs(self) -> None:
        with self.database.begin() as conn:
            ids = list(conn.execute(text("SELECT id FROM jobs WHERE state <> 'ended'")).scalars())
            assert request_kills(conn, ids, KillReason.USER, "test") == len(ids)

    def executions(self) -> Counter[int]:
        """How often each task really ran, as counted on the cluster."""
        return Counter(int(line) for line in self.site.sh(f"cat {self.place}/ran 2>/dev/null; true").split())

    def running_groups(self) -> list[int]:
        """Process groups of jobs of this grid, on whichever cluster: all are processes of this machine."""
        mark = f"/{self.one('SELECT key FROM grid')}/c".encode()
        groups = set()
        for directory in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (directory / "cmdline").read_bytes():
                    groups.add(os.getpgid(int(directory.name)))
        return sorted(groups)

    def let_accounts_be_asked(self) -> None:
        """As if the pauses of the accounts that gave no sense were over."""
        with self.database.begin() as conn:
            conn.execute(text("UPDATE events SET last_at = last_at - interval '1 hour' WHERE code = 'ACCOUNT_REFUSED'"))

    def assert_each_ran_once(self, tasks: int) -> None:
        assert self.executions() == Counter(dict.fromkeys(range(tasks), 1))
        assert self.counts() == {"done": tasks}
        self.assert_sane()

    def assert_sane(self) -> None:
        with self.database.begin() as conn:
            assert examine(conn) == []

    def describe(self) -> str:
        """Its campaigns, live jobs, clusters with their paces, and open events."""
        try:
            told = [f"tasks {self.counts()}", *(str(dict(row)) for row in self.rows(SITUATION))]
            return "\n".join(told)
        except DatabaseUnavailable as error:
            return str(error)


def until(
    fact: Callable[[], object],
    seconds: float = PATIENCE,
    what: str | Callable[[], str] = "",
    longest: float = 0.5,
) -> None:
    """Wait for a fact that comes about without our doing; `longest`: seconds between two looks at it."""
    for _ in looks(seconds, longest, what):
        if fact():
            return


def local_site(spool: Path, name: str = "here", **config: Any) -> Site:
    options = {"spool": str(spool), "pools": {"cpu": 4, "mem": 4000}}
    values = {"driver": "local", "options": options, "directory": str(spool / "files"), **QUICK, **config}
    return Site(name, values, getpass.getuser())


def front_end(host: str) -> Mapping[str, Any]:
    """The way of the gateway account to a cluster of the testbed."""
    state = Path(os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed"))
    return {
        "host": host,
        "port": 22022,
        "account": "cigri",
        "key_file": str(state / "ssh/keys/cigri"),
        "known_hosts": str(state / "ssh/known_hosts"),
        "connect_timeout": 3,
    }


def slurm_site(name: str, **config: Any) -> Site:
    ssh = front_end(HOSTS[name])
    options = {"partition": "normal", "besteffort_partition": "besteffort"}
    values = {"driver": "slurm", "transport": "ssh", "ssh": ssh, "options": options, **QUICK, **config}
    return Site(name, values, "alice")


def oar_site(**config: Any) -> Site:
    """Its launches and kills take some seconds each. What is over and listed is killed as elsewhere."""
    ssh, options = front_end(HOSTS["delta"]), {"end_delay": 0}
    values = {
        "driver": "oar",
        "transport": "ssh",
        "ssh": ssh,
        "options": options,
        **QUICK,
        "lost_after": 20.0,
        **config,
    }
    return Site("delta", values, "alice")


def gridengine_site(**config: Any) -> Site:
    """The gateway's sudo leaves no environment: all that a user's shell knows of Grid Engine is in the settings."""
    state = Path(os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed"))
    options = {
        "settings": str(state / "gamma/sge/default/common/settings.sh"),
        "queue": "all.q",
        "besteffort_queue": "besteffort.q",
        "besteffort_properties": "besteffort=TRUE",
        "pe": "smp",
        "suspends": False,
    }
    ssh = front_end(HOSTS["gamma"])
    values = {"driver": "gridengine", "transport": "ssh", "ssh": ssh, "options": options, **QUICK, **config}
    return Site("gamma", values, "alice")
