"""`cigri portal`: serves people in the foreground, as `cigri up` does in the background and systemd does."""

import os
import subprocess
import sys
import time

from cigri.cli.command import CommandParser
from cigri.errors import CigriError
from cigri.identity.unix_sockets import is_served
from cigri.installation import kept_port, pages_address, portal_socket
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from modules.operator import data_directory, detached_process

OWNER_ALONE, EVERYBODY = 0o600, 0o666
OPENING_PATIENCE = 60.0  # seconds until it listens
LOOK_WHILE_OPENING = 0.05
NICENESS = 5  # where processors are short the cycle goes before those who look at it


def run(argv: list[str]) -> int:
    CommandParser(
        "cigri portal",
        "Serve the commands and the API on a unix socket until SIGTERM or SIGINT; what is being answered is finished.\n"
        "SIGHUP has the settings read again.",
        "  cigri portal",
    ).parse_args(argv)
    from cigri.database import Database, schema
    from cigri.database.background_sessions import give_way
    from cigri.installation import database_url
    from cigri.runtime.logging_setup import set_up_log
    from modules import portal
    from modules.portal.listening import PortalListener
    from modules.portal.settings_in_force import SettingsInForce

    settings = load()
    set_up_log(settings.log)
    in_force = SettingsInForce(settings)
    in_force.reload_on_hangup()
    database = Database(database_url(settings), settings.database.lock_timeout)
    mark = data_directory.portal(settings)
    try:
        schema.require_current(database)
        mark.claim()
        try:
            give_way(database, os.nice(NICENESS))
            mode = EVERYBODY if settings.portal.socket else OWNER_ALONE
            listener = PortalListener(portal_socket(settings), mode, settings.portal.address, kept_port(settings))
            portal.run(database, in_force, listener)
        finally:
            mark.release()
    finally:
        database.close()
    return 0


def start(settings: Settings) -> "subprocess.Popen[bytes] | None":
    """In the background; None: it runs already."""
    if data_directory.portal(settings).pid() or is_served(portal_socket(settings)):
        return None
    argv = [sys.executable, "-P", "-m", "modules.operator", "portal"]
    log, environment = data_directory.portal_log(settings), data_directory.environment(settings)
    return data_directory.portal(settings).launch(argv, log, environment)


def tell_start(settings: Settings, process: "subprocess.Popen[bytes] | None") -> None:
    """Wait until it listens; raise CigriError when it does not."""
    if process is None:
        return
    place, log = portal_socket(settings), data_directory.portal_log(settings)
    deadline = time.monotonic() + OPENING_PATIENCE
    while not is_served(place):
        if process.poll() is not None:
            raise CigriError(f"the portal does not start:\n{detached_process.tail(log)}")
        if time.monotonic() > deadline:
            raise CigriError(f"the portal does not listen in {OPENING_PATIENCE:.0f} s; see {log}")
        time.sleep(LOOK_WHILE_OPENING)
    print(f"The portal is process {process.pid}; it serves at {place}")
    if address := pages_address(settings):
        print(f"In a browser it is {address}/, and `gridweb` lets you in")
