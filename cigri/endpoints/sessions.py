"""Browsers are let in by links, which whom the kernel or a trusted proxy knows may make."""

from typing import TYPE_CHECKING

from cigri.answers.sessions import EndedSessions, SignInLink
from cigri.endpoints import May, changes
from cigri.errors import ConfigError
from cigri.identity.callers import Caller, Scope
from cigri.rules.minting import require_minting

if TYPE_CHECKING:
    from sqlalchemy import Connection

SIGN_IN = "/sign-in"
NO_PAGES = (
    "this grid has no address for browsers: its operator sets portal.address, or portal.names where a proxy serves it"
)


@changes("/sessions", May.EVERYBODY, Scope.READ)
def create_link(
    conn: "Connection", caller: Caller, *, scope: Scope = Scope.SUBMIT, for_root: bool = False
) -> SignInLink:
    """Make a link that lets a browser in as you, once and within a minute; `for_root`: root has to say so."""
    import secrets

    from cigri import installation
    from cigri.flow.browser_sessions import put_link
    from cigri.identity.token_text import hash_of

    require_minting(caller, scope, "sessions", "gridweb", for_root=for_root)
    address = installation.pages_address()
    if not address:
        raise ConfigError(NO_PAGES)
    secret = secrets.token_urlsafe(32)
    made = put_link(conn, caller.user, hash_of(secret), scope)
    url = f"{address}{SIGN_IN}?link={secret}"
    return SignInLink(url, made.id, caller.user, scope, made.opens_until, made.expires_at)


@changes("/sessions/end", May.EVERYBODY, Scope.READ)
def end_sessions(conn: "Connection", caller: Caller, *, session_id: int | None = None) -> EndedSessions:
    """All sessions of yours end, in whatever browser, or one of them; operators may name anybody's."""
    from cigri.flow import browser_sessions

    return EndedSessions(browser_sessions.end_sessions(conn, caller, session_id))
