"""A server for the runs, whose database has the schema: made once for each version of it, and copied from then on."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from cigri import package_files
from cigri.database import embedded, schema
from cigri.database.virtual import CLOCK, VirtualTimeDatabase
from cigri.private_files import make_private_directory


@contextmanager
def server() -> Iterator[Path]:
    """Its directory; it lives as long, and a power cut may cost it everything."""
    prepared = _place() / _version()
    with tempfile.TemporaryDirectory(prefix="cigri-pg-") as name:
        directory = Path(name)
        if not _copied(prepared / "data", directory):  # there is none, or it is just being replaced
            shutil.rmtree(directory / "data", ignore_errors=True)
            _make(directory, prepared)
        embedded.start(directory)
        try:
            yield directory
        finally:
            embedded.stop(directory, "immediate")


def _make(directory: Path, prepared: Path) -> None:
    """Kept for the next time where there is room for it, in the place of those of other versions."""
    embedded.start(directory)
    try:
        embedded.forget_durability(directory)
        database = VirtualTimeDatabase(embedded.url(directory))
        database.make_clock()
        schema.upgrade(database)
        database.close()
    finally:
        embedded.stop(directory)
    with suppress(OSError):
        make_private_directory(prepared.parent)
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=prepared.parent))
        if not _copied(directory / "data", fresh):
            raise OSError("there is no room for it")
        for old in prepared.parent.iterdir():
            if old != fresh:
                gone = Path(tempfile.mkdtemp(prefix="old-", dir=prepared.parent))
                old.rename(gone)  # who copies it meanwhile finds its name gone
                shutil.rmtree(gone, ignore_errors=True)
        fresh.rename(prepared)


def _copied(data: Path, place: Path) -> bool:
    """A thousand small files: the program takes a tenth of the time that Python does.

    Of one that still has its name behind it nothing was removed before.
    """
    done = subprocess.run(["cp", "-a", str(data), str(place)], check=False, capture_output=True)
    return done.returncode == 0 and data.exists()


def _place() -> Path:
    """Of the user's own, as whom the server runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cigri" / "laboratory"


def _version() -> str:
    """Return a hash over the programs of PostgreSQL, the clock and what the migrations say."""
    fingerprint = sha256(f"{embedded.binaries(_place())} {CLOCK}".encode())
    migrations = package_files.directory("migrations")
    for path in sorted([*migrations.glob("versions/*.py"), *migrations.glob("schema/*.sql")]):
        fingerprint.update(path.read_bytes())
    return fingerprint.hexdigest()[:16]
