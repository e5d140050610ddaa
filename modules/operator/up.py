"""`cigri up`: everything that a grid on this host needs; safe to repeat."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cigri.cli.command import CommandParser, print_error
from cigri.database import embedded
from cigri.errors import CigriError, ConfigError
from cigri.formats.untrusted_text import exception_line
from cigri.installation import database_place, has_services
from cigri.lifecycle import CYCLE
from cigri.package_files import directory
from cigri.private_files import make_private_directory, open_privately
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from modules.operator import data_directory, detached_process, login_unit, portal

if TYPE_CHECKING:
    from cigri.database import Database

STARTING_PATIENCE = 60.0  # seconds for the first cycle
LOOK_WHILE_STARTING = 0.05  # seconds between two looks at the table of modules
EXAMPLE = "hello.yaml"
WHAT_NEXT = """\
Now:  gridsub {hello}
                                submit an example; there are more beside it
      gridstat                  how far it is
      cigri status              how the grid is
      cigri down                stop it; running jobs go on and are found again"""


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri up",
        "Start the embedded database (unless database.url is set), bring its schema up to date, declare this host as "
        "the\ncluster localhost if there is none, and start the almighty and the portal in the background.",
        "  cigri up\n  cigri up --at-login           and again after each reboot",
    )
    parser.add_argument(
        "--no-almighty", action="store_true", help="only the database; modules and portal are started elsewhere"
    )
    parser.add_argument("--at-login", action="store_true", help="start this grid after each reboot, too, by systemd")
    options = parser.parse_args(argv)
    if options.at_login and options.no_almighty:
        parser.error("--at-login starts all of the grid: it does not go with --no-almighty")
    settings = load()
    if options.at_login:
        login_unit.require_possible(settings)
    _bring_up(settings, no_almighty=options.no_almighty)
    if options.at_login:
        print("\n".join(login_unit.install(settings)))
    return 0


def _bring_up(settings: Settings, *, no_almighty: bool) -> None:
    from cigri.flow.grid_identity import require_grid_identity

    almighty = data_directory.almighty(settings)
    with _one_at_a_time(settings.data_directory):
        if not no_almighty and (pid := almighty.pid()) and data_directory.is_database_there(settings):
            portal.tell_start(settings, portal.start(settings))
            print(f"CiGri is running already: the almighty is process {pid}; `cigri status` tells more")
            return
        database = _start_database(settings)
        try:
            with database.begin() as conn:
                require_grid_identity(conn, database_place(settings))
            _declare_localhost(settings, database)
            if no_almighty:
                print("The database is ready; the modules are to be started by others")
                return
            served = portal.start(settings)
            if pid := almighty.pid():
                print(f"The almighty (process {pid}) goes on")
                portal.tell_start(settings, served)
                return
            if almighty.has_died():
                print_error("the almighty had died; it goes on where it was")
            _start_almighty(settings, database)
            portal.tell_start(settings, served)
        finally:
            database.close()
    print(WHAT_NEXT.format(hello=directory("etc") / "campaigns" / EXAMPLE))


def _start_database(settings: Settings) -> "Database":
    from cigri.database import Database, schema

    url = settings.database.url
    if not url:
        was_there = data_directory.is_database_there(settings)
        url = embedded.start(data_directory.database_directory(settings), _tell)
        print(f"The embedded database {'was running' if was_there else 'runs'} in {settings.data_directory}")
    embedded.wait_until_ready(url, tell=_tell)
    database = Database(url, settings.database.lock_timeout)
    schema.upgrade(database)
    return database


def _tell(word: str) -> None:
    """Whoever waits is told at once what for."""
    print(word, flush=True)


def _declare_localhost(settings: Settings, database: "Database") -> None:
    """When nothing is declared: this host, its files in the data directory.

    On a site jobs of other accounts need more than that, which root sets up.
    """
    from cigri.flow.clusters import put_cluster
    from cigri.flow.views.clusters import has_clusters
    from cigri.settings.cluster_config import parse_config

    values = {
        "driver": "local",
        "options": {"spool": str(data_directory.spool(settings))},
        "poll_interval": 1.0,
        "record_grace": 1.0,
        "keep_waiting": 200,
        "n_max_queued_jobs": 200,
        "max_waiting": 1000,
        "normal_users": ["*"],
    }
    if not settings.database.url:
        values["directory"] = str(settings.data_directory / "jobs")  # this database has one user: nothing is shared
    with database.begin() as conn:
        if has_clusters(conn):
            return
        if has_services(settings) and os.geteuid() != 0:
            print("No cluster is declared: docs/how-to/set-up-a-site.md tells what this host needs to be one")
            return
        try:
            config = parse_config("localhost", values)
        except ConfigError as error:
            raise ConfigError(
                f"{error}\nchoose a data_directory of letters, digits and . _ - / only: {settings.data_directory}"
            ) from None
        put_cluster(conn, "localhost", config.model_dump(mode="json"))
    print("This host is declared as the cluster localhost")


def _start_almighty(settings: Settings, database: "Database") -> None:
    from cigri.database import server_time

    with database.begin() as conn:
        began = server_time(conn)
    argv = [sys.executable, "-P", "-m", "modules.operator", "almighty"]
    log, environment = data_directory.log(settings), data_directory.environment(settings)
    process = data_directory.almighty(settings).launch(argv, log, environment)
    failed = _wait_for_cycle(settings, database, process, began)
    print(f"The almighty is process {process.pid}; its log is {data_directory.log(settings)}")
    for name, error in failed.items():
        print_error(f"module {name} failed: {exception_line(error)}; `cigri status` tells more")
    _tell_of_clusters(database)


def _tell_of_clusters(database: "Database") -> None:
    """What the first cycle found out of them."""
    from cigri.flow.views.heartbeats import list_all_away

    with database.begin() as conn:
        for cluster in list_all_away(conn):
            print_error(f"cluster {cluster.name} cannot be used: {cluster.why or 'see `gridevents --global`'}")


def _wait_for_cycle(
    settings: Settings, database: "Database", process: "subprocess.Popen[bytes]", began: datetime
) -> dict[str, str]:
    """Wait until each module of a cycle had its first pass; give the errors by module."""
    from cigri.flow.module_passes import list_module_standings

    deadline = time.monotonic() + STARTING_PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CigriError(f"the almighty does not start:\n{detached_process.tail(data_directory.log(settings))}")
        with database.begin() as conn:
            fresh = {standing.name: standing.error for standing in list_module_standings(conn) if standing.at > began}
        if CYCLE[-1] in fresh:
            return {name: error for name, error in fresh.items() if error}
        time.sleep(LOOK_WHILE_STARTING)
    raise CigriError(
        f"the almighty has not done a cycle in {STARTING_PATIENCE:.0f} s; see {data_directory.log(settings)}"
    )


@contextmanager
def _one_at_a_time(directory: Path) -> Iterator[None]:
    make_private_directory(directory)
    with open(directory / "up.lock", "w", opener=open_privately) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
