"""Whose a campaign is.
Read by: users.
"""

from sqlalchemy import literal, or_
from sqlalchemy.sql.elements import ColumnElement

from cigri.rules.callers import Caller
from cigri.tables.campaigns import Campaign


def is_own(caller: Caller) -> ColumnElement[bool]:
    """May the caller do to the campaign of the statement around this what its owner may?"""
    return or_(Campaign.c.grid_user == caller.user, literal(caller.owns_all))
