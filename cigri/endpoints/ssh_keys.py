"""SSH keys are registered by whom the kernel or a trusted proxy knows, listed, and removed."""

from typing import TYPE_CHECKING

from cigri.api_models.ssh_keys import SshKeyView
from cigri.endpoints import Access, change_endpoint, read_endpoint
from cigri.endpoints.paging import FORWARDS, USUAL_ROWS, PageLimit, require_limit
from cigri.endpoints.parameters import about
from cigri.errors import Forbidden, NotFound
from cigri.identity.callers import SUPERUSER, AccessScope, Caller, require_asked_for, require_may_create_token

if TYPE_CHECKING:
    from sqlalchemy import Connection

WHAT = "SSH keys"


@change_endpoint("/ssh-keys", Access.EVERYBODY, AccessScope.READ)
def add_key(
    conn: "Connection", caller: Caller, *, public_key: str, user: str = "", for_root: bool = False
) -> SshKeyView:
    """Register a public SSH key of yours: who signs with it may have tokens of yours. Operators do so for others."""
    from cigri.flow.ssh_keys import put_key
    from cigri.ssh_keys.public_keys import read_public_key

    require_may_create_token(caller, AccessScope.READ, WHAT, "gridtoken keys add", for_root=for_root or bool(user))
    _require_account(caller, user)
    require_asked_for(user or caller.user, WHAT, for_root=for_root)
    with about("public_key"):
        key = read_public_key(public_key)
    return put_key(conn, user or caller.user, key)


@read_endpoint("/ssh-keys", Access.EVERYBODY, FORWARDS)
def get_keys(conn: "Connection", caller: Caller, *, after: int = 0, limit: PageLimit = USUAL_ROWS) -> list[SshKeyView]:
    """Your SSH keys; operators see those of everybody."""
    from cigri.flow.ssh_keys import list_keys

    require_limit(limit)
    return list_keys(conn, caller, after, limit)


@change_endpoint("/ssh-keys/{key_id}/remove", Access.HOLDER)
def remove_key(conn: "Connection", caller: Caller, *, key_id: int) -> SshKeyView:
    """Let an SSH key, and the tokens that it gave, open nothing any more."""
    from cigri.flow.ssh_keys import end_key

    return end_key(conn, key_id, caller)


def _require_account(caller: Caller, user: str) -> None:
    """Who makes somebody known by a key can be that user: of root only root."""
    import pwd

    if user in ("", caller.user):
        return
    if not caller.owns_all:
        raise Forbidden(f"an SSH key of {user} is registered by {user} or an operator, and you are {caller.user}")
    try:
        is_superuser = pwd.getpwnam(user).pw_uid == 0
    except KeyError:
        raise NotFound(f"there is no account {user!r} on the grid's host") from None
    if is_superuser and caller.user != SUPERUSER:
        raise Forbidden(f"an SSH key of {user} is registered by {SUPERUSER} only, and you are {caller.user}")
