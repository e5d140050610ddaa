"""The strip of a campaign's tasks: the worst state in each stretch of them.
Read by: users.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Table, bindparam, case, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.sql.selectable import Select

from cigri.api_models.campaigns import MOST_CELLS, TaskStripCell
from cigri.database.typed_rows import read_all
from cigri.states import TaskState
from cigri.tables.tasks import Task, TaskHistory

WORST_FIRST = (
    *(TaskState.FAILED, TaskState.CANCELLED, TaskState.BLOCKED, TaskState.WAITING, TaskState.ASSIGNED, TaskState.DONE),
)


class _Columns(NamedTuple):
    """Of all cells, in their order; the worst by its place in WORST_FIRST."""

    first: list[int]
    last: list[int]
    worst: list[int]


def list_cells(conn: Connection, campaign_id: int, total: int) -> list[TaskStripCell]:
    """A campaign's `total` tasks in cells of the same number of tasks, but for the last one, archived or not.

    Each task is looked at once: a million take a quarter of a second.
    """
    asked = {"campaign_id": campaign_id, "width": max(1, -(-total // MOST_CELLS))}
    for table in (Task, TaskHistory):
        for row in read_all(conn, _Columns, _cells(table), asked):
            worst = map(WORST_FIRST.__getitem__, row.worst)
            return list(map(TaskStripCell, row.first, row.last, worst))
    return []


@cache
def _cells(table: Table[Any]) -> Select[*tuple[Any, ...]]:
    """All in one row, or none: a thousand rows would take longer on their way than to be found."""
    number, cell = table.c.number, table.c.number // bindparam("width", type_=BigInteger)
    badness = case({state: place for place, state in enumerate(WORST_FIRST)}, value=table.c.state)
    cells = (
        select(func.min(number).label("first"), func.max(number).label("last"), func.min(badness).label("worst"))
        .where(table.c.campaign_id == bindparam("campaign_id"))
        .group_by(cell)
        .subquery()
    )
    columns = (func.array_agg(aggregate_order_by(column, cells.c.first)).label(column.name) for column in cells.c)
    return select(*columns).having(func.count() > 0)
