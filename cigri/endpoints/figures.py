"""The grid in figures."""

from typing import TYPE_CHECKING

from cigri.answers.figures import AccountedWork, GridFigures
from cigri.endpoints import May, reads
from cigri.errors import UsageError
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_DAYS = 10_000


@reads("/figures", May.EVERYBODY)
def figures(conn: "Connection", _caller: Caller) -> GridFigures:
    """Cores, jobs, tasks, ends, modules and events in numbers, as /metrics has them for Prometheus."""
    from cigri.flow.views.figures import find_figures

    return find_figures(conn)


@reads("/accounting", May.EVERYBODY)
def accounting(conn: "Connection", _caller: Caller, *, days: int = 30, user: str = "") -> list[AccountedWork]:
    """What jobs that ended used in the last days (of UTC): those of everybody, or of one, by project and cluster."""
    from cigri.flow.accounting import list_accounted

    if not 0 < days <= MOST_DAYS:
        raise UsageError(f"days {days}: a number above 0, {MOST_DAYS} at most")
    return list_accounted(conn, days, user)
