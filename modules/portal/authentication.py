"""Whose request it is: a token says it where one is shown, else the kernel, of who is at the other end of a socket.

Where that is a reverse proxy that the operator trusts, the name is the one that it has found out. By TCP, where the
kernel says nothing, it may be the session of a browser.
"""

import os
import pwd
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.requests import Request

from cigri.admission import is_among
from cigri.database import Database
from cigri.errors import CigriError, ConfigError, Forbidden
from cigri.flow.tokens import find_token, note_use
from cigri.identity.callers import PROXY, SUPERUSER, AccessScope, Caller
from cigri.identity.token_text import hash_of, read_token
from cigri.identity.unix_sockets import SocketPeer
from modules.portal.browser_sessions import PROOF_HEADER, BrowserSessions
from modules.portal.group_access import GroupAccess
from modules.portal.origins import HARMLESS, is_browser_request
from modules.portal.settings_in_force import SettingsInForce

BEARER = "bearer"
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
JSON_TYPE = "application/json"
BY_SESSION = "session "  # before its number
OPENS_NOTHING = "this token is unknown, expired or revoked; `gridtoken create` on the grid's host makes another"


class NotAuthenticated(CigriError):
    """Nobody says who this is."""


class Authenticator:
    """Names of callers, and who among them is an operator."""

    def __init__(self, in_force: SettingsInForce, database: Database) -> None:
        self._in_force, self._database = in_force, database
        settings = in_force.current().portal
        self.proxy, self._proxy_header = _number_of_proxy(settings.proxy), settings.proxy_header
        self._mates = GroupAccess(in_force, database)
        self.sessions = BrowserSessions(database)

    def caller(self, request: Request) -> Caller:
        """Raise NotAuthenticated for one whom nobody knows, Forbidden for a change that a foreign page might ask.

        A browser adds by itself what its reader is known by in a session or to a proxy. So the change has to be of a
        type that no form can send, and, where a browser sends it, to hold what only our pages know.
        """
        visitor = self.visitor(request)
        is_session = visitor.how.startswith(BY_SESSION)
        if request.method not in HARMLESS and (is_session or visitor.how == PROXY):
            _require_no_form(request.headers)
            if is_session or is_browser_request(request.headers):
                self.sessions.require_proof(request.headers, visitor, request.headers.get(PROOF_HEADER, ""))
        return visitor

    def visitor(self, request: Request) -> Caller:
        """As caller, of a page, whose forms hold the proof; it is found out once for each request."""
        if not hasattr(request.state, "visitor"):
            request.state.visitor = self._mates.with_group_access(self._known(request))
        visitor: Caller = request.state.visitor
        return visitor

    def _known(self, request: Request) -> Caller:
        """Whoever shows a token is nobody but its user."""
        shown = request.headers.getlist("authorization")
        if any(_scheme(line) == BEARER for line in shown):
            return self._by_token(shown)
        peer: SocketPeer | None = getattr(request.state, "peer", None)
        if peer is None:
            return self._by_session(request)
        if peer.uid == self.proxy:
            return self._by_proxy(request.headers.getlist(self._proxy_header))
        return self._by_kernel(peer)

    def _by_kernel(self, peer: SocketPeer) -> Caller:
        try:
            user = pwd.getpwuid(peer.uid).pw_name
        except KeyError:
            raise NotAuthenticated(f"the account with number {peer.uid} has no name on this host") from None
        return Caller(user, self._is_operator(peer.uid, user))

    def _by_proxy(self, named: list[str]) -> Caller:
        """The proxy itself is nobody, and root comes by the kernel's word only."""
        if len(named) != 1 or not named[0]:
            raise NotAuthenticated(f"the proxy has to say who you are, in one line {self._proxy_header}")
        try:
            account = pwd.getpwnam(named[0])
        except KeyError:
            raise NotAuthenticated(f"there is no account {named[0]!r} on the grid's host") from None
        if account.pw_uid in (0, self.proxy):
            raise NotAuthenticated(f"a proxy does not speak for {account.pw_name}")
        return Caller(account.pw_name, self._is_operator(account.pw_uid, account.pw_name), how=PROXY)

    def _by_token(self, shown: list[str]) -> Caller:
        """Only what opens the door is told of a token that does not: nothing."""
        token = read_token(shown[0].partition(" ")[2].strip()) if len(shown) == 1 else None
        if token is None:
            raise NotAuthenticated(OPENS_NOTHING)
        with self._database.read() as conn:
            known = find_token(conn, token.id)
            if known is None or not compare_digest(known.sha256, hash_of(token.secret)) or not known.is_valid:
                raise NotAuthenticated(OPENS_NOTHING)
            if not known.is_fresh:
                note_use(conn, token.id)
        return self.lent(known.user, known.scope, f"token {token.id}")

    def _by_session(self, request: Request) -> Caller:
        known = self.sessions.find(request.headers)
        if known is None:
            raise NotAuthenticated(
                "who are you? Send a token, as `gridtoken create` makes it: Authorization: Bearer cgr_..."
            )
        return self.lent(known.user, known.scope, f"{BY_SESSION}{known.id}")

    def lent(self, user: str, scope: AccessScope, how: str) -> Caller:
        """By what was given out to somebody whose account may be gone since."""
        try:
            uid = pwd.getpwnam(user).pw_uid
        except KeyError:
            raise NotAuthenticated(f"there is no account {user} any more") from None
        return Caller(user, scope is AccessScope.OPERATE and self._is_operator(uid, user), scope, how)

    def _is_operator(self, uid: int, user: str) -> bool:
        """The account that runs the grid is one: it could do all of it anyway."""
        return user == SUPERUSER or uid == os.geteuid() or is_among(user, self._in_force.current().portal.operators)


def _number_of_proxy(name: str) -> int | None:
    """Of the account, which is nobody's else: whoever has it can be anybody."""
    if not name:
        return None
    try:
        number = pwd.getpwnam(name).pw_uid
    except KeyError:
        raise ConfigError(f"portal.proxy: there is no account {name} on this host") from None
    if number in (0, os.geteuid()):
        raise ConfigError(
            f"portal.proxy: {name} runs other things than a reverse proxy; give that an account of its own"
        )
    return number


def _require_no_form(headers: Headers) -> None:
    """Raise Forbidden for a body of a type that a page of anybody can have a browser send."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    if kind in FORM_TYPES or (has_body and not kind):
        raise Forbidden(f"this could be a form of a foreign page ({kind or 'no type'}): send Content-Type: {JSON_TYPE}")


def _scheme(authorization: str) -> str:
    return authorization.partition(" ")[0].lower()
