"""The version of the database's schema: bring it up to date, or say what differs.

Alembic is imported where it works only: to know that a schema is current, as each program does, takes a moment.
"""

from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, func, select, table

from cigri import package_files
from cigri.database import Database
from cigri.errors import ConfigError
from cigri.tables import everything

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "alembic_version"
OLDEST = "0075"
"""The migration that creates the whole schema; those before it were made into this one."""
LAST_WITH_ALL = "35b20347"
"""The last commit with the migrations before OLDEST, which upgrades what is older."""


def upgrade(database: Database, revision: str = "head") -> None:
    """Run the missing migrations, all in one transaction."""
    with database.begin() as conn:
        version = current(conn)
        if revision == "head" and version == newest():
            return
        if version is not None and not OLDEST <= version <= newest():
            raise ConfigError(advise(version))
        from alembic import command

        command.upgrade(_config(conn), revision)


def downgrade(database: Database, revision: str) -> None:
    """Take back the migrations after `revision`, all in one transaction."""
    from alembic import command

    with database.begin() as conn:
        command.downgrade(_config(conn), revision)


def current(conn: Connection) -> str | None:
    """The revision the database has; None for an empty one."""
    if conn.execute(select(func.to_regclass(VERSION_TABLE))).scalar_one() is None:
        return None
    version: str | None = conn.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar()
    return version


def newest() -> str:
    """The revision this code was written for; the file of a migration is named by its revision first."""
    files = (package_files.directory("migrations") / "versions").glob("[0-9]*_*.py")
    return max(file.name.partition("_")[0] for file in files)


def require_current(database: Database) -> None:
    """Raise ConfigError unless the database has the schema of this code."""
    with database.begin() as conn:
        version = current(conn)
    if version != newest():
        raise ConfigError(advise(version))


def advise(version: str | None) -> str:
    """Say what to do about a database whose schema is not the newest."""
    differs = f"the database has schema {version}, this CiGri needs {newest()}"
    if version is None or OLDEST <= version < newest():
        return f"{differs}: run `cigri db upgrade`"
    if version > newest():
        return f"{differs}: a newer CiGri has upgraded it; install that one, or restore a backup from before"
    return (
        f"{differs} and upgrades from {OLDEST} on: first run `cigri db upgrade` of CiGri 0.1.0 at commit "
        f"{LAST_WITH_ALL}, then that of this one (docs/how-to/mend-a-grid.md#an-old-schema)"
    )


def differences(conn: Connection) -> list[str]:
    """What the tables of the database lack or have too much beside cigri/tables, one line each; empty: nothing."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    return [repr(difference) for difference in compare_metadata(MigrationContext.configure(conn), everything())]


def _config(conn: Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(package_files.directory("migrations")))
    config.attributes["connection"] = conn
    return config
