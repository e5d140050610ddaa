"""`cigri almighty`: cycles the modules in the foreground, as `cigri up` does in the background and systemd does."""

from cigri.cli.command import CommandParser
from cigri.settings.loading import load
from modules.operator import data_directory


def run(argv: list[str]) -> int:
    CommandParser(
        "cigri almighty",
        "Cycle the modules until SIGTERM or SIGINT; the pass under way is finished first.",
        "  cigri almighty",
    ).parse_args(argv)
    from cigri.database import Database, schema
    from cigri.flow.grid_identity import require_grid_identity
    from cigri.installation import database_place, database_url
    from cigri.runtime.logging_setup import set_up_log
    from modules.almighty import Almighty

    settings = load()
    set_up_log(settings.log)
    database = Database(database_url(settings), settings.database.lock_timeout)
    try:
        schema.require_current(database)
        with database.begin() as conn:
            require_grid_identity(conn, database_place(settings))
        service = data_directory.almighty(settings)
        service.claim()
        try:
            Almighty(database, settings).run()
        finally:
            service.release()
    finally:
        database.close()
    return 0
