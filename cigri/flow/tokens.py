"""Tokens: secrets by which people are known where no socket tells who they are.
Given by: janitor, portal, users; taken by: portal, users.
"""

from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, literal, or_, select, update

from cigri.api_models.identity import TokenView
from cigri.database import interval
from cigri.database.typed_rows import read_all, read_one
from cigri.errors import NotFound
from cigri.formats.units import MINUTE
from cigri.identity.callers import AccessScope, Caller
from cigri.tables.tokens import Token

USE_NOTED = interval(MINUTE)
VALID = and_(Token.c.revoked_at.is_(None), Token.c.expires_at > func.now())
FRESHLY_USED = func.coalesce(Token.c.last_used_at > func.now() - USE_NOTED, False)
VIEW = (
    Token.c.id,
    Token.c.grid_user.label("user"),
    Token.c.comment,
    Token.c.scope,
    Token.c.created_at,
    Token.c.expires_at,
    Token.c.last_used_at,
    Token.c.revoked_at,
    VALID.label("is_valid"),
    Token.c.ssh_key_id,
)


class TokenRecord(NamedTuple):
    """`is_fresh`: its use was noted so lately that it need not be again."""

    user: str
    scope: AccessScope
    sha256: str
    is_valid: bool
    is_fresh: bool


def put_token(
    conn: Connection,
    user: str,
    sha256: str,
    *,
    scope: AccessScope,
    expires_in: float,
    comment: str = "",
    ssh_key_id: int | None = None,
) -> TokenView:
    """`expires_in`: seconds."""
    values = {"grid_user": user, "comment": comment, "scope": scope, "sha256": sha256, "ssh_key_id": ssh_key_id}
    times = {"created_at": func.now(), "expires_at": func.now() + interval(expires_in)}
    made = read_one(conn, TokenView, insert(Token).values(**values, **times).returning(*VIEW))
    assert made is not None
    return made


def count_valid_tokens(conn: Connection, user: str) -> int:
    """How many tokens of a user open something."""
    counted = select(func.count()).select_from(Token).where(Token.c.grid_user == user, VALID)
    return conn.execute(counted).scalar_one()


def list_tokens(
    conn: Connection, caller: Caller, limit: int | None = None, before: int | None = None
) -> list[TokenView]:
    """The caller's own, of whoever owns all those of everybody: the latest `limit`, or all, the oldest first."""
    tokens = select(*VIEW).order_by(Token.c.id.desc()).limit(limit)
    if not caller.owns_all:
        tokens = tokens.where(Token.c.grid_user == caller.user)
    if before is not None:
        tokens = tokens.where(Token.c.id < before)
    return read_all(conn, TokenView, tokens)[::-1]


def end_token(conn: Connection, token_id: int, caller: Caller) -> TokenView:
    """From now on it opens nothing; one that was revoked before stays as it is."""
    is_own = or_(Token.c.grid_user == caller.user, literal(caller.owns_all))
    revoked_at = func.coalesce(Token.c.revoked_at, func.now())
    revoking = update(Token).where(Token.c.id == token_id, is_own).values(revoked_at=revoked_at)
    revoked = read_one(conn, TokenView, revoking.returning(*VIEW))
    if revoked is None:
        raise NotFound(f"you have no token {token_id}; `gridtoken list` lists yours")
    return revoked


def find_token(conn: Connection, token_id: int) -> TokenRecord | None:
    """Whose it is; that its secret is right is for the caller to compare."""
    known = select(
        Token.c.grid_user.label("user"),
        Token.c.scope,
        Token.c.sha256,
        VALID.label("is_valid"),
        FRESHLY_USED.label("is_fresh"),
    )
    return read_one(conn, TokenRecord, known.where(Token.c.id == token_id))


def forget_tokens(conn: Connection, days: float) -> int:
    """Delete those that have opened nothing for longer, and give their number."""
    over_at = func.least(Token.c.expires_at, Token.c.revoked_at)
    return conn.execute(delete(Token).where(over_at < func.now() - timedelta(days=days))).rowcount


def note_use(conn: Connection, token_id: int) -> None:
    """Written once a minute, however often it is used at the same time."""
    conn.execute(update(Token).where(Token.c.id == token_id, ~FRESHLY_USED).values(last_used_at=func.now()))
