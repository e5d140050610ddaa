"""Tokens are made by whom the kernel or a trusted proxy knows, listed, and revoked."""

from typing import TYPE_CHECKING, Annotated

from cigri.api_models.identity import CallerView, CreatedToken, EndedSessions, SignInLink, TokenView
from cigri.endpoints import Access, change_endpoint, read_endpoint, with_settings
from cigri.endpoints.paging import BACKWARDS, PageLimit, require_limit
from cigri.endpoints.parameters import NumberBounds
from cigri.errors import ConfigError, UsageError
from cigri.formats.units import DAY
from cigri.identity.callers import AccessScope, Caller, require_may_create_token

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.settings.sections import Settings

USUAL_LIFE, LONGEST_LIFE = 30 * DAY, 90 * DAY
TokenLife = Annotated[int, NumberBounds(1, LONGEST_LIFE)]
LONGEST_COMMENT = 200  # characters
BYTES_OF_OWN_NAME = 16
"""Of the name at which a browser of an own grid keeps its session: nobody guesses it."""
MAX_VALID_TOKENS = 100  # of a user
USUAL_TOKENS = 1000  # in a page


@change_endpoint("/tokens", Access.EVERYBODY, AccessScope.READ)
def create_token(
    conn: "Connection",
    caller: Caller,
    *,
    scope: AccessScope = AccessScope.READ,
    expires_in: TokenLife = USUAL_LIFE,
    comment: str = "",
    for_root: bool = False,
) -> CreatedToken:
    """Make a token of yours, which expires in so many seconds; `for_root`: root has to say that it wants one."""
    import secrets

    from cigri.flow.tokens import put_token
    from cigri.identity.token_text import ParsedToken, hash_of

    require_may_create_token(caller, scope, "tokens", "gridtoken create", for_root=for_root)
    require_bounds(expires_in, comment)
    require_room_for_token(conn, caller.user)
    secret = secrets.token_urlsafe(32)
    made = put_token(conn, caller.user, hash_of(secret), scope=scope, expires_in=expires_in, comment=comment)
    return CreatedToken(
        str(ParsedToken(made.id, secret)), made.id, made.user, made.comment, made.scope, made.expires_at
    )


def require_bounds(expires_in: TokenLife, comment: str) -> None:
    """Raise UsageError where a token would live too long, or be called what is no line."""
    if not 0 < expires_in <= LONGEST_LIFE:
        most = f"{LONGEST_LIFE // DAY} days at most"
        raise UsageError(f"a token lives for {most}, and for a second at least", "expires_in")
    if len(comment) > LONGEST_COMMENT or not comment.isprintable():
        raise UsageError(f"a comment is one line of {LONGEST_COMMENT} characters at most", "comment")


def require_room_for_token(conn: "Connection", user: str) -> None:
    """Raise UsageError where a user has as many valid tokens as anybody may have."""
    from cigri.flow.tokens import count_valid_tokens

    if count_valid_tokens(conn, user) >= MAX_VALID_TOKENS:
        raise UsageError(f"you have {MAX_VALID_TOKENS} valid tokens, and nobody may have more: `gridtoken revoke` some")


@read_endpoint("/tokens", Access.EVERYBODY, BACKWARDS)
def get_tokens(
    conn: "Connection", caller: Caller, *, before: int | None = None, limit: PageLimit = USUAL_TOKENS
) -> list[TokenView]:
    """Your tokens, the last ones that were made; operators see those of everybody."""
    from cigri.flow.tokens import list_tokens

    require_limit(limit)
    return list_tokens(conn, caller, limit, before)


@change_endpoint("/tokens/{token_id}/revoke", Access.HOLDER)
def revoke_token(conn: "Connection", caller: Caller, *, token_id: int) -> TokenView:
    """Make a token worthless, from now on and for ever."""
    from cigri.flow.tokens import end_token

    return end_token(conn, token_id, caller)


# Who the caller is, as the portal sees it.


@read_endpoint("/whoami", Access.EVERYBODY)
def whoami(_conn: "Connection", caller: Caller) -> CallerView:
    """By which name you are known, how that is known, and what you may do."""
    return CallerView(caller.user, caller.is_operator, caller.scope, caller.how)


# Browsers are let in by links, which whom the kernel or a trusted proxy knows may make.

SIGN_IN = "/sign-in"

NO_PAGES = (
    "this grid has no address for browsers: its operator sets portal.address, or portal.names where a proxy serves it"
)


@change_endpoint("/sessions", Access.EVERYBODY, AccessScope.READ)
@with_settings
def create_link(
    conn: "Connection",
    caller: Caller,
    settings: "Settings",
    *,
    scope: AccessScope = AccessScope.SUBMIT,
    for_root: bool = False,
) -> SignInLink:
    """Make a link that lets a browser in as you, once and within a minute; `for_root`: root has to say so."""
    import secrets

    from cigri.flow.browser_sessions import put_link
    from cigri.identity.token_text import hash_of
    from cigri.installation import pages_address

    require_may_create_token(caller, scope, "sessions", "gridweb", for_root=for_root)
    address = pages_address(settings, secrets.token_hex(BYTES_OF_OWN_NAME))
    if not address:
        raise ConfigError(NO_PAGES)
    secret = secrets.token_urlsafe(32)
    made = put_link(conn, caller.user, hash_of(secret), scope)
    url = f"{address}{SIGN_IN}?link={secret}"
    return SignInLink(url, made.id, caller.user, scope, made.opens_until, made.expires_at)


@change_endpoint("/sessions/end", Access.EVERYBODY)
def end_sessions(conn: "Connection", caller: Caller, *, session_id: int | None = None) -> EndedSessions:
    """All sessions of yours end, in whatever browser, or one of them; operators may name anybody's."""
    from cigri.flow import browser_sessions

    return EndedSessions(browser_sessions.end_sessions(conn, caller, session_id))
