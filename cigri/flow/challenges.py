"""Challenges: what strangers are to sign; each is answered once.
Taken by: users.
"""

from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, or_

from cigri.database import interval
from cigri.database.typed_rows import read_one
from cigri.formats.units import MINUTE
from cigri.ssh_keys.challenge_text import RequestedToken
from cigri.tables.challenges import Challenge

CHALLENGE_LIFE = MINUTE
MOST_OPEN = 1000
"""The oldest give way: who refused new ones instead would keep everybody out as soon as somebody asks for many."""
OPEN_UNTIL = Challenge.c.created_at + interval(CHALLENGE_LIFE)


def put_challenge(conn: Connection, wanted: RequestedToken, nonce: str) -> datetime:
    """Until when it is open, if not so many others come that it has to give way."""
    values = {**wanted._asdict(), "grid_user": wanted.user, "nonce": nonce, "created_at": func.now()}
    values.pop("user")
    made = conn.execute(insert(Challenge).values(values).returning(Challenge.c.id, OPEN_UNTIL.label("until"))).one()
    conn.execute(delete(Challenge).where(or_(Challenge.c.id <= made.id - MOST_OPEN, func.now() >= OPEN_UNTIL)))
    until: datetime = made.until
    return until


def take_challenge(conn: Connection, nonce: str) -> RequestedToken | None:
    """What was asked for; from now on it is not there. None: it never was, is used up, or too old."""
    taking = delete(Challenge).where(Challenge.c.nonce == nonce, func.now() < OPEN_UNTIL)
    row = Challenge.c
    told = (row.grid_user.label("user"), row.host, row.scope, row.expires_in, row.comment)
    return read_one(conn, RequestedToken, taking.returning(*told))
