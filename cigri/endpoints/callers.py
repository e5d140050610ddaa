"""Who the caller is, as the portal sees it."""

from typing import TYPE_CHECKING

from cigri.api_models.identity import CallerView
from cigri.endpoints import May, reads
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@reads("/whoami", May.EVERYBODY)
def whoami(_conn: "Connection", caller: Caller) -> CallerView:
    """By which name you are known, how that is known, and what you may do."""
    return CallerView(caller.user, caller.is_operator, caller.scope, caller.how)
