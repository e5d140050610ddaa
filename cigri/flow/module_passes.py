"""Passes of modules: how the last went, and that somebody lives who lets more follow.
Given by: almighty, operator; taken by: operator, users.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from cigri.database.typed_rows import read_all
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.remote_command_counts import RemoteCommandCosts, put_commands, put_sessions
from cigri.states import EventLevel
from cigri.tables.grid import ModuleState

MODULE_FAILED = "MODULE_FAILED"

HOLD_LIFE = "SELECT pg_advisory_lock_shared(hashtextextended('cigri.almighty', 0))"
"""What an almighty says on the connection that it keeps; the server lets the lock go as soon as that is gone."""


NOWHERE: Mapping[str, RemoteCommandCosts] = MappingProxyType({})
NO_SESSIONS: Mapping[str, int] = MappingProxyType({})


class ModulePass(NamedTuple):
    """A pass that is over; `error` empty: it succeeded. `by_almighty`: more follow by themselves.

    `spent`: remote commands since the last note, `sessions`: those of SSH that stay open, by the names of clusters.
    """

    name: str
    host: str
    pid: int
    seconds: float
    counts: Mapping[str, int]
    error: str
    by_almighty: bool = False
    spent: Mapping[str, RemoteCommandCosts] = NOWHERE
    sessions: Mapping[str, int] = NO_SESSIONS


class ModuleStatus(NamedTuple):
    """A module as it stands."""

    name: str
    host: str
    pid: int
    passes: int
    failures: int
    at: datetime
    seconds: float | None
    counts: Mapping[str, int]
    error: str | None


def put_pass(conn: Connection, done: ModulePass, passes: int = 1) -> None:
    """Note a pass, `passes` since the last note; a failure is an event until the module succeeds again."""
    failed = bool(done.error)
    values = {
        "host": done.host,
        "pid": done.pid,
        "started_at": func.now(),
        "seconds": done.seconds,
        "counts": dict(done.counts),
        "error": done.error or None,
        "by_almighty": done.by_almighty,
    }
    first = func.now() if failed else None
    counters = {"passes": passes, "failures": int(failed), "failing_since": first}
    statement = insert(ModuleState).values(name=done.name, **counters, **values)
    since = func.coalesce(ModuleState.c.failing_since, func.now()) if failed else None
    again = {
        "failing_since": since,
        "passes": ModuleState.c.passes + passes,
        "failures": ModuleState.c.failures + int(failed),
    }
    conn.execute(statement.on_conflict_do_update(index_elements=[ModuleState.c.name], set_=values | again))
    put_commands(conn, done.name, done.spent)
    put_sessions(conn, done.name, done.sessions)
    subject = f"module {done.name}"
    if failed:
        put_events(conn, [NewEvent(MODULE_FAILED, EventLevel.ERROR, subject, done.error[-4000:])])
    else:
        close_events(conn, [MODULE_FAILED], [subject], "cigri")


def list_module_standings(conn: Connection) -> list[ModuleStatus]:
    """Each module that has noted a pass, the one whose last pass is the longest ago first; `counts` are those of that
    pass."""
    row = ModuleState
    columns = (
        row.c.name,
        row.c.host,
        row.c.pid,
        row.c.passes,
        row.c.failures,
        row.c.started_at.label("at"),
        row.c.seconds,
        row.c.counts,
        row.c.error,
    )
    return read_all(conn, ModuleStatus, select(*columns).order_by(row.c.started_at))
