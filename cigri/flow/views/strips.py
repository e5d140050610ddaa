"""The strip of a campaign's tasks: how many are in each state in each stretch of them.
Read by: users.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Table, bindparam, func, select
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
    """Tasks of one state in one cell, cell by cell."""

    cell: list[int]
    first: list[int]
    last: list[int]
    state: list[TaskState]
    number: list[int]


def list_cells(conn: Connection, campaign_id: int, first: int, last: int) -> list[TaskStripCell]:
    """A campaign's tasks from `first` to `last` in cells of the same number of tasks, but for the last one.

    The campaign may be archived. Each task is looked at once: a million take half a second.
    """
    asked = {
        "campaign_id": campaign_id,
        "first": first,
        "last": last,
        "width": max(1, -(-(last - first + 1) // MOST_CELLS)),
    }
    for table in (Task, TaskHistory):
        for row in read_all(conn, _Columns, _cells(table), asked):
            return _gather(row)
    return []


def _gather(row: _Columns) -> list[TaskStripCell]:
    cells: dict[int, TaskStripCell] = {}
    for cell, first, last, state, number in zip(*row, strict=True):
        known = cells.get(cell, TaskStripCell(first, last, state, {}))
        worst = min(known.worst, state, key=WORST_FIRST.index)
        counts = {**known.counts, state: number}
        cells[cell] = TaskStripCell(min(first, known.first), max(last, known.last), worst, counts)
    return list(cells.values())


@cache
def _cells(table: Table[Any]) -> Select[*tuple[Any, ...]]:
    """All in one row, or none: thousands of rows would take longer on their way than to be found."""
    number, state = table.c.number, table.c.state
    begin, end, width = (bindparam(name, type_=BigInteger) for name in ("first", "last", "width"))
    cell = (number - begin) // width
    cells = (
        select(
            cell.label("cell"),
            func.min(number).label("first"),
            func.max(number).label("last"),
            state,
            func.count().label("number"),
        )
        .where(table.c.campaign_id == bindparam("campaign_id"), number.between(begin, end))
        .group_by(cell, state)
        .subquery()
    )
    order = cells.c.cell, cells.c.state
    columns = (func.array_agg(aggregate_order_by(column, *order)).label(column.name) for column in cells.c)
    return select(*columns).having(func.count() > 0)
