"""How many tasks stand in a page that is not to become too large: their parameters are as long as their owners like.
Read by: users.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, Connection, Label, Select, Text, bindparam, cast, func, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.formats.units import MEGABYTE
from cigri.tables.tasks import Task, TaskHistory

LARGEST_PAGE = 4 * MEGABYTE  # bytes of parameters; the one that goes beyond is in the page


def count_fitting(conn: Connection, campaign_id: int, first: int, limit: int) -> int:
    """Of the tasks from the number `first` on; at least 1, and `limit` where all fit that there are."""
    for kept in (Task, TaskHistory):
        sized = (
            select(kept.c.number, _before(kept.c.parameter, kept.c.number))
            .where(kept.c.campaign_id == campaign_id, kept.c.number.between(first, first + limit - 1))
            .subquery()
        )
        if (beyond := conn.scalar(select(func.min(sized.c.number)).where(sized.c.before >= LARGEST_PAGE))) is not None:
            return int(beyond) - first
    return limit


def count_leading(
    conn: Connection, chosen: Select[*tuple[Any, ...]], parameter: ColumnElement[object], *order: ColumnElement[Any]
) -> int:
    """Of the rows that are chosen, in this order; at least 1 where there is any."""
    return count_in_page(conn, leading(chosen, parameter, *order))


def count_in_page(conn: Connection, leading: Select[int], asked: Mapping[str, object] | None = None) -> int:
    """As `count_leading`, by a statement that `leading` has built, with the parameters of its own."""
    return conn.execute(leading, {**(asked or {}), "largest": LARGEST_PAGE}).scalar_one()


def leading(
    chosen: Select[*tuple[Any, ...]], parameter: ColumnElement[object], *order: ColumnElement[Any]
) -> Select[int]:
    """Build the statement of `count_leading`."""
    sized = chosen.with_only_columns(_before(parameter, *order)).subquery()
    return select(func.count()).where(sized.c.before < bindparam("largest", type_=BigInteger))


def _before(parameter: ColumnElement[object], *order: ColumnElement[Any]) -> Label[int]:
    """In each row, how large the parameters of those rows are that come before it."""
    size = func.coalesce(func.octet_length(cast(parameter, Text)), 0)
    return (func.sum(size).over(order_by=order) - size).label("before")
