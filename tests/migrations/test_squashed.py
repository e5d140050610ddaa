"""The migrations up to OLDEST were made into one: a grid of the last commit with all of them goes on."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database, embedded, schema
from cigri.flow.audit import put_audit
from cigri.flow.clusters import find_cluster
from cigri.flow.holds import resume_job
from cigri.flow.views.invariants import list_broken_promises
from modules.operator.audit_chain import verify
from tests.callers import ALICE
from tests.factories import a_campaign, end_jobs
from tests.migrations.conftest import dump_schema

DUMP = Path(__file__).with_name(f"grid_of_{schema.LAST_WITH_ALL}.sql")
FILLED = 28  # tables with rows, besides alembic's own
COLUMNS = """
    SELECT table_name, column_name FROM information_schema.columns JOIN pg_tables ON table_name = tablename
    WHERE table_schema = 'public' AND schemaname = 'public' AND table_name != 'alembic_version'
"""
BY_STATE = "SELECT state::text, count(*) FROM tasks GROUP BY 1 ORDER BY state::text"
RUNNING = "SELECT id FROM jobs WHERE state = 'running'"


@pytest.fixture
def old_grid(server: Path, empty_url: str) -> Iterator[Database]:
    """The grid of the dump, as the old migrations left it."""
    command = [str(embedded.binaries(server) / "psql"), "-qX", "-v", "ON_ERROR_STOP=1", "-f", str(DUMP), empty_url]
    subprocess.run(command, check=True, capture_output=True)
    database = Database(empty_url)
    yield database
    database.close()


def list_columns(conn: Connection) -> set[tuple[str, str]]:
    return {(row.table_name, row.column_name) for row in conn.execute(text(COLUMNS))}


def read_rows(conn: Connection, columns: set[tuple[str, str]]) -> dict[str, list[str]]:
    """Return what stands in these columns, by the tables that have rows."""
    rows = {}
    for table in sorted({table for table, _ in columns}):
        own = ", ".join(f'"{name}"' for name in sorted(name for its_table, name in columns if its_table == table))
        rows[table] = list(conn.scalars(text(f'SELECT row({own})::text FROM "{table}" ORDER BY 1')))
    return {table: there for table, there in rows.items() if there}


def test_a_grid_of_before_is_upgraded_without_loss(old_grid: Database) -> None:
    with old_grid.begin() as conn:
        assert schema.current(conn) == schema.OLDEST
        columns = list_columns(conn)
        before = read_rows(conn, columns)
    assert len(before) == FILLED
    schema.upgrade(old_grid)
    schema.require_current(old_grid)
    with old_grid.begin() as conn:
        assert schema.differences(conn) == []
        assert read_rows(conn, columns) == before


def test_a_grid_of_before_goes_on(old_grid: Database) -> None:
    schema.upgrade(old_grid)
    with old_grid.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        end_jobs(conn, cluster.id, list(conn.scalars(text(RUNNING))))
        held = conn.scalars(text("SELECT job_id FROM holds")).one()
        resume_job(conn, held, ALICE)
        a_campaign(conn, 2)
        put_audit(conn, ALICE, "resume_job", {"job_id": held})
    with old_grid.begin() as conn:
        assert list_broken_promises(conn) == []
        assert verify(conn, None).wrong == []
        assert verify(conn, None).head.id == 3
        states = [("assigned", 1), ("done", 2), ("failed", 1), ("waiting", 5)]
        assert conn.execute(text(BY_STATE)).all() == states


def test_the_schema_of_before_is_the_one_that_is_created(server: Path, old_grid: Database, database_url: str) -> None:
    created = Database(database_url)
    schema.downgrade(created, schema.OLDEST)
    created.close()
    url = old_grid.engine.url.render_as_string().replace("+psycopg", "")
    assert dump_schema(server, url) == dump_schema(server, database_url)
