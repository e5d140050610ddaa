"""Accounts that are more than one person's own: only root lets the jobs of others run as one of them."""

import os
import pwd
from collections.abc import Collection

from cigri.errors import Forbidden
from cigri.identity.callers import SUPERUSER, Caller


def require_may_map_to(caller: Caller, account: str, gateway_accounts: Collection[str], min_uid: int) -> None:
    """Raise Forbidden for an account that is special, unless root asks or it is the caller's own.

    An operator would be root, or the grid itself with its keys and its database, by a job of their own.
    """
    if caller.user == SUPERUSER or (account == caller.user != ""):
        return
    if why := _why_special(account, gateway_accounts, min_uid):
        raise Forbidden(f"only root lets jobs run as {account}, which is {why}; you are {caller.user}")


def _why_special(account: str, gateway_accounts: Collection[str], min_uid: int) -> str:
    """Empty: it is like others, or not known on this host. Two names of one number are one account."""
    if account == SUPERUSER:
        return "the superuser"
    if account in gateway_accounts:
        return "a gateway account, which reaches those of all users"
    try:
        uid = pwd.getpwnam(account).pw_uid
    except KeyError:
        return ""
    if uid == os.geteuid():
        return "the grid's own account"
    return f"a system account (its number {uid} is below portal.min_mapped_uid, {min_uid})" if uid < min_uid else ""
