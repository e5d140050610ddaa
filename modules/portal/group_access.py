"""Members of an owner's group, as this host's accounts say it, where the site lets them see or change campaigns."""

import os
import pwd
import time

from cigri.database import Database
from cigri.flow.views.ownership import list_owners
from cigri.identity.callers import SUPERUSER, Caller
from modules.portal.settings_in_force import SettingsInForce

KEPT_GROUPS = 60.0  # seconds until the accounts are asked again


class GroupAccess:
    """Adds to callers whose campaigns they may see or change, as portal.group_may says."""

    def __init__(self, in_force: SettingsInForce, database: Database) -> None:
        self._in_force, self._database = in_force, database
        self._known: dict[str, tuple[float, frozenset[str]]] = {}

    def with_group_access(self, caller: Caller) -> Caller:
        """Root's group is nobody's, and whoever owns all campaigns needs none."""
        may = self._in_force.current().portal.group_may
        if may == "nothing" or caller.owns_all:
            return caller
        mates = self._of(caller.user)
        return caller._replace(sees_of=mates, changes_of=mates if may == "change" else frozenset())

    def _of(self, user: str) -> frozenset[str]:
        at, mates = self._known.get(user, (0.0, frozenset[str]()))
        if not at or time.monotonic() - at > KEPT_GROUPS:
            with self._database.read() as conn:
                owners = list_owners(conn)
            groups = _groups_of(user)
            others = [owner for owner in owners if owner not in (user, SUPERUSER)]
            mates = frozenset(owner for owner in others if _own_group(owner) in groups)
            self._known[user] = time.monotonic(), mates
        return mates


def _groups_of(user: str) -> frozenset[int]:
    """By number; none of an account that is gone."""
    own = _own_group(user)
    return frozenset() if own is None else frozenset(os.getgrouplist(user, own))


def _own_group(user: str) -> int | None:
    """The one that the account has in /etc/passwd, or what stands for it."""
    try:
        return pwd.getpwnam(user).pw_gid
    except KeyError:
        return None
