"""Processes that make passes: their signs of life, and which of them have stalled.
Given by: almighty, operator, portal; taken by: operator, portal, users.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, delete, func, or_, select, text, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import interval, session_name
from cigri.database.typed_rows import read_all
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.formats.units import as_instant
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event, GridProcess

PROCESS_STALLED = "PROCESS_STALLED"
ALMIGHTY = "almighty"
LOCKS_OF_CLUSTERS = ("updator", "runner", "killer", "stager")
LOCKS_OF_THE_GRID = ("metascheduler", "janitor", "notifier")

_SESSIONS = text(
    "SELECT application_name, pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = ANY(:names)"
)
_HELD = text(
    "SELECT DISTINCT wanted.name FROM unnest(CAST(:locks AS text[])) AS wanted (name) JOIN pg_locks"
    " ON locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND (classid::bigint << 32) | objid::bigint = hashtextextended(wanted.name, 0)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " WHERE pid = ANY(:backends) ORDER BY wanted.name"
)


class WorkerSign(NamedTuple):
    """The process of a module, and the seconds since its almighty last heard of it."""

    name: str
    pid: int
    age: float


class ProcessSign(NamedTuple):
    """A sign of life of a program, and what it has been at for `age` of the `limit` seconds that this may last.

    `activity` is empty while it waits. `silence`: seconds for which there may be no other sign.
    """

    host: str
    pid: int
    name: str
    activity: str
    age: float
    limit: float
    silence: float
    workers: Sequence[WorkerSign] = ()


class StalledProcess(NamedTuple):
    """A program that has a session in the database and does not go on: stopped, hung, or on a host that is away.

    `since`: its last sign if it `is_silent`, else the begin of its `activity`. `pids`: those that live of it and its
    workers. `locks`: what they keep others from, in words.
    """

    host: str
    pid: int
    name: str
    since: datetime
    activity: str
    is_silent: bool
    pids: Sequence[int]
    locks: Sequence[str]

    @property
    def has_lock(self) -> bool:
        """Whether it is an almighty that is still connected: it holds the lock by which users know that one lives."""
        return self.name == ALMIGHTY and self.pid in self.pids

    @property
    def subject(self) -> str:
        """What its event is about."""
        return f"process {self.pid} on {self.host}"

    @property
    def sentence(self) -> str:
        """Which process has stalled, and since when."""
        who = f"{self.name} (process {self.pid} on {self.host})"
        if self.is_silent:
            return f"{who} has given no sign of life since {as_instant(self.since)}"
        since = f"since {as_instant(self.since)}, which is too long"
        return f"{who} has been at {self.activity} {since}" if self.activity else f"{who} has done nothing {since}"

    @property
    def message(self) -> str:
        """The sentence, what the process keeps others from, and how to end it."""
        keeps = f" It keeps other processes from: {', '.join(self.locks)}." if self.locks else ""
        pids = " ".join(map(str, self.pids))
        return (
            f"{self.sentence}.{keeps} On {self.host}, `kill -CONT {pids}` lets it go on if it was stopped, and "
            f"`kill -9 {pids}` ends it: nothing is lost. If {self.host} is away, pg_terminate_backend ends what it has "
            f"in the database: sessions named `{session_name(self.host, self.pid)}` and alike"
        )


class _OverdueProcess(NamedTuple):
    host: str
    pid: int
    name: str
    seen_at: datetime
    activity: str
    activity_since: datetime
    is_silent: bool


def put_sign(conn: Connection, sign: ProcessSign) -> None:
    """The program lives, with these workers and no others."""
    row = GridProcess.c
    begun = func.now() - interval(sign.age)
    leader = {
        "host": sign.host,
        "pid": sign.pid,
        "name": sign.name,
        "leader": sign.pid,
        "seen_at": func.now(),
        "activity": sign.activity,
        "activity_since": begun,
        "silent_at": func.now() + interval(sign.silence),
        "late_at": begun + interval(sign.limit),
    }
    workers = [
        {
            "host": sign.host,
            "pid": worker.pid,
            "name": worker.name,
            "leader": sign.pid,
            "seen_at": func.now() - interval(worker.age),
            "activity": "",
            "activity_since": func.now() - interval(worker.age),
            "silent_at": None,
            "late_at": None,
        }
        for worker in sign.workers
    ]
    pids = [sign.pid, *(worker.pid for worker in sign.workers)]
    conn.execute(
        delete(GridProcess).where(row.host == sign.host, row.leader == sign.pid, row.pid.not_in(pids)),
    )
    statement = insert(GridProcess).values([leader, *workers])
    new = {name: statement.excluded[name] for name in leader if name not in ("host", "pid")}
    conn.execute(statement.on_conflict_do_update(index_elements=[row.host, row.pid], set_=new))


def remove_process(conn: Connection, host: str, pid: int) -> None:
    """The program ends well, and so do its workers."""
    conn.execute(delete(GridProcess).where(GridProcess.c.host == host, GridProcess.c.leader == pid))


def list_stalled(conn: Connection) -> list[StalledProcess]:
    """Programs that give no sign of life, or do not go on, though they or their workers have sessions here."""
    overdue = _list_overdue(conn)
    if not overdue:
        return []
    pids = _list_pids(conn, overdue)
    sessions = _list_sessions(conn, pids)
    found = []
    for process in overdue:
        living = [pid for pid in pids[process.host, process.pid] if sessions.get(session_name(process.host, pid))]
        if living:
            backends = [backend for pid in living for backend in sessions[session_name(process.host, pid)]]
            since = process.seen_at if process.is_silent else process.activity_since
            found.append(
                StalledProcess(
                    host=process.host,
                    pid=process.pid,
                    name=process.name,
                    since=since,
                    activity=process.activity,
                    is_silent=process.is_silent,
                    pids=living,
                    locks=_list_locks(conn, backends),
                )
            )
    return found


def put_stalled(conn: Connection) -> list[StalledProcess]:
    """Open an event for each program that has stalled, once; close those of programs that go on, or are gone."""
    stalled = list_stalled(conn)
    event = Event.c
    is_open = and_(event.code == PROCESS_STALLED, event.closed_at.is_(None))
    told = set(conn.scalars(select(event.subject).where(is_open)))
    news = [process for process in stalled if process.subject not in told]
    put_events(conn, [NewEvent(PROCESS_STALLED, EventLevel.ERROR, one.subject, one.message) for one in news])
    close_events(conn, [PROCESS_STALLED], sorted(told - {process.subject for process in stalled}), "cigri")
    _remove_dead(conn, [process for process in _list_overdue(conn) if not _is_among(process, stalled)])
    return news


def _list_overdue(conn: Connection) -> list[_OverdueProcess]:
    return read_all(conn, _OverdueProcess, _overdue())


@cache
def _overdue() -> Select[*tuple[Any, ...]]:
    """Built once: every page asks it."""
    row = GridProcess.c
    columns = (row.host, row.pid, row.name, row.seen_at, row.activity, row.activity_since)
    is_silent: ColumnElement[bool] = row.silent_at < func.now()
    statement = select(*columns, is_silent.label("is_silent")).where(or_(is_silent, row.late_at < func.now()))
    return statement.order_by(row.host, row.pid)


def _list_pids(conn: Connection, overdue: Sequence[_OverdueProcess]) -> dict[tuple[str, int], list[int]]:
    """Of each of these programs its own pid, then those of its workers."""
    pids = {(process.host, process.pid): [process.pid] for process in overdue}
    row = GridProcess.c
    workers = select(row.host, row.leader, row.pid).where(
        row.pid != row.leader, tuple_(row.host, row.leader).in_(list(pids))
    )
    for worker in conn.execute(workers.order_by(row.pid)):
        pids[worker.host, worker.leader].append(worker.pid)
    return pids


def _list_sessions(conn: Connection, pids: Mapping[tuple[str, int], Iterable[int]]) -> dict[str, list[int]]:
    """The backends of each of these processes, by the names of their sessions."""
    names = [session_name(host, pid) for (host, _), its in pids.items() for pid in its]
    sessions: dict[str, list[int]] = {}
    for session in conn.execute(_SESSIONS, {"names": names}):
        sessions.setdefault(session.application_name, []).append(session.pid)
    return sessions


def _list_locks(conn: Connection, backends: Sequence[int]) -> list[str]:
    """What these sessions keep others from, as `updator on dahu`."""
    locks = {f"cigri.{module}": module for module in LOCKS_OF_THE_GRID}
    for cluster in conn.execute(select(Cluster.c.id, Cluster.c.name)):
        locks |= {f"cigri.{module}.{cluster.id}": f"{module} on {cluster.name}" for module in LOCKS_OF_CLUSTERS}
    return [locks[name] for name in conn.scalars(_HELD, {"locks": list(locks), "backends": backends})]


def _is_among(process: _OverdueProcess, stalled: Sequence[StalledProcess]) -> bool:
    return any((one.host, one.pid) == (process.host, process.pid) for one in stalled)


def _remove_dead(conn: Connection, dead: Sequence[_OverdueProcess]) -> None:
    """Neither they nor their workers have a session: whichever lives after all tells so itself."""
    for process in dead:
        remove_process(conn, process.host, process.pid)
