"""Databases as they were before a migration, and how to compare what they hold."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.database import Database, embedded, schema


@pytest.fixture
def older(request: pytest.FixtureRequest, empty_url: str) -> Iterator[Database]:
    """At the migration BEFORE of the test's file, with its ROWS."""
    database = Database(empty_url)
    schema.upgrade(database, request.module.BEFORE)
    with database.begin() as conn:
        conn.execute(text(request.module.ROWS))
    yield database
    database.close()


def dump_schema(server: Path, url: str) -> str:
    """Return the schema of a database as pg_dump writes it, without comments and the clock of tests."""
    command = [str(embedded.binaries(server) / "pg_dump"), "-sON", "virtual", "--exclude-table=alembic*", url]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("--", "\\")))
