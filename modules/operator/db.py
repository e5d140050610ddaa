"""`cigri db`: upgrade the schema, compare it with what this code needs, say where the database is, or which grid's."""

from cigri.cli.command import CommandParser, print_error
from cigri.database import Database, embedded, schema
from cigri.errors import ConfigError
from cigri.flow.grid_identity import put_detached, put_home
from cigri.installation import database_place, database_url
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from modules.operator import data_directory


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri db",
        "upgrade   run the missing migrations, all in one transaction\n"
        "check     say what differs from the schema that this CiGri needs (exit status 1)\n"
        "url       the address, for psql\n"
        "tools     the directory of the embedded PostgreSQL's own programs: pg_dump, pg_restore, psql\n"
        "moved     this is the grid itself, restored or moved here; nobody runs the other any more\n"
        "copied    this is a copy of a grid, to try things with: from now on a grid of its own, which leaves\n"
        "          all clusters alone until `cigri cluster enable`, and what its original runs there as well",
        '  cigri db upgrade\n  psql "$(cigri db url)"',
    )
    parser.add_argument("action", choices=("upgrade", "check", "url", "tools", "moved", "copied"))
    action = parser.parse_args(argv).action
    settings = load()
    if action == "tools":
        return _tools(settings)
    url = database_url(settings)
    if action == "url":
        print(url.replace("postgresql+psycopg://", "postgresql://", 1))
        return 0
    database = Database(url, settings.database.lock_timeout)
    try:
        if action in ("moved", "copied"):
            return _settle(database, settings, is_copy=action == "copied")
        return _upgrade(database) if action == "upgrade" else _check(database)
    finally:
        database.close()


def _tools(settings: Settings) -> int:
    if settings.database.url:
        raise ConfigError("database.url names a PostgreSQL of the site: take the programs of its version")
    print(embedded.binaries(data_directory.database_directory(settings)))
    return 0


def _upgrade(database: Database) -> int:
    with database.begin() as conn:
        before = schema.current(conn)
    schema.upgrade(database)
    after = schema.newest()
    print(f"The schema was at {after} already" if before == after else f"The schema went from {before} to {after}")
    return 0


def _settle(database: Database, settings: Settings, *, is_copy: bool) -> int:
    schema.require_current(database)
    if pid := data_directory.almighty(settings).pid():
        raise ConfigError(f"the almighty runs (process {pid}): stop it first, `cigri down`")
    place = database_place(settings)
    with database.begin() as conn:
        if not is_copy:
            put_home(conn, place)
            print("The grid lives here; `cigri doctor --clusters` finds what it has left on clusters since")
            return 0
        left_behind = put_detached(conn, place, settings.jobs)
    print(f"This is a grid of its own; it leaves {left_behind} jobs to its original, and all clusters alone")
    return 0


def _check(database: Database) -> int:
    wrong = check(database)
    for problem in wrong:
        print_error(problem)
    if not wrong:
        print(f"The schema is {schema.newest()}, complete and nothing else")
    return 1 if wrong else 0


def check(database: Database) -> list[str]:
    """What is wrong with the schema, one line each."""
    with database.begin() as conn:
        present, wanted = schema.current(conn), schema.newest()
        if present != wanted:
            return [schema.advise(present)]
        return [f"the tables differ from schema {wanted}: {difference}" for difference in schema.differences(conn)]
