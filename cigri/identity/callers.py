"""Who asks: as the kernel, a token or a trusted proxy says it, never the client."""

from enum import StrEnum
from typing import NamedTuple

from cigri.errors import Forbidden, UsageError

SUPERUSER = "root"  # of this host, who owns all campaigns
KERNEL, PROXY = "kernel", "proxy"  # who vouches for an account itself, and not for one of its tokens


class AccessScope(StrEnum):
    """What may be done by this way of asking; each allows what stands before it, too."""

    READ = "read"
    SUBMIT = "submit"
    OPERATE = "operate"

    def allows(self, wanted: "AccessScope") -> bool:
        """Is `wanted` this one, or does it stand before it?"""
        order = list(AccessScope)
        return order.index(wanted) <= order.index(self)


class Caller(NamedTuple):
    """`how` is told in the audit trail: `kernel`, `proxy`, or by which token or session, as `token 12`."""

    user: str
    is_operator: bool = False
    scope: AccessScope = AccessScope.OPERATE
    how: str = KERNEL
    sees_of: frozenset[str] = frozenset()
    """Owners whose campaigns this caller sees as they do: of the same group, where the site lets it."""
    changes_of: frozenset[str] = frozenset()
    """Those among them to whose campaigns this caller may do what they may."""

    @property
    def owns_all(self) -> bool:
        """May this caller do to every campaign what its owner may?"""
        return self.user == SUPERUSER or (self.is_operator and self.scope is AccessScope.OPERATE)

    def owns(self, user: str) -> bool:
        """May this caller do all that the owner `user` of a campaign may?"""
        return self.owns_all or self.user == user or user in self.changes_of

    def sees(self, user: str) -> bool:
        """May this caller see all that the owner `user` of a campaign may?"""
        return self.owns(user) or user in self.sees_of


# Who may make what makes others believe who they are: tokens, links for browsers, and SSH keys that give tokens.


def require_may_create_token(caller: Caller, scope: AccessScope, what: str, command: str, *, for_root: bool) -> None:
    """A token or a session that makes others would outlive its own revocation."""
    if caller.how not in (KERNEL, PROXY):
        raise Forbidden(f"a token makes no {what}, and this is {caller.how}; run `{command}` on the grid's host")
    require_operating(caller, scope, what)
    require_asked_for(caller.user, what, for_root=for_root)


def require_operating(caller: Caller, scope: AccessScope, what: str) -> None:
    """Raise Forbidden for those of operators whom nobody has made one."""
    if scope is AccessScope.OPERATE and not caller.is_operator:
        raise Forbidden(f"{what} of scope operate are for operators only, and you are {caller.user}")


def require_asked_for(user: str, what: str, *, for_root: bool) -> None:
    """Raise UsageError for those of root that nobody has asked for by this word."""
    if user == SUPERUSER and not for_root:
        raise UsageError(
            f"{what} of root may do to every campaign what its owner may: make them for an account of yours, "
            "or say --root (in the API: for_root)"
        )
