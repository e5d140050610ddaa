"""SSH keys: whose signatures give tokens, and of whom.
Given by: janitor, users; taken by: users.
"""

from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, literal, or_, select, update

from cigri.api_models.ssh_keys import SshKeyView
from cigri.database.typed_rows import read_all, read_one
from cigri.errors import NotFound, UsageError
from cigri.identity.callers import Caller
from cigri.ssh_keys.public_keys import PublicKey
from cigri.tables.ssh_keys import SshKey
from cigri.tables.tokens import Token

MOST_KEYS = 20  # of a user
KEY_VIEW = (
    SshKey.c.id,
    SshKey.c.grid_user.label("user"),
    SshKey.c.fingerprint,
    SshKey.c.comment,
    SshKey.c.created_at,
    SshKey.c.removed_at,
)
COUNTS = SshKey.c.removed_at.is_(None)


class RegisteredKey(NamedTuple):
    """`public_key`: as a file has it."""

    id: int
    public_key: str


def put_key(conn: Connection, user: str, key: PublicKey) -> SshKeyView:
    """Raise UsageError for one that the user has already, or that would be too many."""
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"ssh keys {user}", 0))))
    own = read_all(conn, SshKeyView, select(*KEY_VIEW).where(SshKey.c.grid_user == user, COUNTS))
    if same := [one for one in own if one.fingerprint == key.fingerprint]:
        raise UsageError(f"{user} has this key already: it is number {same[0].id}")
    if len(own) >= MOST_KEYS:
        raise UsageError(f"{user} has {MOST_KEYS} keys, which is the most: remove one first")
    values = {"grid_user": user, "public_key": key.text, "fingerprint": key.fingerprint, "comment": key.comment}
    made = read_one(conn, SshKeyView, insert(SshKey).values(**values, created_at=func.now()).returning(*KEY_VIEW))
    assert made is not None
    return made


def list_keys(conn: Connection, caller: Caller, after: int = 0, limit: int | None = None) -> list[SshKeyView]:
    """The caller's own, of whoever owns all those of everybody, by number."""
    keys = select(*KEY_VIEW).where(SshKey.c.id > after).order_by(SshKey.c.id).limit(limit)
    return read_all(conn, SshKeyView, keys if caller.owns_all else keys.where(SshKey.c.grid_user == caller.user))


def end_key(conn: Connection, key_id: int, caller: Caller) -> SshKeyView:
    """From now on it gives nothing, and what it gave opens nothing; one that was removed before stays as it is."""
    is_own = or_(SshKey.c.grid_user == caller.user, literal(caller.owns_all))
    removed_at = func.coalesce(SshKey.c.removed_at, func.now())
    removing = update(SshKey).where(SshKey.c.id == key_id, is_own).values(removed_at=removed_at)
    removed = read_one(conn, SshKeyView, removing.returning(*KEY_VIEW))
    if removed is None:
        raise NotFound(f"you have no SSH key {key_id}; `gridtoken keys list` lists yours")
    given = update(Token).where(Token.c.ssh_key_id == key_id, Token.c.revoked_at.is_(None))
    conn.execute(given.values(revoked_at=func.now()))
    return removed


def find_signer(conn: Connection, user: str, fingerprint: str) -> RegisteredKey | None:
    """That the key counts for this user now; that it has signed is for the caller to see."""
    known = select(SshKey.c.id, SshKey.c.public_key)
    return read_one(
        conn, RegisteredKey, known.where(SshKey.c.grid_user == user, SshKey.c.fingerprint == fingerprint, COUNTS)
    )


def is_kept(conn: Connection, key_id: int) -> bool:
    """Does it still count? Until this transaction ends whoever removes it waits, and then finds what it gave."""
    counts = select(SshKey.c.id).where(SshKey.c.id == key_id, COUNTS).with_for_update(read=True)
    return conn.execute(counts).one_or_none() is not None


def forget_keys(conn: Connection, days: float) -> int:
    """Delete those that were removed longer ago and that no token names any more, and give their number."""
    is_named = select(Token.c.id).where(Token.c.ssh_key_id == SshKey.c.id).exists()
    old = SshKey.c.removed_at < func.now() - timedelta(days=days)
    return conn.execute(delete(SshKey).where(old, ~is_named)).rowcount
