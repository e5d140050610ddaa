"""The version of the database's schema: bring it up to date, or say what differs."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from cigri import shipped
from cigri.database import Database
from cigri.errors import ConfigError
from cigri.tables import metadata


def upgrade(database: Database, revision: str = "head") -> None:
    """Run the missing migrations, all in one transaction."""
    with database.begin() as conn:
        command.upgrade(_config(conn), revision)


def downgrade(database: Database, revision: str) -> None:
    with database.begin() as conn:
        command.downgrade(_config(conn), revision)


def current(conn: Connection) -> str | None:
    """The revision the database has; None for an empty one."""
    return MigrationContext.configure(conn).get_current_revision()


def newest() -> str:
    """The revision this code was written for."""
    head = ScriptDirectory.from_config(_config(None)).get_current_head()
    assert head is not None
    return head


def require_current(database: Database) -> None:
    """Raise ConfigError unless the database has the schema of this code."""
    with database.begin() as conn:
        found = current(conn)
    if found != newest():
        raise ConfigError(f"the database has schema {found}, this CiGri needs {newest()}: run `cigri db upgrade`")


def differences(conn: Connection) -> list[str]:
    """What the tables of the database lack or have too much, one line each."""
    return [repr(difference) for difference in compare_metadata(MigrationContext.configure(conn), metadata)]


def _config(conn: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(shipped.directory("migrations")))
    config.attributes["connection"] = conn
    return config
