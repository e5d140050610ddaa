"""Who asks: as the kernel, a token or a trusted proxy says it, never the client."""

from enum import StrEnum
from typing import NamedTuple

SUPERUSER = "root"  # of this host, who owns all campaigns
KERNEL, PROXY = "kernel", "proxy"  # who vouches for an account itself, and not for one of its tokens


class Scope(StrEnum):
    """What may be done by this way of asking; each allows what stands before it, too."""

    READ = "read"
    SUBMIT = "submit"
    OPERATE = "operate"

    def allows(self, wanted: "Scope") -> bool:
        """Is `wanted` this one, or does it stand before it?"""
        order = list(Scope)
        return order.index(wanted) <= order.index(self)


class Caller(NamedTuple):
    """`how` is told in the audit trail: `kernel`, `proxy`, or by which token or session, as `token 12`."""

    user: str
    is_operator: bool = False
    scope: Scope = Scope.OPERATE
    how: str = KERNEL
    sees_of: frozenset[str] = frozenset()
    """Owners whose campaigns this caller sees as they do: of the same group, where the site lets it."""
    changes_of: frozenset[str] = frozenset()
    """Those among them to whose campaigns this caller may do what they may."""

    @property
    def owns_all(self) -> bool:
        """May this caller do to every campaign what its owner may?"""
        return self.user == SUPERUSER or (self.is_operator and self.scope is Scope.OPERATE)

    def owns(self, user: str) -> bool:
        """May this caller do all that the owner `user` of a campaign may?"""
        return self.owns_all or self.user == user or user in self.changes_of

    def sees(self, user: str) -> bool:
        """May this caller see all that the owner `user` of a campaign may?"""
        return self.owns(user) or user in self.sees_of
