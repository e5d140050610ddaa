"""The migrations and tables.py describe the same database, up and down."""

import subprocess
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri import embedded, schema
from cigri.database import Database
from cigri.errors import ConfigError
from cigri.tables import metadata


def dump(server: Path, url: str) -> str:
    command = [str(embedded.binaries(server) / "pg_dump"), "-sO", "--exclude-table=alembic*", url]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("--", "\\")))


def test_migrations_make_what_tables_describe(server: Path, database_url: str, empty_url: str) -> None:
    described = Database(empty_url)
    with described.begin() as conn:
        metadata.create_all(conn)
    described.close()
    assert dump(server, database_url) == dump(server, empty_url)


def test_downgrade_leaves_nothing(server: Path, database: Database, empty_url: str) -> None:
    schema.downgrade(database, "base")
    with database.begin() as conn:
        conn.execute(text("DROP TABLE alembic_version"))
    assert dump(server, database.engine.url.render_as_string().replace("+psycopg", "")) == dump(server, empty_url)


def test_an_old_schema_is_refused_with_the_command_to_run(empty_url: str) -> None:
    database = Database(empty_url)
    with pytest.raises(ConfigError, match="cigri db upgrade"):
        schema.require_current(database)
    schema.upgrade(database)
    schema.require_current(database)
    database.close()


def test_differences_are_named(database: Database) -> None:
    with database.begin() as conn:
        assert schema.differences(conn) == []
        conn.execute(text("ALTER TABLE jobs DROP COLUMN reason"))
        assert "reason" in schema.differences(conn)[0]
