"""Whose a campaign is.
Read by: portal, users.
"""

from sqlalchemy import Connection, literal, or_, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.identity.callers import Caller
from cigri.tables.campaigns import Campaign


def is_own(caller: Caller) -> ColumnElement[bool]:
    """May the caller do to the campaign of the statement around this what its owner may?"""
    return or_(Campaign.c.grid_user.in_([caller.user, *sorted(caller.changes_of)]), literal(caller.owns_all))


def is_seen(caller: Caller) -> ColumnElement[bool]:
    """May the caller see of the campaign of the statement around this what its owner may?"""
    return or_(Campaign.c.grid_user.in_([caller.user, *sorted(caller.sees_of)]), literal(caller.owns_all))


def list_owners(conn: Connection) -> list[str]:
    """Of all campaigns there ever were."""
    return list(conn.scalars(select(Campaign.c.grid_user).distinct()))
