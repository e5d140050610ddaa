"""Sessions of browsers, and the links that begin them.
Given by: portal, users; taken by: portal.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, delete, func, insert, literal, not_, or_, select, update

from cigri.database import interval
from cigri.database.typed_rows import read_all, read_one
from cigri.formats.units import HOUR, MINUTE
from cigri.identity.callers import AccessScope, Caller
from cigri.tables.sessions import Session

LINK_LIFE, SESSION_LIFE = MINUTE, 12 * HOUR
IS_ALIVE = and_(Session.c.ended_at.is_(None), Session.c.expires_at > func.now())
LINK_UNTIL = Session.c.created_at + interval(LINK_LIFE)
IS_CLOSED_LINK = and_(Session.c.sha256.is_(None), func.now() >= LINK_UNTIL)
OPENS = and_(Session.c.sha256.is_(None), Session.c.ended_at.is_(None), func.now() < LINK_UNTIL)


class SessionRecord(NamedTuple):
    id: int
    user: str
    scope: AccessScope
    expires_at: datetime


class CreatedSignInLink(NamedTuple):
    id: int
    opens_until: datetime
    expires_at: datetime


KNOWN = (Session.c.id, Session.c.grid_user.label("user"), Session.c.scope, Session.c.expires_at)


def put_link(conn: Connection, user: str, link_sha256: str, scope: AccessScope) -> CreatedSignInLink:
    """In the place of what this user has had, and is over."""
    conn.execute(delete(Session).where(Session.c.grid_user == user, or_(not_(IS_ALIVE), IS_CLOSED_LINK)))
    values = {"grid_user": user, "scope": scope, "link_sha256": link_sha256}
    times = {"created_at": func.now(), "expires_at": func.now() + interval(SESSION_LIFE)}
    told = (Session.c.id, LINK_UNTIL.label("opens_until"), Session.c.expires_at)
    made = read_one(conn, CreatedSignInLink, insert(Session).values(**values, **times).returning(*told))
    assert made is not None
    return made


def find_link(conn: Connection, link_sha256: str) -> SessionRecord | None:
    """The session that it would begin; None: it opens nothing, or no more."""
    return read_one(conn, SessionRecord, select(*KNOWN).where(Session.c.link_sha256 == link_sha256, OPENS))


def open_session(conn: Connection, link_sha256: str, sha256: str) -> SessionRecord | None:
    """From now on its secret is that of `sha256`; None: somebody was faster, or the link opens nothing."""
    opening = update(Session).where(Session.c.link_sha256 == link_sha256, OPENS).values(sha256=sha256)
    return read_one(conn, SessionRecord, opening.returning(*KNOWN))


def find_session(conn: Connection, sha256: str) -> SessionRecord | None:
    """None: there is none, or it is over."""
    return next(iter(read_all(conn, SessionRecord, _of_secret(), {"sum": sha256})), None)


@cache
def _of_secret() -> Select[*tuple[Any, ...]]:
    """Built once: each request of a browser asks it."""
    return select(*KNOWN).where(Session.c.sha256 == bindparam("sum"), IS_ALIVE)


def list_alive(conn: Connection, session_ids: Collection[int]) -> set[int]:
    """Those of these sessions that are not over."""
    alive = select(*KNOWN).where(Session.c.id.in_(session_ids), IS_ALIVE)
    return {session.id for session in read_all(conn, SessionRecord, alive)}


def end_sessions(conn: Connection, caller: Caller, session_id: int | None = None) -> int:
    """All of the caller's, or the one named, of anybody where the caller owns all; how many there were."""
    is_own = Session.c.grid_user == caller.user
    if session_id is not None:
        is_own = and_(Session.c.id == session_id, or_(is_own, literal(caller.owns_all)))
    return conn.execute(update(Session).where(is_own, IS_ALIVE).values(ended_at=func.now())).rowcount
