"""`cigri uninstall`: ends the grid of a user and removes what CiGri made on this host, but no results."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from cigri.cli.command import DONE, FAILED, CommandParser, print_error
from cigri.database import Database
from cigri.errors import CigriError, ConfigError
from cigri.installation import database_url, has_services
from cigri.presentation.formatting import format_size
from cigri.settings.loading import load
from cigri.settings.sections import Settings
from cigri.settings.sources import user_directory
from modules.operator import down, login_unit, up
from modules.operator.leaving_clusters import leave_clusters

MADE_FILES = (
    *("almighty.log", "almighty.log.1", "almighty.pid"),
    *("portal.log", "portal.log.1", "portal.pid", "portal.port", "portal.sock"),
    "up.lock",
)
MADE_DIRECTORIES: Mapping[str, str] = MappingProxyType(
    {
        "database": r"data|lock|log|\.s\.PGSQL\.\d+(\.lock)?",
        "inputs": r"[0-9a-f]{2}|arriving",
        "local": r"features|log(\.1)?|scratch|socket|starting|starts|state\.db(-journal|-shm|-wal)?",
    }
)
"""With what CiGri puts into each: a directory of data that is a project's, too, may have such names of its own."""
WITH_RESULTS = ("jobs", "outputs")
"""What tasks wrote on the cluster localhost, and what was collected: it belongs to the user."""
YES = ("y", "yes")


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri uninstall",
        "End the grid of this user on this host, and remove its database, logs, copies of inputs, caches and unit.\n"
        "What tasks wrote stays, as do your settings and all files on other clusters. It asks first.",
        "  cigri uninstall\n  cigri uninstall --clusters --yes",
    )
    parser.add_argument(
        "--clusters",
        action="store_true",
        help="kill this grid's jobs on all clusters; remove copies of inputs",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    options = parser.parse_args(argv)
    settings = load()
    if has_services(settings):
        raise ConfigError("this grid is a site's: docs/how-to/uninstall.md tells how root removes it")
    removed = [*_made(settings)]
    if not removed:
        raise CigriError(f"there is no grid in {settings.data_directory}: nothing is removed")
    _require_own(settings)
    _tell_plan(settings, removed, with_clusters=options.clusters)
    if not (options.yes or _agrees()):
        print_error("nothing is removed")
        return FAILED
    if down.run(["--jobs", "kill"]) != DONE:
        raise CigriError("not all of the grid has ended: nothing is removed; try again")
    if options.clusters and not _leave_clusters(settings):
        raise CigriError("not all clusters could be asked: nothing else is removed; try again, or without --clusters")
    removed = [*_made(settings)]  # asking clusters may have made more
    login_unit.remove()
    for place in removed:
        _remove(place)
    for place in (*_results(settings), settings.data_directory):
        _remove_if_empty(place)
    print("CiGri is removed. The program itself: remove its virtual environment or checkout")
    return DONE


def _made(settings: Settings) -> Iterator[Path]:
    """Yield what is removed, of what is there; only names that CiGri gives, for a directory may hold more."""
    place = settings.data_directory
    yield from (place / name for name in (*MADE_DIRECTORIES, *MADE_FILES) if os.path.lexists(place / name))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cigri"
    if cache.is_dir():
        yield cache
    if login_unit.is_installed(settings):
        yield login_unit.unit_path(os.environ)


def _require_own(settings: Settings) -> None:
    """Raise CigriError where a directory that would be removed holds what CiGri did not put there."""
    for name, own in MADE_DIRECTORIES.items():
        place = settings.data_directory / name
        found = os.listdir(place) if place.is_dir() and not place.is_symlink() else []
        for strange in sorted(one for one in found if not re.fullmatch(own, one)):
            raise CigriError(f"{place} holds {strange}, which CiGri did not make: move it elsewhere, and try again")


def _results(settings: Settings) -> list[Path]:
    return [settings.data_directory / name for name in WITH_RESULTS if (settings.data_directory / name).is_dir()]


def _tell_plan(settings: Settings, removed: list[Path], *, with_clusters: bool) -> None:
    print("The grid ends; jobs that run on this host are killed, and open campaigns are lost. Removed are:")
    for place in removed:
        print(f"  {place}")
    if with_clusters:
        print("  copies of inputs on all clusters, where jobs of this grid are killed, too")
    print("Kept are:")
    for place in _results(settings):
        files = [path.stat().st_size for path in place.rglob("*") if path.is_file() and not path.is_symlink()]
        print(f"  {place}, with {len(files)} files ({format_size(sum(files))}) that tasks wrote")
    if (own := user_directory(os.environ)).is_dir():
        print(f"  {own}, your settings")
    if settings.database.url:
        print("  the database (database.url)")
    jobs = "" if with_clusters else "; jobs there go on to their end"
    print(f"  what tasks wrote on other clusters, below the directory of each (usually ~/.cigri){jobs}")


def _leave_clusters(settings: Settings) -> bool:
    """Ask clusters with nothing but the database running, and stop that again."""
    if up.run(["--no-almighty"]) != DONE:
        return False
    database = Database(database_url(settings), settings.database.lock_timeout)
    try:
        return leave_clusters(database)
    finally:
        database.close()
        down.run([])


def _agrees() -> bool:
    """Ask; without anybody to ask the answer is no."""
    if not sys.stdin.isatty():
        print_error("nobody can be asked here: add --yes")
        return False
    print("Remove all this? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in YES


def _remove(place: Path) -> None:
    """Links are removed, never followed."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _remove_if_empty(place: Path) -> None:
    """A tree without a single file goes, too."""
    if place.is_dir() and not any(not path.is_dir() or path.is_symlink() for path in place.rglob("*")):
        shutil.rmtree(place)
