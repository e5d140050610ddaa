"""What must survive kill -9: arrays, and the jobs of them that have left the queue, in one SQLite file.

SQLite in WAL mode: a commit survives the death of the process at any instant and costs some 30 microseconds; with
synchronous=NORMAL a power cut cannot spoil the file either.
"""

import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from cigri.localbatch.backfill_queue import JobArray

Row = TypeVar("Row", bound=tuple[Any, ...])

SCHEMA = """
CREATE TABLE IF NOT EXISTS host (boot TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS arrays (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid INTEGER NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    need TEXT NOT NULL,
    walltime INTEGER NOT NULL,
    notice INTEGER NOT NULL,
    argv TEXT NOT NULL,
    ended REAL,
    UNIQUE (uid, name)
);
CREATE INDEX IF NOT EXISTS live_arrays ON arrays (id) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS jobs (
    array INTEGER NOT NULL REFERENCES arrays ON DELETE CASCADE,
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    token TEXT NOT NULL,
    began REAL NOT NULL,
    started REAL,
    pid INTEGER,
    ticks INTEGER,
    doom TEXT NOT NULL DEFAULT '',
    ended REAL,
    exit_code INTEGER,
    reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (array, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS live_jobs ON jobs (array) WHERE ended IS NULL;
"""


class LocalJobState(StrEnum):
    """Life of a job that has left the queue, be it only to be held. VANISHED: it is over, nobody knows how it ended."""

    HELD = "held"
    STARTING = "starting"
    RUNNING = "running"
    SUSPENDED = "suspended"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    NODE_FAILED = "node_failed"
    VANISHED = "vanished"


class LocalJobRow(NamedTuple):
    """A job that has left the queue; `started` and `ended` are epoch seconds.

    `began` is on the monotonic clock; of a suspended job it is the seconds for which it had run.
    """

    array: int
    position: int
    state: LocalJobState
    token: str = ""
    began: float = 0.0
    started: float | None = None
    pid: int | None = None
    ticks: int | None = None
    doom: str = ""
    ended: float | None = None
    exit_code: int | None = None
    reason: str = ""


class ArrayRow(NamedTuple):
    """An array as it is stored; `need` and `argv` are JSON."""

    id: int
    uid: int
    name: str
    size: int
    need: str
    walltime: int
    notice: int
    argv: str


class BootRow(NamedTuple):
    """Which boot of the host was the last that a daemon has seen."""

    boot: str


class JobPosition(NamedTuple):
    """The place of a job in its array, from 1 on."""

    position: int


class JobStore:
    """Every write belongs to the transaction that the next commit() ends."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("PRAGMA foreign_keys=ON")
        self._db.executescript(SCHEMA)

    def commit(self) -> None:
        """What was written since the last one survives from now on; nothing is done when nothing was written."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def close(self) -> None:
        """What is not committed is gone."""
        self._db.close()

    def boot(self, boot: str) -> bool:
        """Remember the boot of the host; whether it is another one than last time."""
        earlier = self._read(BootRow, "SELECT boot FROM host")
        self._write("DELETE FROM host")
        self._write("INSERT INTO host (boot) VALUES (?)", (boot,))
        return bool(earlier) and earlier[0].boot != boot

    def add_array(self, array: JobArray) -> int:
        """Store a new array, whose id is not looked at, and give its id."""
        values = (array.uid, array.name, array.size, json.dumps(array.need), array.walltime, array.notice)
        return self._write(
            "INSERT INTO arrays (uid, name, size, need, walltime, notice, argv) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, json.dumps(array.argv)),
        )

    def find_array(self, uid: int, name: str) -> JobArray | None:
        """Live or ended; names are unique among those of a user. Its jobs are not looked at."""
        arrays = self._arrays("uid = ? AND name = ?", (uid, name))
        return arrays[0] if arrays else None

    def live_arrays(self) -> list[JobArray]:
        """Arrays with a job that has not ended; what waits is what has no row in jobs."""
        arrays = self._arrays("ended IS NULL", ())
        for array in arrays:
            places = self._read(JobPosition, "SELECT position FROM jobs WHERE array = ?", (array.id,))
            gone = {place.position for place in places}
            array.left = deque(index for index in range(1, array.size + 1) if index not in gone)
        return arrays

    def live_jobs(self) -> list[LocalJobRow]:
        """Jobs that have left the queue and have not ended, also those that are held."""
        return self._jobs("ended IS NULL", ())

    def get_job(self, array_id: int, index: int) -> LocalJobRow | None:
        """None of one that waits, or whose array is forgotten."""
        jobs = self._jobs("array = ? AND position = ?", (array_id, index))
        return jobs[0] if jobs else None

    def put_jobs(self, jobs: Iterable[LocalJobRow]) -> None:
        """Write jobs as they are now."""
        self._begin()
        marks = ", ".join("?" * len(LocalJobRow._fields))
        self._db.executemany(f"INSERT OR REPLACE INTO jobs ({_columns(LocalJobRow)}) VALUES ({marks})", jobs)  # noqa: S608 - no input

    def unstart(self, job: LocalJobRow) -> None:
        """Put a job that never ran, or was held, back into the queue."""
        self._write("DELETE FROM jobs WHERE array = ? AND position = ?", (job.array, job.position))

    def end_array(self, array_id: int, now: float) -> None:
        """Its last job ended at `now`, in epoch seconds; from then on it may be forgotten."""
        self._write("UPDATE arrays SET ended = ? WHERE id = ?", (now, array_id))

    def forget(self, before: float, keep: int) -> None:
        """Drop arrays that ended before a time, and the oldest ones beyond `keep` jobs in all."""
        self._write("DELETE FROM arrays WHERE ended < ?", (before,))
        sums = "SELECT id, sum(size) OVER (ORDER BY ended DESC, id DESC) AS jobs FROM arrays WHERE ended IS NOT NULL"
        self._write(f"DELETE FROM arrays WHERE id IN (SELECT id FROM ({sums}) WHERE jobs > ?)", (keep,))  # noqa: S608

    def _arrays(self, condition: str, values: Sequence[object]) -> list[JobArray]:
        statement = f"SELECT {_columns(ArrayRow)} FROM arrays WHERE {condition} ORDER BY id"  # noqa: S608 - no input
        return [_array(row) for row in self._read(ArrayRow, statement, values)]

    def _jobs(self, condition: str, values: Sequence[object]) -> list[LocalJobRow]:
        statement = f"SELECT {_columns(LocalJobRow)} FROM jobs WHERE {condition}"  # noqa: S608 - no input
        return [job._replace(state=LocalJobState(job.state)) for job in self._read(LocalJobRow, statement, values)]

    def _read(self, kind: type[Row], statement: str, values: Sequence[object] = ()) -> list[Row]:
        return read_rows(kind, self._db.execute(statement, values))

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def _write(self, statement: str, values: Sequence[object] = ()) -> int:
        self._begin()
        return self._db.execute(statement, values).lastrowid or 0


def read_rows(kind: type[Row], cursor: sqlite3.Cursor) -> list[Row]:
    """What was selected, as named tuples; TypeError unless the columns are their fields, by name and order."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]  # it is a named tuple
    if (columns := tuple(name for name, *_ in cursor.description)) != fields:
        raise TypeError(f"{kind.__name__} has the fields {', '.join(fields)}, not {', '.join(columns)}")
    return [kind._make(row) for row in cursor]  # type: ignore[attr-defined]


def _array(row: ArrayRow) -> JobArray:
    need, argv = json.loads(row.need), tuple(json.loads(row.argv))
    return JobArray(row.id, row.uid, row.name, row.size, need, row.walltime, row.notice, argv)


def _columns(kind: type[Row]) -> str:
    return ", ".join(kind._fields)  # type: ignore[attr-defined]
