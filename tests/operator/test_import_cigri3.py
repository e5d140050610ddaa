"""`cigri import-cigri3`, from a database with the tables of CiGri 3 and rows of each kind."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from cigri.database import Database
from tests.conftest import clone_database
from tests.factories import a_cluster
from tests.operator.conftest import Cigri

TABLES = """
    CREATE TABLE clusters (id serial, name text, ssh_host text, batch text, properties text, enabled boolean);
    CREATE TABLE users_mapping (grid_login text, cluster_login text, cluster_id integer);
    CREATE TABLE users_priority (grid_user text, cluster_id integer, priority integer);
    CREATE TABLE campaigns (id serial, grid_user text, state text, type text, name text, nb_jobs integer, jdl text);
    CREATE TABLE parameters (id bigserial, campaign_id integer, name text, param text);
    CREATE TABLE bag_of_tasks (id bigserial, campaign_id integer, param_id integer, priority integer DEFAULT 10);
    CREATE TABLE jobs (id bigserial, campaign_id integer, param_id integer, cluster_id integer, state text,
        return_code integer, start_time timestamptz, stop_time timestamptz);
    CREATE TABLE events (id bigserial, code text, state text, job_id integer);
    INSERT INTO parameters VALUES (0, 0, 'prologue', NULL);
    INSERT INTO clusters VALUES (1, 'dahu', 'dahu.example.org', 'oar2_5', 'host <> ''n1''', true),
        (2, 'luke', 'luke.example.org', 'oar3', NULL, false), (3, 'web', ' ', 'g5k', NULL, true);
    INSERT INTO users_mapping VALUES ('alice', 'asmith', 1), ('bob', 'bob', 1), ('carol', 'Bearer abc', 2),
        ('mallory', 'root', 1);
    INSERT INTO users_priority VALUES ('alice', 1, 5), ('bob', 2, -1);
"""
DESCRIPTION = {
    "name": "ignored",
    "clusters": {"dahu": {"type": "best-effort", "exec_file": "./run", "walltime": "00:10:00"}},
    "heaviness": 1,
    "resources": "core=1",
    "params": ["never read"],
}
WRONG = {**DESCRIPTION, "clusters": {"dahu": {"exec_file": "./run", "walltime": "soon"}}}


@pytest.fixture
def old(server: Path) -> Iterator[str]:
    """Its URL. Campaign 1: of four tasks one is done, one failed, one waits, one was given up; 2 is paused."""
    for url in clone_database(server, "template1"):
        with psycopg.connect(url) as conn:
            conn.execute(TABLES)
            for id, (user, state, described) in enumerate(
                [
                    ("alice", "in_treatment", DESCRIPTION),
                    ("bob", "paused", DESCRIPTION),
                    ("bob", "in_treatment", DESCRIPTION),
                    ("alice", "terminated", DESCRIPTION),
                    ("alice", "cancelled", DESCRIPTION),
                    ("alice", "in_treatment", WRONG),
                    ("alice", "in_treatment", DESCRIPTION),
                ],
                1,
            ):
                conn.execute(
                    "INSERT INTO campaigns (id, grid_user, state, type, name, jdl) VALUES (%s, %s, %s, '', 'mc', %s)",
                    (id, user, state, json.dumps(described)),
                )
            for campaign, param, job in [
                (1, "a 1", ("terminated", 0)),
                (1, "b 2", ("event", 1)),
                (1, "c 3", None),
                (1, "d 4", ("event", 1)),
                (2, "e 5", None),
                (3, "f 6", ("running", None)),
                (4, "g 7", ("terminated", 0)),
                (6, "h 8", None),
                (7, "i 9", ("terminated", 0)),
            ]:
                put_task(conn, campaign, param, job)
            for state, failed in (("open", 2), ("closed", 3)):
                conn.execute("INSERT INTO events (code, state, job_id) VALUES ('EXIT_ERROR', %s, %s)", (state, failed))
        yield url


def put_task(conn: "psycopg.Connection[object]", campaign: int, param: str, job: tuple[str, int | None] | None) -> None:
    task = "INSERT INTO parameters (campaign_id, name, param) VALUES (%s, %s, %s) RETURNING id"
    row = conn.execute(task, (campaign, param.split()[0], param)).fetchone()
    assert isinstance(row, tuple)
    if job is None:
        conn.execute("INSERT INTO bag_of_tasks (campaign_id, param_id) VALUES (%s, %s)", (campaign, row[0]))
    else:
        conn.execute(
            "INSERT INTO jobs (campaign_id, param_id, cluster_id, state, return_code, start_time, stop_time) "
            "VALUES (%s, %s, 1, %s, %s, now() - interval '120 seconds', now() - interval '20 seconds')",
            (campaign, row[0], *job),
        )


def count_rows(url: str) -> list[object]:
    """Of each table, and where the last row stands: one that was written anew stands elsewhere."""
    with psycopg.connect(url) as conn:
        names = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        counted = [
            sql.SQL("SELECT count(*), max(ctid::text) FROM {}").format(sql.Identifier(name)) for (name,) in names
        ]
        return [conn.execute(statement).fetchone() for statement in counted]


def as_written(old: str) -> list[list[str]]:
    """The commands of the how-to, with the URL of a database that is here."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "come-from-cigri3.md"
    lines = re.findall(r"^cigri (import-cigri3 .*?) +#", page.read_text(), re.MULTILINE)
    return [[old if word.startswith("postgresql:") else word for word in line.split()] for line in lines]


def test_without_write_it_says_what_it_would_do(cigri: Cigri, old: str, database: Database) -> None:
    dry, _ = as_written(old)
    said = cigri(*dry)
    assert said.status == 1, "something is left out"
    assert (
        said.out
        == """\
Clusters
  dahu: to be declared as OAR behind dahu.example.org, disabled until you enable it
  luke: to be declared as OAR behind luke.example.org, disabled until you enable it
  LEFT OUT: web: CiGri 3 knows no host of it with an sshd (ssh_host): `cigri cluster add web --driver oar --ssh HOST`
Accounts
  alice is asmith on dahu
  LEFT OUT: mallory is root on dahu: only root lets jobs run as root, which is the superuser; you are import-cigri3
Users who go first
  alice on dahu (priority 5)
  LEFT OUT: bob on luke (priority -1): nobody goes last here; see `cigri quota` and `cigri target`
Campaigns
  1 (mc) of alice: 2 of 4 tasks, 1 of which failed, to be done
  2 (mc) of bob: 1 of 1 task to be done once it is resumed
  LEFT OUT: 3 (mc) of bob: 1 job of it on clusters would be done twice: stop CiGri 3's server, wait until none is \
left, and import again
  LEFT OUT: 6 (mc) of alice: clusters.dahu.walltime: expected a duration, not 'soon' (write '2 h', '1 h 30 min', \
'1:30:00', '1-00:00:00', or a number of seconds)
  7 (mc) of alice: nothing is left to be done
Durations
  3 tasks of 3 campaigns that ended well in 365 days
Nothing is written; --write does it.
"""
    )
    with database.begin() as conn:
        assert conn.scalar(text("SELECT (SELECT count(*) FROM clusters) + (SELECT count(*) FROM campaigns)")) == 0


def test_it_takes_over_what_it_says_once_and_writes_nothing_there(cigri: Cigri, old: str, database: Database) -> None:
    before, (_, written) = count_rows(old), as_written(old)
    said = cigri(*written)
    assert "dahu: declared; `cigri cluster test dahu`, then `cigri cluster enable dahu`\n" in said.out
    assert (
        "luke: declared; `cigri cluster test luke`, then `cigri cluster enable luke`; CiGri 3 had it disabled"
        in said.out
    )
    assert "1 (mc) of alice: 2 of 4 tasks, 1 of which failed, to be done by campaign 1 here\n" in said.out
    assert "2 (mc) of bob: 1 of 1 task to be done by campaign 2 here, which is held\n" in said.out
    again = cigri(*written)
    assert "dahu: is declared here already, and stays as it is\n" in again.out
    assert "1 (mc) of alice: is campaign 1 here since an earlier import\n" in again.out
    assert count_rows(old) == before
    with database.begin() as conn:
        clusters = conn.execute(text("SELECT name, is_enabled, config FROM clusters ORDER BY id")).all()
        assert [(row.name, row.is_enabled) for row in clusters] == [("dahu", False), ("luke", False)]
        assert clusters[0].config["ssh"]["host"] == "dahu.example.org"
        assert clusters[0].config["options"] == {"properties": "host <> 'n1'"}
        tasks = (
            "SELECT grid_user, c.name, c.state::text, parameter FROM campaigns c JOIN tasks t ON t.campaign_id = c.id"
        )
        assert conn.execute(text(f"{tasks} ORDER BY t.id")).all() == [
            ("alice", "mc", "in_treatment", "b 2"),
            ("alice", "mc", "in_treatment", "c 3"),
            ("bob", "mc", "in_treatment", "e 5"),
        ]
        assert conn.execute(text("SELECT campaign_id, asked_by FROM holds")).all() == [(2, "bob")], "it is held"
        assert conn.execute(text("SELECT grid_user FROM affinities")).scalars().all() == ["alice"]
        assert conn.execute(text("SELECT grid_user, how FROM audit WHERE endpoint = 'submit_campaign'")).all() == [
            ("alice", "import-cigri3"),
            ("bob", "import-cigri3"),
        ]


def test_forecasts_begin_with_what_tasks_took(cigri: Cigri, old: str, database: Database) -> None:
    cigri("import-cigri3", "--url", old, "--write")
    with database.begin() as conn:
        averages = conn.execute(text("SELECT weight, seconds FROM bucket_averages")).all()
        assert averages == [(1, pytest.approx(100.0))]
        assert conn.execute(text("SELECT seconds FROM last_durations")).scalars().all() == [pytest.approx(100.0)] * 3
    cigri("import-cigri3", "--url", old, "--write", "--days", "0")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM last_durations")) == 3


def test_a_cluster_that_is_declared_here_stays_as_it_is(cigri: Cigri, old: str, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    cigri("import-cigri3", "--url", old, "--write")
    with database.begin() as conn:
        config = conn.scalar(text("SELECT config FROM clusters WHERE name = 'dahu' AND is_enabled"))
        assert config is not None
        assert config["driver"] == "local"


@pytest.mark.parametrize(
    ("url", "status", "told"),
    [
        ("postgresql://nobody@localhost:1/none", 1, "the database of CiGri 3 does not answer"),
        ("not a url", 2, "--url: "),
    ],
)
def test_a_database_that_is_not_there_is_told(cigri: Cigri, url: str, status: int, told: str) -> None:
    said = cigri("import-cigri3", "--url", url)
    assert said.status == status
    assert told in said.err


def test_another_database_is_none_of_cigri_3(cigri: Cigri, empty_url: str) -> None:
    said = cigri("import-cigri3", "--url", empty_url)
    assert said.status == 2
    assert "this is no database of CiGri 3: relation" in said.err
