"""Who signs a challenge with a registered SSH key is given a token, wherever they are.

A challenge is used up before its signature is looked at, and that is done with no transaction open. What is wrong is
not told: neither who has which keys, nor which challenges there are.
"""

import re
from typing import TYPE_CHECKING, Any

from cigri.api_models.identity import CreatedToken
from cigri.api_models.ssh_keys import IssuedChallenge
from cigri.endpoints import Door, admits
from cigri.endpoints.identity import USUAL_LIFE, TokenLife, require_bounds, require_room_for_token
from cigri.errors import Forbidden, UsageError
from cigri.identity.callers import AccessScope, Caller, require_asked_for, require_operating

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.flow.ssh_keys import RegisteredKey
    from cigri.ssh_keys.challenge_text import RequestedToken

LONGEST_NAME, LONGEST_HOST = 256, 253  # characters
SIGNS_NOTHING = (
    "this signature opens nothing: its key is none of this user's on the grid (`gridtoken keys list` on the grid's "
    "host), it is of another text, or the challenge is unknown, used or older than a minute"
)
_NONCE = re.compile(r"[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[^\s:]+")


@admits("/challenges")
def create_challenge(
    database: "Database",
    door: Door,
    *,
    user: str,
    host: str,
    scope: AccessScope = AccessScope.READ,
    expires_in: TokenLife = USUAL_LIFE,
    comment: str = "",
    for_root: bool = False,
) -> IssuedChallenge:
    """Ask for a text to sign with an SSH key of yours, which gives a token of this kind, once and within a minute."""
    import secrets

    from cigri.flow.challenges import put_challenge
    from cigri.flow.grid_identity import grid_key
    from cigri.ssh_keys.challenge_text import RequestedToken, text_to_sign

    require_bounds(expires_in, comment)
    if not _NAME.fullmatch(user) or not user.isprintable() or len(user) > LONGEST_NAME:
        raise UsageError(f"{user[:LONGEST_NAME]!r} is no name of an account", "user")
    if len(host) > LONGEST_HOST or not door.answers_to(host):
        raise UsageError(f"this grid is not reached as {host[:LONGEST_HOST]!r}; portal.names says how it is", "host")
    require_asked_for(user, "tokens", for_root=for_root)
    wanted, nonce = RequestedToken(user, host, scope, expires_in, comment), secrets.token_urlsafe(32)
    with database.begin() as conn:
        until, grid = put_challenge(conn, wanted, nonce), grid_key(conn)
    return IssuedChallenge(nonce, grid, text_to_sign(grid, wanted, nonce), until)


@admits("/challenges/answer")
def answer_challenge(database: "Database", door: Door, *, nonce: str, signature: str) -> CreatedToken:
    """Send the signature of a challenge's text, and be given the token."""
    from cigri.flow.challenges import take_challenge
    from cigri.flow.grid_identity import grid_key
    from cigri.ssh_keys.challenge_text import text_to_sign
    from cigri.ssh_keys.keygen import verifies

    with door.looking():
        if not _NONCE.fullmatch(nonce):
            raise Forbidden(SIGNS_NOTHING)
        with database.begin() as conn:
            wanted = take_challenge(conn, nonce)
        if wanted is None:
            raise Forbidden(SIGNS_NOTHING)
        with database.begin() as conn:
            key, grid = _signer(conn, wanted.user, signature), grid_key(conn)
        if key is None or not verifies(key.public_key, signature, text_to_sign(grid, wanted, nonce)):
            raise Forbidden(SIGNS_NOTHING)
    return _given(database, door.lent(wanted.user, wanted.scope, f"SSH key {key.id}"), wanted, key)


def _signer(conn: "Connection", user: str, signature: str) -> "RegisteredKey | None":
    """The key that the signature names, if it is one of this user's."""
    from cigri.flow.ssh_keys import find_signer
    from cigri.ssh_keys.public_keys import fingerprint_of
    from cigri.ssh_keys.signatures import read_signer

    named = read_signer(signature)
    return None if named is None else find_signer(conn, user, fingerprint_of(named))


def _given(database: "Database", caller: Caller, wanted: "RequestedToken", key: "RegisteredKey") -> CreatedToken:
    """Unless the key was removed meanwhile."""
    import secrets

    from cigri.flow.audit import put_audit
    from cigri.flow.ssh_keys import is_kept
    from cigri.flow.tokens import put_token
    from cigri.identity.token_text import ParsedToken, hash_of

    require_operating(caller, wanted.scope, "tokens")
    secret = secrets.token_urlsafe(32)
    kind: Any = {"scope": wanted.scope, "expires_in": wanted.expires_in, "comment": wanted.comment}
    with database.begin() as conn:
        if not is_kept(conn, key.id):
            raise Forbidden(SIGNS_NOTHING)
        require_room_for_token(conn, caller.user)
        made = put_token(conn, caller.user, hash_of(secret), **kind, ssh_key_id=key.id)
        put_audit(conn, caller, answer_challenge.name, {**kind, "token_id": made.id})
    return CreatedToken(
        str(ParsedToken(made.id, secret)), made.id, made.user, made.comment, made.scope, made.expires_at
    )
