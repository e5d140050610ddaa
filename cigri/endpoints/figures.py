"""The grid in figures."""

from typing import TYPE_CHECKING

from cigri.answers.figures import GridFigures
from cigri.endpoints import May, reads
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection


@reads("/figures", May.EVERYBODY)
def figures(conn: "Connection", _caller: Caller) -> GridFigures:
    """Cores, jobs, tasks, ends, modules and events in numbers, as /metrics has them for Prometheus."""
    from cigri.flow.views.figures import find_figures

    return find_figures(conn)
