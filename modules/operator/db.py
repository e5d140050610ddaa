"""`cigri db`: upgrade the schema, compare it with what this code needs, or say where the database is."""

from cigri import schema
from cigri.cli.command import Parser, complain
from cigri.database import Database
from cigri.installation import database_url
from cigri.settings import load


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri db",
        "upgrade   run the missing migrations, all in one transaction\n"
        "check     say what differs from the schema that this CiGri needs (exit status 1)\n"
        "url       the address, for psql",
        '  cigri db upgrade\n  psql "$(cigri db url)"',
    )
    parser.add_argument("action", choices=("upgrade", "check", "url"))
    action = parser.parse_args(argv).action
    settings = load()
    url = database_url(settings)
    if action == "url":
        print(url.replace("postgresql+psycopg://", "postgresql://", 1))
        return 0
    database = Database(url, settings.database.lock_timeout)
    try:
        return _upgrade(database) if action == "upgrade" else _check(database)
    finally:
        database.close()


def _upgrade(database: Database) -> int:
    with database.begin() as conn:
        before = schema.current(conn)
    schema.upgrade(database)
    after = schema.newest()
    print(f"The schema was at {after} already" if before == after else f"The schema went from {before} to {after}")
    return 0


def _check(database: Database) -> int:
    wrong = check(database)
    for problem in wrong:
        complain(problem)
    if not wrong:
        print(f"The schema is {schema.newest()}, complete and nothing else")
    return 1 if wrong else 0


def check(database: Database) -> list[str]:
    """What is wrong with the schema, one line each."""
    with database.begin() as conn:
        found, wanted = schema.current(conn), schema.newest()
        if found != wanted:
            return [f"the database has schema {found}, this CiGri needs {wanted}: run `cigri db upgrade`"]
        return [f"the tables differ from schema {wanted}: {difference}" for difference in schema.differences(conn)]
