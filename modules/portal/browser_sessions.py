"""Browsers: by which cookie they are known, and how they show that it is a page of ours that changes something."""

import re
import secrets
from hashlib import sha256
from hmac import compare_digest
from hmac import new as hmac

from starlette.datastructures import Headers
from starlette.responses import Response

from cigri.database import Database
from cigri.errors import Forbidden
from cigri.flow.browser_sessions import SessionRecord, find_session
from cigri.identity.callers import Caller
from cigri.identity.token_text import hash_of
from modules.portal.origins import SAME_ORIGIN, is_own_name

COOKIE = "cigri-session"
PROOF_FIELD, PROOF_HEADER = "proof", "X-CiGri-Proof"
OLD_PAGE = "this page is too old, or none of ours: load it anew, and do it again"
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class BrowserSessions:
    """What is known of browsers; `proof` is what only our own pages hold, for this caller and this portal's life."""

    def __init__(self, database: Database) -> None:
        self._database, self._key = database, secrets.token_bytes(32)

    def find(self, headers: Headers) -> SessionRecord | None:
        """Of the cookie that is shown, once: of two, another site of this host may have set one."""
        shown = _cookies(headers, _name(headers))
        if len(shown) != 1 or not is_secret(shown[0]):
            return None
        with self._database.read() as conn:
            return find_session(conn, hash_of(shown[0]))

    def proof(self, caller: Caller) -> str:
        return hmac(self._key, f"{caller.user} {caller.how}".encode(), sha256).hexdigest()

    def require_proof(self, headers: Headers, caller: Caller, shown: str) -> None:
        """Raise Forbidden unless one of our pages asks, in the browser of this caller."""
        require_own_page(headers)
        if not compare_digest(shown.encode(), self.proof(caller).encode()):
            raise Forbidden(OLD_PAGE)


def require_own_page(headers: Headers) -> None:
    """Raise Forbidden where no browser says so; one that says otherwise does not come as far as this."""
    if headers.get("sec-fetch-site") != SAME_ORIGIN and "origin" not in headers:
        raise Forbidden(OLD_PAGE)


def give_cookie(answer: Response, headers: Headers, secret: str, life: int) -> None:
    """`life`: seconds; 0 takes it away. By names of this host alone it comes without TLS."""
    name = _name(headers)
    is_secure = name != COOKIE
    answer.set_cookie(name, secret, max_age=life, path="/", secure=is_secure, httponly=True, samesite="strict")


def is_secret(text: str) -> bool:
    """May it be that of a link, or of a session?"""
    return _SECRET.fullmatch(text) is not None


def _name(headers: Headers) -> str:
    """With this prefix browsers take it from no other host, and over TLS only."""
    return COOKIE if is_own_name(headers.get("host", "")) else f"__Host-{COOKIE}"


def _cookies(headers: Headers, name: str) -> list[str]:
    pairs = [pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";")]
    return [value for key, _, value in pairs if key == name]
