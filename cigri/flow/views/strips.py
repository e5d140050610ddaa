"""The strip of a campaign's tasks: the worst state in each stretch of them.
Read by: users.
"""

from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Connection, Table, bindparam, case, func, select
from sqlalchemy.sql.selectable import Select

from cigri.answers.strips import MOST_CELLS, StripCell
from cigri.database.typed_rows import read_all
from cigri.states import TaskState
from cigri.tables.tasks import Task, TaskHistory

WORST_FIRST = (TaskState.FAILED, TaskState.CANCELLED, TaskState.WAITING, TaskState.ASSIGNED, TaskState.DONE)


def list_cells(conn: Connection, campaign_id: int, total: int) -> list[StripCell]:
    """A campaign's `total` tasks in cells of the same number of tasks, but for the last one, archived or not.

    Each task is looked at once: a million take a quarter of a second.
    """
    asked = {"campaign_id": campaign_id, "width": max(1, -(-total // MOST_CELLS))}
    for table in (Task, TaskHistory):
        cells = read_all(conn, StripCell, _cells(table), asked, worst=lambda row: WORST_FIRST[row.worst])
        if cells:
            return cells
    return []


@cache
def _cells(table: Table[Any]) -> Select[*tuple[Any, ...]]:
    number, cell = table.c.number, table.c.number // bindparam("width", type_=BigInteger)
    badness = case({state: place for place, state in enumerate(WORST_FIRST)}, value=table.c.state)
    return (
        select(func.min(number).label("first"), func.max(number).label("last"), func.min(badness).label("worst"))
        .where(table.c.campaign_id == bindparam("campaign_id"))
        .group_by(cell)
        .order_by(cell)
    )
