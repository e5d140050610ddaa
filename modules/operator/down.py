"""`cigri down`: stops what `cigri up` has started, each by its own pid, and says what became of it."""

import json
import os
import time
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from cigri.cli.command import CommandParser, print_error
from cigri.database import Database, embedded
from cigri.errors import CigriError, DatabaseUnavailable
from cigri.flow.clusters import ClusterRow, list_every_cluster
from cigri.installation import database_url
from cigri.localbatch import client
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from modules.operator import data_directory, detached_process

STOPPING_PATIENCE = 15.0  # seconds on top of the longest pass
KILL_PATIENCE = 30.0
LOOK_WHILE_STOPPING = 0.1


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri down",
        "Stop the portal, the almighty (after the pass under way), the daemons of the local cluster and of\n"
        "others that were added on this host, and the embedded database.",
        "  cigri down\n  cigri down --jobs kill",
    )
    parser.add_argument(
        "--no-portal",
        action="store_true",
        help="the portal goes on, as a service of its own, and while it does the embedded database",
    )
    parser.add_argument(
        "--jobs",
        choices=("keep", "kill"),
        default="keep",
        help="what becomes of the jobs of this host: they go on (default), or are killed and done again after `up`",
    )
    options = parser.parse_args(argv)
    settings = load()
    is_clean = options.no_portal or _stop_portal(settings)
    is_clean &= _stop_almighty(settings)
    for spool, name in _daemons(settings).items():
        is_clean &= _stop_daemon(spool, name, kill=options.jobs == "kill")
    if options.no_portal and not settings.database.url and (pid := data_directory.portal(settings).pid()):
        print(f"The portal (process {pid}) goes on, and so does the embedded database")
    else:
        _stop_database(settings)
    return 0 if is_clean else 1


def _stop_portal(settings: Settings) -> bool:
    portal = data_directory.portal(settings)
    pid = portal.pid()
    if pid is None:
        print("The portal was not running")
        return True
    if portal.stop(STOPPING_PATIENCE):
        print(f"The portal (process {pid}) has ended")
        return True
    print_error(f"the portal (process {pid}) did not end in {STOPPING_PATIENCE:g} s and was killed")
    return False


def _stop_almighty(settings: Settings) -> bool:
    almighty = data_directory.almighty(settings)
    pid = almighty.pid()
    if pid is None:
        print("The almighty was not running")
        return True
    patience = settings.almighty.deadline + STOPPING_PATIENCE
    if almighty.is_stopped():
        print(f"The almighty (process {pid}) was stopped by a signal, and goes on to end")
        detached_process.let_go_on(pid)
    if almighty.stop(patience):
        _wait_for_helpers(pid)
        print(f"The almighty (process {pid}) has ended")
        return True
    print_error(f"the almighty (process {pid}) did not end in {patience:g} s and was killed")
    return False


def _wait_for_helpers(group: int) -> None:
    """Those that start the almighty's workers end by themselves a moment after it."""
    deadline = time.monotonic() + STOPPING_PATIENCE
    while detached_process.is_group_alive(group) and time.monotonic() < deadline:
        time.sleep(LOOK_WHILE_STOPPING)


def _daemons(settings: Settings) -> dict[Path, str]:
    """What the daemons of this host are called, by their spools: the usual one, and those of clusters that were added.

    Without a database nobody knows the latter.
    """
    named = {data_directory.spool(settings): "The local cluster's daemon"}
    try:
        clusters = _clusters(settings)
    except DatabaseUnavailable:
        return named
    except (CigriError, DBAPIError) as error:
        print_error(f"daemons of clusters that were added on this host go on: {error}")
        return named
    for cluster in clusters:
        config = cluster.config.in_use
        spool = config.options.get("spool") if config.driver == "local" and config.transport == "local" else None
        if isinstance(spool, str) and spool:
            named.setdefault(Path(spool), f"The daemon of cluster {cluster.name}")
    return named


def _clusters(settings: Settings) -> list[ClusterRow]:
    database = Database(database_url(settings), settings.database.lock_timeout)
    try:
        with database.read() as conn:
            return list_every_cluster(conn)
    finally:
        database.close()


def _stop_daemon(spool: Path, name: str, *, kill: bool) -> bool:
    answer = ask(spool, "probe")
    if not answer:
        print(f"{name} was not running")
        return True
    pid = int(answer[0]["pid"])
    mark = detached_process.ProcessIdentity(pid, detached_process.start_of(pid))
    if not _is_ours(pid):
        print(f"{name} (process {pid}) belongs to somebody else and goes on")
        return True
    if kill and not _kill_jobs(spool):
        print_error(f"some jobs still run after {KILL_PATIENCE:g} s")
        return False
    running = sum(len(line["running"]) for line in _everything(spool))
    is_clean = detached_process.stop(mark, STOPPING_PATIENCE)
    jobs = f"; {running} jobs go on" if running else ""
    print(f"{name} (process {pid}) {'has ended' if is_clean else 'was killed'}{jobs}")
    return is_clean


def _is_ours(pid: int) -> bool:
    try:
        return os.geteuid() in (0, os.stat(f"/proc/{pid}").st_uid)
    except FileNotFoundError:  # it has just ended
        return True


def _kill_jobs(spool: Path) -> bool:
    """Cancel all that waits or runs, and wait for its end."""
    deadline = time.monotonic() + KILL_PATIENCE
    killed = 0
    while live := _everything(spool):
        ids = [f"{line['array']}_{index}" for line in live for index in _indexes(line)]
        if not killed:
            ask(spool, "cancel", ids=ids)
            killed = len(ids)
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_WHILE_STOPPING)
    print(f"{killed} jobs of this host are killed")
    return True


def _indexes(line: dict[str, Any]) -> list[int]:
    waiting = [index for first, last in line["waiting"] for index in range(first, last + 1)]
    return waiting + [index for index, *_ in line["running"]]


def ask(spool: Path, verb: str, **fields: object) -> list[dict[str, Any]]:
    """The daemon's answer, without its last line; empty when no daemon is there."""
    try:
        answer = client.exchange(json.dumps({"verb": verb, **fields}).encode(), str(spool), None)
    except client.ClientFailed as failure:
        if failure.status == client.NO_DAEMON:
            return []
        raise CigriError(f"the local cluster's daemon in {spool} does not answer sensibly: {failure}") from None
    return [json.loads(line) for line in answer.splitlines()[:-1]]


def _everything(spool: Path) -> list[dict[str, Any]]:
    return ask(spool, "list", prefix="", everybody=True)


def _stop_database(settings: Settings) -> None:
    if settings.database.url:
        print("The database (database.url) is left alone")
        return
    stopped = embedded.stop(data_directory.database_directory(settings))
    print("The embedded database has ended" if stopped else "The embedded database was not running")
