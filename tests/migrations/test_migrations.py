"""The migrations and the tables describe the same database, up and down."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from cigri import package_files
from cigri.database import Database, schema
from cigri.errors import ConfigError
from cigri.tables import everything
from tests.migrations.conftest import dump_schema


def test_migrations_make_what_tables_describe(server: Path, database_url: str, empty_url: str) -> None:
    described = Database(empty_url)
    with described.begin() as conn:
        everything().create_all(conn)
    described.close()
    assert dump_schema(server, database_url) == dump_schema(server, empty_url)


def test_the_newest_migration_is_the_end_of_the_one_line_of_them() -> None:
    config = Config()
    config.set_main_option("script_location", str(package_files.directory("migrations")))
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [schema.newest()]
    assert script.get_bases() == [schema.OLDEST]
    assert all(Path(one.path).name.startswith(f"{one.revision}_") for one in script.walk_revisions())


def test_every_file_of_the_schema_is_created() -> None:
    """A file that the migration does not name would be shipped, read by people and never run."""
    migrations = package_files.directory("migrations")
    named = (migrations / "versions" / f"{schema.OLDEST}_create_the_schema.py").read_text()
    assert all(f'"{file.stem}"' in named for file in (migrations / "schema").iterdir())


def test_the_version_is_known_without_alembic(database: Database) -> None:
    look = f"import sys; from cigri.database import Database, schema; d = Database({database.url!r})"
    look += "; schema.require_current(d); schema.upgrade(d); d.close(); sys.exit('alembic' in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", look], check=True)


def test_later_migrations_go_back_to_the_schema_that_was_created(
    server: Path, database: Database, database_url: str, empty_url: str
) -> None:
    schema.downgrade(database, schema.OLDEST)
    created = Database(empty_url)
    schema.upgrade(created, schema.OLDEST)
    created.close()
    assert dump_schema(server, database_url) == dump_schema(server, empty_url)


def test_a_database_without_a_schema_is_refused_with_the_command_to_run(empty_url: str) -> None:
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
