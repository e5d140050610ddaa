"""Who may make what makes others believe who they are: tokens, links for browsers, and SSH keys that give tokens."""

from cigri.errors import Forbidden, UsageError
from cigri.identity.callers import KERNEL, PROXY, SUPERUSER, Caller, Scope


def require_minting(caller: Caller, scope: Scope, what: str, command: str, *, for_root: bool) -> None:
    """A token or a session that makes others would outlive its own revocation."""
    if caller.how not in (KERNEL, PROXY):
        raise Forbidden(f"a token makes no {what}, and this is {caller.how}; run `{command}` on the grid's host")
    require_operating(caller, scope, what)
    require_asked_for(caller.user, what, for_root=for_root)


def require_operating(caller: Caller, scope: Scope, what: str) -> None:
    """Raise Forbidden for those of operators whom nobody has made one."""
    if scope is Scope.OPERATE and not caller.is_operator:
        raise Forbidden(f"{what} of scope operate are for operators only, and you are {caller.user}")


def require_asked_for(user: str, what: str, *, for_root: bool) -> None:
    """Raise UsageError for those of root that nobody has asked for by this word."""
    if user == SUPERUSER and not for_root:
        raise UsageError(
            f"{what} of root may do to every campaign what its owner may: make them for an account of yours, "
            "or say --root (in the API: for_root)"
        )
