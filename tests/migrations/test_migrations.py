"""The migrations and the tables describe the same database, up and down."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from cigri import package_files
from cigri.database import Database, embedded, schema
from cigri.errors import ConfigError
from cigri.flow.holds import hold_job
from cigri.tables import everything
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster, submitted_jobs

BEFORE_HOLDS = "0003"


def dump(server: Path, url: str) -> str:
    command = [str(embedded.binaries(server) / "pg_dump"), "-sON", "virtual", "--exclude-table=alembic*", url]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("--", "\\")))


def test_migrations_make_what_tables_describe(server: Path, database_url: str, empty_url: str) -> None:
    described = Database(empty_url)
    with described.begin() as conn:
        everything().create_all(conn)
    described.close()
    assert dump(server, database_url) == dump(server, empty_url)


def test_the_newest_migration_is_the_end_of_the_one_line_of_them() -> None:
    config = Config()
    config.set_main_option("script_location", str(package_files.directory("migrations")))
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [schema.newest()]
    assert all(Path(one.path).name.startswith(f"{one.revision}_") for one in script.walk_revisions())


def test_the_version_is_known_without_alembic(database: Database) -> None:
    look = f"import sys; from cigri.database import Database, schema; d = Database({database.url!r})"
    look += "; schema.require_current(d); schema.upgrade(d); d.close(); sys.exit('alembic' in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", look], check=True)


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


def test_jobs_of_the_schema_before_do_not_stand_still(empty_url: str) -> None:
    database = Database(empty_url)
    schema.upgrade(database)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        hold_job(conn, job, ALICE)
    schema.downgrade(database, BEFORE_HOLDS)
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT halted_since, halted_seconds FROM jobs")).one() == (None, 0.0)
        assert conn.execute(text("SELECT count(*) FROM holds")).scalar_one() == 0
        assert schema.differences(conn) == []
    database.close()
