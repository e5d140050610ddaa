"""The way to PostgreSQL: an engine, short transactions, advisory locks, the server's clock, and NOTIFY."""

import json
import os
import select as sockets
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Double,
    Engine,
    Select,
    Text,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError, InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import TypeEngine

from cigri.database.sessions import (
    CLIENT_ENCODING,
    POOLER,
    REFUSED_SETTINGS,
    SESSION_SETTINGS,
    require_usable,
    startup_options,
)
from cigri.errors import CigriError, ConfigError, DatabaseFull, DatabaseUnavailable, QueryTimedOut
from cigri.estimates.backoff import MOST_DOUBLINGS, BackOff

WAKE_CHANNEL = "cigri_wake"
PREPARED = 500  # statements that a connection keeps prepared: a cycle has more than psycopg's 100
KEPT = 20  # connections: one for the lock of each cluster that is visited at the same time, and some to work with
CANCELLED_STATEMENT = "57014"  # also by its time limit
DISK_FULL = "53100"
LONGEST_SESSION_NAME = 63  # characters that PostgreSQL keeps
ANSWER_LIMIT = 20  # seconds of a statement on behalf of somebody who waits for its answer


_KEY = func.hashtextextended(bindparam("name", type_=Text), 0)
_NOW = select(func.now())
_STATEMENT_LIMIT = select(func.set_config("statement_timeout", bindparam("limit", type_=Text), True))  # until the end
_LOCK, _UNLOCK = select(func.pg_try_advisory_lock(_KEY)), select(func.pg_advisory_unlock(_KEY))


class Database:
    """An engine with our habits; every use is `with database.begin() as conn` around one short transaction."""

    settings: Mapping[str, str] = SESSION_SETTINGS
    """Settings of PostgreSQL, for each connection."""

    def __init__(self, url: str, lock_timeout: float = 30.0) -> None:
        self.url = url.replace("postgresql://", "postgresql+psycopg://", 1)
        options = startup_options({**self.settings, "lock_timeout": str(int(lock_timeout * 1000))})
        name = session_name(socket.gethostname(), os.getpid())
        self.engine: Engine = create_engine(
            self.url,
            pool_size=KEPT,
            max_overflow=20,
            pool_use_lifo=True,  # those used last have the most statements prepared
            use_native_hstore=False,  # or each new connection asks the server for its number
            connect_args={
                "options": options,
                "client_encoding": CLIENT_ENCODING,
                "connect_timeout": 10,
                "application_name": name,
            },
        )
        self._reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        event.listen(self.engine, "connect", _begin_session)
        event.listen(self.engine, "checkout", self._look)

    def begin(self) -> AbstractContextManager[Connection]:
        """One transaction: committed at the end, rolled back on an error; raise DatabaseUnavailable when it is away."""
        return self._transaction(self.engine)

    def read(self) -> AbstractContextManager[Connection]:
        """As begin, for statements that only read, each for itself: no round trips to begin and to commit."""
        return self._transaction(self._reading)

    def snapshot(self) -> AbstractContextManager[Connection]:
        """As begin, for readers: all statements see the same instant, so that their figures agree."""
        return self._transaction(self.engine.execution_options(isolation_level="REPEATABLE READ"))

    def answering(self) -> AbstractContextManager[Connection]:
        """As snapshot, of a server's answer to somebody: it changes nothing, and ends when it takes too long."""
        return self._limited(ANSWER_LIMIT)

    @contextmanager
    def _limited(self, seconds: int) -> Iterator[Connection]:
        reading = self.engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        try:
            with self._transaction(reading) as conn:
                conn.execute(_STATEMENT_LIMIT, {"limit": f"{seconds}s"})
                yield conn
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != CANCELLED_STATEMENT:
                raise
            raise QueryTimedOut(
                f"the database was at this for {seconds} s: ask for less at a time, as by a smaller limit or fewer "
                "ids, or again when the grid is less busy"
            ) from error

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        try:
            with engine.begin() as conn:
                yield conn
        except (OperationalError, InterfaceError) as error:
            if error.connection_invalidated or isinstance(error, InterfaceError) or _is_away(error):
                raise _unusable(error) from error
            if is_disk_full(error):
                raise DatabaseFull(f"the database has no room left, make some on its disk: {error.orig}") from error
            raise

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Hold the advisory lock `name`, on a connection of its own outside any transaction; False: another has it."""
        try:
            connection = self._reading.connect()
        except OperationalError as error:
            raise _unusable(error) from error
        with connection as conn:
            taken = bool(conn.scalar(_LOCK, {"name": name}))
            try:
                yield taken
            finally:
                if taken and not conn.invalidated:
                    self._unlock(conn, name)

    @staticmethod
    def _unlock(conn: Connection, name: str) -> None:
        try:
            conn.execute(_UNLOCK, {"name": name})
        except (OperationalError, InterfaceError):
            conn.invalidate()  # the server has released the lock together with the session

    def _look(self, connection: Any, _record: object, _proxy: object) -> None:
        """A server says nothing to those who ask nothing, but at its end: then ask it, at the cost of a round trip."""
        try:
            if _has_news(connection):
                self.engine.dialect.do_ping(connection)
        except self.engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error

    def close(self) -> None:
        """Close the connections of the pool; one that is in use is closed when it comes back."""
        pool = self.engine.pool
        self.engine.dispose()  # it has another pool from now on
        event.listen(pool, "checkin", _end)
        pool.dispose()  # what came back meanwhile


def session_name(host: str, pid: int) -> str:
    """How the server calls the sessions of a process, as far as it keeps it."""
    return f"cigri {pid} {host}"[:LONGEST_SESSION_NAME]


def _end(_connection: object, record: ConnectionPoolEntry) -> None:
    record.invalidate()


def _begin_session(connection: Any, _record: object) -> None:
    require_usable(connection)
    connection.prepared_max = PREPARED


def _has_news(connection: Any) -> bool:
    news = sockets.poll()
    news.register(connection.fileno(), sockets.POLLIN)
    return bool(news.poll(0))


def interval(seconds: float | ColumnElement[float] | ColumnElement[float | None]) -> ColumnElement[timedelta]:
    """So many seconds as PostgreSQL adds them to a time; of a column, too."""
    return func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def pause_after(failures: ColumnElement[int], backoff: BackOff) -> ColumnElement[timedelta]:
    """`backoff.seconds`, of a column that counts failures in a row, the latest one among them."""
    doublings = func.least(func.greatest(failures - 1, 0), MOST_DOUBLINGS)
    longest = literal(backoff.longest, Double)
    return interval(func.least(backoff.first * func.power(2.0, doublings), longest))


def server_time(conn: Connection) -> datetime:
    """The time of the database, by which all that it holds is to be read, as a value."""
    return conn.execute(_NOW).scalar_one()


def wake(conn: Connection) -> None:
    """Tell the almighty, when this transaction commits, that there is something to do."""
    conn.execute(text(f"NOTIFY {WAKE_CHANNEL}"))


def is_disk_full(error: DBAPIError) -> bool:
    """Whether the server found no room for what was written: no fault of whoever wrote it."""
    return getattr(error.orig, "sqlstate", None) == DISK_FULL


def _unusable(error: DBAPIError) -> CigriError:
    if REFUSED_SETTINGS in str(error.orig):
        return ConfigError(f"{POOLER}. It says: {error.orig}")
    return DatabaseUnavailable(f"the database does not answer: {error.orig}")


def _is_away(error: OperationalError) -> bool:
    state: Any = getattr(error.orig, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


IDS: Mapping[str, TypeEngine[Any]] = {"id": BigInteger()}
"""Of `values_table` and `bound_values_table`: a table of ids alone."""


def values_table(
    name: str, columns: Mapping[str, TypeEngine[Any]], values: Sequence[Sequence[object]]
) -> TableValuedAlias:
    """Plain values as a table to join with: one parameter whatever the number of rows. Values must be JSON's."""
    return _table(name, columns, literal(rows_as_json(columns, values), Text))


def bound_values_table(name: str, columns: Mapping[str, TypeEngine[Any]]) -> TableValuedAlias:
    """As `values_table`, in a statement that is built once; its parameter `name` is `rows_as_json` rows."""
    return _table(name, columns, bindparam(name, type_=Text))


def id_list(ids: Iterable[int]) -> Select[tuple[int]]:
    """To be used with `in_` and `not_in`: one parameter whatever their number, looked up as in a table."""
    return select(func.unnest(literal(list(ids), ARRAY(BigInteger)), type_=BigInteger))


def is_one_of(column: ColumnElement[int], ids: Sequence[int]) -> ColumnElement[bool]:
    """One alone is compared: for a list of unknown length PostgreSQL expects ten, and plans each call anew."""
    return column == ids[0] if len(ids) == 1 else column.in_(id_list(ids))


def bound_id_list(name: str) -> Select[tuple[int]]:
    """As `id_list`, in a statement that is built once; its parameter `name` is a list of ids."""
    return select(func.unnest(bindparam(name, type_=ARRAY(BigInteger)), type_=BigInteger))


def rows_as_json(columns: Iterable[str], values: Iterable[Sequence[object]]) -> str:
    """Rows as JSON, which `bound_values_table` takes. PostgreSQL holds no NUL: foreign text that has one keeps all the
    rest."""
    names = tuple(columns)
    return json.dumps([dict(zip(names, map(_without_nul, value), strict=True)) for value in values])


def _table(name: str, columns: Mapping[str, TypeEngine[Any]], keyed: ColumnElement[str]) -> TableValuedAlias:
    table = func.jsonb_to_recordset(cast(keyed, JSONB)).table_valued(
        *(column(key, kind) for key, kind in columns.items()), name=name
    )
    return table.render_derived(name=name, with_types=True)


def _without_nul(value: object) -> object:
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value
